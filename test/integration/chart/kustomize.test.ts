import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { CHART } from '../../../hack/helm.ts';
import { staleFiles } from '../../../hack/kustomize.ts';
import { resolveBinary, thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { run } from '../../../pkg/local/binaries/run.ts';
import { ROOT } from '../../support/backends/backends.ts';
import { type ChartObject, objectsIn, Rendered, renderText } from '../../support/cluster/chart.ts';

const build = (folder: string): Promise<ChartObject[]> => buildFolder(join(ROOT, 'config', folder));

async function buildFolder(path: string): Promise<ChartObject[]> {
  const { code, stdout, output } = await run(await resolveBinary('kubectl', thisMachine(ROOT)), ['kustomize', path]);
  if (code !== 0) throw new Error(output);
  return objectsIn(stdout);
}

/** Without what says by which tool the object came. */
function plain(objects: readonly ChartObject[]): Record<string, unknown> {
  const entries = objects.map(({ metadata, ...object }): [string, unknown] => {
    const { labels = {}, annotations, ...rest } = metadata;
    const { 'app.kubernetes.io/managed-by': _tool, 'helm.sh/chart': _chart, ...others } = labels;
    const name = `${object.kind}/${metadata.name}`;
    // The custom resources are those of crds/: the chart adds labels, and that they stay.
    if (object.kind === 'CustomResourceDefinition') return [name, { ...object, metadata: { ...rest } }];
    return [name, { ...object, metadata: { ...rest, labels: others, ...(annotations ? { annotations } : {}) } }];
  });
  return Object.fromEntries(entries.toSorted(([a], [b]) => a.localeCompare(b)));
}

test('kustomize installs the objects of the chart and the namespace, and nothing else', async () => {
  const values = parse(readFileSync(join(ROOT, 'config/values.yaml'), 'utf8')) as object;
  const ofChart = plain(objectsIn(await renderText({ ...values, crds: { install: true } })));
  const built = [...(await build('default')), ...(await build('monitoring')), ...(await build('dependencies'))];
  const { 'Namespace/carrel-system': namespace, ...ofKustomize } = plain(built);

  expect(ofKustomize).toEqual(ofChart);
  expect(Object.keys(ofKustomize)).toHaveLength(built.length - 1);
  expect(namespace).toMatchObject({ metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } });
});

test('the overlay of docs/operate/install.md sets image and addresses, each once', async () => {
  const page = readFileSync(join(ROOT, 'docs/operate/install.md'), 'utf8');
  const [, overlay = ''] = /<!-- overlay -->\s*```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'carrel-overlay-'));
  await writeFile(join(folder, 'kustomization.yaml'), overlay.replace('../carrel', relative(await realpath(folder), ROOT)));
  const rendered = new Rendered(await buildFolder(folder));
  const env = rendered.deployment('carrel-operator').spec.template.spec?.containers[0]?.env?.map(({ name }) => name) ?? [];

  expect(rendered.environment('carrel-operator')).toMatchObject({
    CARREL_IMAGE: 'registry.example/carrel:0.1.0',
    CARREL_REDIS_ADDRESS: 'redis.stores:6379',
    CARREL_BASE_DOMAIN: 'files.example.org',
  });
  expect(env).toHaveLength(new Set(env).size);
  expect(rendered.deployment('carrel-worker').spec.template.spec?.containers[0]?.image).toBe('registry.example/carrel:0.1.0');
});

test('config/ is as the chart renders it (else: node hack/kustomize.ts)', async () => {
  expect(await staleFiles()).toEqual([]);
});

test('every folder of config/ with a Kustomization can be built', async () => {
  const folders = readdirSync(join(ROOT, 'config'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('Kustomization'))
    .map((file) => file.replace(/\/Kustomization$/, ''));

  for (const folder of folders) expect((await build(folder)).length).toBeGreaterThan(0);
});

test('the values of the Application for Argo CD render', async () => {
  const { spec } = parse(readFileSync(join(ROOT, 'config/argocd/application.yaml'), 'utf8')) as {
    spec: { source: { path: string; helm: { valuesObject: object } } };
  };
  const rendered = new Rendered(objectsIn(await renderText(spec.source.helm.valuesObject)));

  expect(join(ROOT, spec.source.path)).toBe(CHART);
  expect(rendered.environment('carrel-operator')).toMatchObject({ CARREL_BASE_DOMAIN: 'files.example.org' });
});
