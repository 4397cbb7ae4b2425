import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { CHART, type HelmVersion } from '../../../hack/helm.ts';
import { resolveBinary, thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { run } from '../../../pkg/local/binaries/run.ts';
import { type ApiServer, startApiServer } from '../../support/cluster/apiserver.ts';
import { ROOT } from '../../support/backends/backends.ts';
import { type ChartObject, LEAST, MOST, Rendered, renderText, runHelm } from '../../support/cluster/chart.ts';
import { writeSchemas } from '../../support/cluster/kube-schemas.ts';
import { waitFor } from '../../support/wait.ts';

/** The chart on a real API server of its own: what Helm does to a cluster, without controllers and nodes. */
let api: ApiServer;
let kubeconfig: string;
beforeAll(async () => {
  api = await startApiServer();
  kubeconfig = join(api.dir, 'kubeconfig');
  writeFileSync(kubeconfig, api.kubeConfig.exportConfig());
});
afterAll(() => api.close());

/** Helm on the release `carrel` of a namespace; its output, which must not be an error. */
async function onRelease(args: readonly string[], values?: object, version: HelmVersion = 'helm'): Promise<string> {
  const { code, output } = await runHelm([...args, '--namespace', 'carrel-system'], {
    kubeconfig,
    version,
    ...(values ? { values } : {}),
  });
  if (code !== 0) throw new Error(output);
  return output;
}

async function kubectl(...args: string[]): Promise<string> {
  const { code, stdout, output } = await run(await resolveBinary('kubectl', thisMachine(ROOT)), [
    '--kubeconfig',
    kubeconfig,
    ...args,
  ]);
  if (code !== 0) throw new Error(output);
  return stdout;
}

/** `<kind>/<name>` of what the release has in the cluster. */
async function installed(): Promise<string[]> {
  const kinds =
    'deployments,poddisruptionbudgets,networkpolicies,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,crds';
  const names = await kubectl('get', kinds, '--all-namespaces', '--selector', 'app.kubernetes.io/instance=carrel', '-o', 'name');
  return names
    .split('\n')
    .filter((name) => name !== '')
    .toSorted();
}

/** The fields of Chart.yaml and of a custom resource that the tests read. */
interface Content {
  version: string;
  spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, unknown> } } } } }[] };
}

/** Makes a chart like an earlier version: a custom resource lacks a field, and the worker has no disruption budget. */
function previousVersion(): string {
  const folder = join(api.dir, 'previous');
  cpSync(CHART, folder, { recursive: true });
  const rewrite = (file: string, change: (content: Content) => void): void => {
    const content = parse(readFileSync(join(folder, file), 'utf8')) as Content;
    change(content);
    writeFileSync(join(folder, file), stringify(content));
  };
  rewrite('Chart.yaml', (chart) => (chart.version = '0.0.9'));
  rewrite('files/crds/tenants.carrel.dev.yaml', ({ spec }) => {
    for (const { schema } of spec.versions) delete schema.openAPIV3Schema.properties.spec.properties['suspended'];
  });
  writeFileSync(join(folder, 'templates/worker/pdb.yaml'), '');
  return folder;
}

const knowsSuspended = async (): Promise<boolean> =>
  (await kubectl(
    'get',
    'crd',
    'tenants.carrel.dev',
    '-o',
    'jsonpath={.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.suspended.type}',
  )) === 'boolean';

test('the lines of docs/operate/install.md install the chart for a try', async () => {
  const page = readFileSync(join(ROOT, 'docs/operate/install.md'), 'utf8');
  const [, lines = ''] = /<!-- try -->\s*```sh\n([\s\S]*?)```\s*<!-- \/try -->/.exec(page) ?? [];
  const programs = join(api.dir, 'bin');
  mkdirSync(programs);
  for (const name of ['helm', 'kubectl'] as const)
    symlinkSync(await resolveBinary(name, thisMachine(ROOT)), join(programs, name));

  const { code, output } = await run('bash', ['-eu', '-c', lines], {
    cwd: ROOT,
    env: { PATH: `${programs}:${process.env['PATH']}`, HOME: api.dir, KUBECONFIG: kubeconfig },
  });

  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('FOR A TRY ONLY') });
  await expectSecretsOf('carrel-system');
  await onRelease(['uninstall', 'carrel']);
  // The API server cleans up a custom resource only after it has begun to serve it.
  await kubectl('wait', '--for=condition=Established', '--timeout=60s', 'crds', '--all');
  await kubectl('delete', '--wait=false', 'crds', '--all');
  await waitFor('the deletion of the custom resources', async () => {
    const left = await kubectl('get', 'crds', '-o', 'name');
    // A clean-up that failed under load comes again after a wait that doubles; a change has it come again at once.
    if (left !== '')
      await kubectl('annotate', '--overwrite', 'crds', '--all', `test.example/asked-at=${Date.now()}`).catch(() => undefined);
    return left === '';
  });
});

/** Every Secret that a pod of the namespace names is there, with the key. */
async function expectSecretsOf(namespace: string): Promise<void> {
  const read = async (kinds: string) =>
    JSON.parse(await kubectl('get', kinds, '--namespace', namespace, '-o', 'json')) as { items: ChartObject[] };
  const secrets = (await read('secrets')).items as (ChartObject & { data: Record<string, string> })[];
  const present = secrets.flatMap(({ metadata, data }) => Object.keys(data).map((key) => `${metadata.name}/${key}`));
  const rendered = new Rendered((await read('deployments,statefulsets')).items);
  const named = rendered.workloads.flatMap(({ spec: { template } }) => [
    ...(template.spec?.containers ?? []).flatMap(({ env = [] }) =>
      env.flatMap(({ valueFrom }) =>
        valueFrom?.secretKeyRef ? [`${valueFrom.secretKeyRef.name}/${valueFrom.secretKeyRef.key}`] : [],
      ),
    ),
    ...(template.spec?.volumes ?? []).flatMap(({ secret }) =>
      (secret?.items ?? []).map(({ key }) => `${secret?.secretName}/${key}`),
    ),
  ]);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !present.includes(name))).toEqual([]);
}

