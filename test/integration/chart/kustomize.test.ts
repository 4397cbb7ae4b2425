import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { staleFiles } from '../../../hack/kustomize.ts';
import { resolveBinary, thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { run } from '../../../pkg/local/binaries/run.ts';
import { ROOT } from '../../support/backends.ts';
import { type ChartObject, objectsIn, renderText } from '../../support/chart.ts';

async function build(folder: string): Promise<ChartObject[]> {
  const { code, stdout, output } = await run(await resolveBinary('kubectl', thisMachine(ROOT)), [
    'kustomize',
    join(ROOT, 'config', folder),
  ]);
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

test('config/ is as the chart renders it (else: node hack/kustomize.ts)', async () => {
  expect(await staleFiles()).toEqual([]);
});

test('every folder of config/ with a Kustomization can be built', async () => {
  const folders = readdirSync(join(ROOT, 'config'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('Kustomization'))
    .map((file) => file.replace(/\/Kustomization$/, ''));

  for (const folder of folders) expect((await build(folder)).length).toBeGreaterThan(0);
});
