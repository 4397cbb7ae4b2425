/**
 * Writes config/gateway-api: the definitions of the Gateway API's kinds that the tests and the platform on one machine install,
 * from the Go module that the project publishes (Apache-2.0, its LICENSE beside them). `node hack/gateway-api.ts`, after a change
 * of VERSION. Needs Go.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { resolveBinary, thisMachine } from '../pkg/local/binaries/resolve.ts';

const ROOT = join(import.meta.dirname, '..');
const OUTPUT = join(ROOT, 'config/gateway-api');
const MODULE = 'sigs.k8s.io/gateway-api';
const VERSION = 'v1.6.3';
const KINDS = ['gatewayclasses', 'gateways', 'httproutes'];
/** The version that pkg/kube/gateway-api.ts speaks. */
const SERVED = 'v1';

interface Definition {
  spec: { versions: { name: string }[] };
}

const module = await download();
mkdirSync(OUTPUT, { recursive: true });
for (const kind of KINDS) {
  const source = `config/crd/standard/gateway.networking.k8s.io_${kind}.yaml`;
  const definition = parse(readFileSync(join(module, source), 'utf8')) as Definition;
  definition.spec.versions = definition.spec.versions.filter(({ name }) => name === SERVED);
  const header = [
    `Made by hack/gateway-api.ts of ${source} in ${MODULE} ${VERSION}, © The Kubernetes Authors, Apache License 2.0 (LICENSE).`,
    'Changed: without descriptions, and without versions that are superseded.',
  ];
  const text = stringify(withoutDescriptions(definition, false), { lineWidth: 0 });
  writeFileSync(join(OUTPUT, `${kind}.yaml`), `${header.map((line) => `# ${line}\n`).join('')}${text}`);
}
writeFileSync(join(OUTPUT, 'LICENSE'), readFileSync(join(module, 'LICENSE')));

/** The folder of the module, whose checksum Go compares with the public database. */
async function download(): Promise<string> {
  const go = await resolveBinary('go', thisMachine(ROOT));
  const folder = mkdtempSync(join(tmpdir(), 'carrel-gateway-api-'));
  try {
    const output = execFileSync(go, ['mod', 'download', '-json', `${MODULE}@${VERSION}`], { cwd: folder, encoding: 'utf8' });
    return (JSON.parse(output) as { Dir: string }).Dir;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Below `properties`, `description` is a field's name. */
function withoutDescriptions(value: unknown, areProperties: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutDescriptions(item, false));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => areProperties || name !== 'description');
  return Object.fromEntries(
    fields.map(([name, inner]) => [name, withoutDescriptions(inner, name === 'properties' && !areProperties)]),
  );
}