test.each<[install: HelmVersion, upgrade: HelmVersion]>([
  ['helm', 'helm'],
  ['helm3', 'helm3'],
  ['helm3', 'helm'],
])(
  'a release that %s installed is upgraded by %s with its custom resources, rolled back and uninstalled, and the tenants stay',
  async (first, then) => {
    const previous = previousVersion();

    await onRelease(['install', 'carrel', previous, '--create-namespace'], LEAST, first);
    const before = await installed();
    expect(before).toContain('deployment.apps/carrel-operator');
    expect(before).not.toContain('poddisruptionbudget.policy/carrel-worker');
    expect(await knowsSuspended()).toBe(false);
    writeFileSync(
      join(api.dir, 'tenant.yaml'),
      'apiVersion: carrel.dev/v1alpha1\nkind: Tenant\nmetadata: { name: biology, namespace: default }\n',
    );
    await kubectl('wait', '--for=condition=Established', '--timeout=30s', 'crd/tenants.carrel.dev');
    await kubectl('apply', '-f', join(api.dir, 'tenant.yaml'));

    const notes = await onRelease(['upgrade', 'carrel', CHART], LEAST, then);
    expect(notes).toContain('tenants.baseDomain is not set: every Tenant must name its hosts');
    expect(notes).toContain('networkPolicy.ingressControllers is empty: every pod of the cluster reaches the tenants');
    expect(await installed()).toEqual([...before, 'poddisruptionbudget.policy/carrel-worker'].toSorted());
    expect(await knowsSuspended()).toBe(true);

    await onRelease(['rollback', 'carrel', '1'], undefined, then);
    expect(await installed()).toEqual(before);
    expect(await knowsSuspended()).toBe(false);

    await onRelease(['uninstall', 'carrel'], undefined, then);
    expect(await installed()).toEqual(before.filter((name) => name.startsWith('customresourcedefinition')));
    expect(await kubectl('get', 'tenants', '--namespace', 'default', '-o', 'name')).toBe('tenant.carrel.dev/biology\n');
  },
);

test('a release takes over the custom resources that an earlier one left', async () => {
  await onRelease(['install', 'carrel', CHART, '--create-namespace'], LEAST);

  expect(await knowsSuspended()).toBe(true);
});

test.each<HelmVersion>(['helm', 'helm3'])(
  'an upgrade by %s that the API server refuses half-way is reported, and goes on or back',
  async (version) => {
    await onRelease(['upgrade', 'carrel', CHART], LEAST, version);
    // The schema of values leaves quantities to the API server.
    const refused = { ...LEAST, worker: { replicas: 4, resources: { requests: { cpu: 'much' } } } };
    const replicas = () =>
      kubectl('get', 'deployment', 'carrel-worker', '--namespace', 'carrel-system', '-o', 'jsonpath={.spec.replicas}');

    await expect(onRelease(['upgrade', 'carrel', CHART], refused, version)).rejects.toThrow(/quantit/);
    await onRelease(['rollback', 'carrel'], undefined, version);
    expect(await replicas()).toBe('2');

    await expect(onRelease(['upgrade', 'carrel', CHART], refused, version)).rejects.toThrow(/quantit/);
    await onRelease(['upgrade', 'carrel', CHART], { ...LEAST, worker: { replicas: 4 } }, version);
    expect(await replicas()).toBe('4');
  },
);

test('every object of every kind of values is valid by the schemas of the API server, strictly', async () => {
  const schemas = join(api.dir, 'schemas');
  await writeSchemas(api, schemas);
  const manifests = join(api.dir, 'manifests');
  mkdirSync(manifests);
  const matrix: Record<string, object> = {
    least: LEAST,
    most: MOST,
    podMonitors: { ...LEAST, monitoring: { podMonitor: { enabled: true } } },
    bare: {
      ...LEAST,
      crds: { install: false },
      rbac: { create: false },
      networkPolicy: { enabled: false },
      operator: { answersForSuspended: false },
    },
  };
  for (const [name, values] of Object.entries(matrix)) writeFileSync(join(manifests, `${name}.yaml`), await renderText(values));
  for (const folder of ['default', 'dependencies', 'monitoring', 'samples'])
    writeFileSync(join(manifests, `kustomize-${folder}.yaml`), await kubectl('kustomize', join(ROOT, 'config', folder)));
  const location = `${schemas}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;

  const { code, output } = await run(await resolveBinary('kubeconform', thisMachine(ROOT)), [
    '-strict',
    '-summary',
    '-schema-location',
    location,
    manifests,
  ]);

  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('Invalid: 0, Errors: 0, Skipped: 0') });
  expect(readdirSync(manifests)).toHaveLength(8);
});

test('kubeconform finds a field that no schema has', async () => {
  const file = join(api.dir, 'wrong.yaml');
  writeFileSync(file, (await renderText(LEAST)).replace('terminationGracePeriodSeconds:', 'terminationGraceSeconds:'));

  const { code, output } = await run(await resolveBinary('kubeconform', thisMachine(ROOT)), [
    '-strict',
    '-schema-location',
    `${join(api.dir, 'schemas')}/{{ .ResourceKind }}{{ .KindSuffix }}.json`,
    file,
  ]);

  expect(code).toBe(1);
  expect(output).toContain('terminationGraceSeconds');
});
