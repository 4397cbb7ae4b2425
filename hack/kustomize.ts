/**
 * Writes the objects of config/rbac, config/manager, config/monitoring and config/dependencies as the chart renders them with
 * config/values.yaml: `node hack/kustomize.ts`. What is installed by kustomize is thus what is installed by the chart.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CHART, helm } from './helm.ts';

const CONFIG = join(dirname(import.meta.dirname), 'config');
const HEAD = '# Made by `node hack/kustomize.ts` from charts/carrel; do not edit.\n';

/** The file of config/ for a template of the chart. */
function fileOf(template: string): string {
  const [folder = '', name = ''] = template.split('/');
  const ofRights: Readonly<Record<string, string>> = {
    'operator/serviceaccount.yaml': 'rbac/serviceaccount.yaml',
    'operator/role.yaml': 'rbac/role.yaml',
    'operator/rolebinding.yaml': 'rbac/binding.yaml',
  };
  return ofRights[template] ?? (folder === 'operator' || folder === 'worker' ? `manager/${folder}.yaml` : `${folder}/${name}`);
}

/** The lines that only Helm's own objects have. */
const HELMS = /^ +(app\.kubernetes\.io\/managed-by: Helm|helm\.sh\/chart: .*)\n/gm;

/** The text of each file by its path below config/. Throws with Helm's message. */
export async function renderedFiles(): Promise<Map<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-helm-'));
  const values = join(CONFIG, 'values.yaml');
  const { code, stdout, output } = await helm(['template', 'carrel', CHART, '--namespace', 'carrel-system', '--values', values], {
    folder,
  });
  rmSync(folder, { recursive: true, force: true });
  if (code !== 0) throw new Error(`helm template: ${output}`);
  const files = new Map<string, string>();
  for (const [, template = '', text = ''] of stdout.matchAll(
    /^---\n# Source: carrel\/templates\/(.+)\n([\s\S]*?)(?=^---\n# Source: |$(?![\s\S]))/gm,
  )) {
    const file = fileOf(template);
    const object = text.replaceAll(HELMS, '').trim();
    if (object !== '') files.set(file, `${files.get(file) ?? HEAD}---\n${object}\n`);
  }
  return files;
}

/** Files of config/ that are not as the chart renders them. */
export async function staleFiles(): Promise<string[]> {
  const files = await renderedFiles();
  return [...files].flatMap(([file, text]) => (readIfThere(join(CONFIG, file)) === text ? [] : [`config/${file}`]));
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  for (const [file, text] of await renderedFiles()) writeFileSync(join(CONFIG, file), text);
}
