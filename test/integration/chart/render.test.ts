import { expect, test } from '@jest/globals';
import type { V1PodSpec as PodSpec } from '@kubernetes/client-node';
import { helpersConfigSchema } from '../../../cmd/helpers/config.ts';
import { operatorConfigSchema } from '../../../cmd/operator/config.ts';
import { workerConfigSchema } from '../../../cmd/worker/config.ts';
import { PLATFORM_CONNECTIONS } from '../../../pkg/store/postgres/connection-budget.ts';
import { type ChartObject, LEAST, MOST, render, type Rendered } from '../../support/cluster/chart.ts';

/** `helm template` renders these values without a cluster. */
const least = render(LEAST);
const most = render(MOST);

/** The settings as the program would read them, with something valid for what comes from a Secret or the pod. */
const GIVEN: Readonly<Record<string, string>> = {
  CARREL_PLATFORM_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
  CARREL_REDIS_ADMIN_URL: 'rediss://admin:secret@redis.stores:6380',
  CARREL_QUEUE_REDIS_URL: 'rediss://admin:secret@queue-redis.stores:6380',
  CARREL_S3_ACCESS_KEY_ID: 'root',
  CARREL_S3_SECRET_ACCESS_KEY: 'secret',
  CARREL_POD_IP: '10.1.2.3',
};
/** Names a file that only a pod has. */
const MOUNTED = 'CARREL_TRUSTED_CERTIFICATES_FILE';
const settingsOf = (rendered: Rendered, deployment: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(rendered.environment(deployment))
      .filter(([name]) => name !== MOUNTED)
      .map(([name, value]) => [name, value.startsWith('from ') ? (GIVEN[name] ?? value) : value]),
  );

test('with the least settings there are operator, worker, their rights and policies, the CRDs, and no Secret', async () => {
  expect((await least).names).toEqual([
    'ClusterRole/carrel-operator',
    'ClusterRoleBinding/carrel-operator',
    'CustomResourceDefinition/ltiregistrations.carrel.dev',
    'CustomResourceDefinition/tenants.carrel.dev',
    'CustomResourceDefinition/webhooks.carrel.dev',
    'Deployment/carrel-operator',
    'Deployment/carrel-worker',
    'NetworkPolicy/carrel-operator',
    'NetworkPolicy/carrel-worker',
    'PodDisruptionBudget/carrel-operator',
    'PodDisruptionBudget/carrel-worker',
    'Role/carrel-operator-leader',
    'RoleBinding/carrel-operator-leader',
    'ServiceAccount/carrel-operator',
    'ServiceAccount/carrel-worker',
  ]);
});

test('no object of the chart is a Secret, whatever is switched on', async () => {
  expect((await most).all('Secret')).toEqual([]);
});

test('every setting of the operator and of the worker can be set by the chart, and it sets no other', async () => {
  const rendered = await most;
  const own = (names: string[]): string[] => names.filter((name) => /^(CARREL|OTEL)_/.test(name)).toSorted();
  const settable = (schema: { shape: object }): string[] =>
    Object.keys(schema.shape)
      .filter((name) => name !== 'CARREL_LISTEN_HOST') // a pod listens on all its addresses
      .toSorted();

  expect(own(Object.keys(rendered.environment('files-operator')))).toEqual(settable(operatorConfigSchema));
  expect(own(Object.keys(rendered.environment('files-worker')))).toEqual(settable(workerConfigSchema));
});

test('the programs accept the settings that the chart makes of the least and of the most values', async () => {
  for (const [rendered, name] of [
    [await least, 'carrel'],
    [await most, 'files'],
  ] as const) {
    operatorConfigSchema.parse(settingsOf(rendered, `${name}-operator`));
    workerConfigSchema.parse(settingsOf(rendered, `${name}-worker`));
  }
  expect(settingsOf(await most, 'files-operator')).toMatchObject({
    CARREL_MAX_TENANTS_PER_SHARD: '1000000',
    CARREL_ALLOWED_HOSTS: 'example.com,faculty=biology.example.edu',
    CARREL_PUBLIC_PORT: '8080',
    CARREL_S3_ADMIN_ENDPOINT: 'https://s3.stores:9001',
  });
  expect((await most).environment('files-worker')).toMatchObject({ CARREL_WEBHOOK_RETRY_SECONDS: '1,2.5,300' });
});

test('passwords and keys come from Secrets that the values name', async () => {
  const secrets = Object.values((await most).environment('files-operator')).filter((value) => value.startsWith('from Secret'));

  expect(secrets).toEqual([
    'from Secret carrel-platform-keys/keys',
    'from Secret carrel-redis/admin-url',
    'from Secret carrel-object-store/access-key-id',
    'from Secret carrel-object-store/secret-access-key',
    'from Secret carrel-backup/access-key-id',
    'from Secret carrel-backup/secret-access-key',
  ]);
});

test('the worker mounts only its own address of a shard, the operator all three', async () => {
  const filesOf = async (name: string) =>
    (await least)
      .deployment(name)
      .spec.template.spec?.volumes?.flatMap(({ name: volume, secret }) =>
        (secret?.items ?? []).map(({ path }) => `${volume}/${path}`),
      );

  expect(await filesOf('carrel-worker')).toEqual(['shard-main/worker-url']);
  expect(await filesOf('carrel-operator')).toEqual(['shard-main/url', 'shard-main/tenant-address', 'shard-main/worker-url']);
});

test('operator, worker and backups mount the trusted certificates where their setting looks for them', async () => {
  const withBackups = { ...LEAST, backup: { enabled: true, repository: 's3://backups/carrel' } };
  const untrusting = await render(withBackups);
  const inSecret = await render({ ...withBackups, trustedCertificates: { secretName: 'internal-ca' } });
  const mountOf = (rendered: Rendered, name: string) => {
    const { containers = [], volumes = [] } = rendered.workload(name).spec.template.spec ?? {};
    const { mountPath } = containers[0]?.volumeMounts?.find((mount) => mount.name === 'trusted-certificates') ?? {};
    return {
      file: rendered.environment(name)[MOUNTED],
      mountPath,
      volume: volumes.find((volume) => volume.name === 'trusted-certificates'),
    };
  };

  for (const program of ['operator', 'worker', 'backup']) {
    expect(mountOf(untrusting, `carrel-${program}`)).toEqual({});
    expect(mountOf(await most, `files-${program}`)).toEqual({
      file: '/etc/carrel/trusted-certificates/bundle.pem',
      mountPath: '/etc/carrel/trusted-certificates',
      volume: {
        name: 'trusted-certificates',
        configMap: { name: 'internal-ca', items: [{ key: 'bundle.pem', path: 'bundle.pem' }] },
      },
    });
    expect(mountOf(inSecret, `carrel-${program}`)).toMatchObject({
      file: '/etc/carrel/trusted-certificates/ca.crt',
      volume: { secret: { secretName: 'internal-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    });
  }
});

test('every pod meets the restricted security standard, with a read-only root and no token that it does not need', async () => {
  const violations = (await most).workloads.flatMap(({ metadata, spec: { template } }) => {
    const pod = template.spec;
    const wrong: string[] = [];
    if (pod?.securityContext?.runAsNonRoot !== true || !pod.securityContext.runAsUser) wrong.push('runAsNonRoot');
    if (pod?.securityContext?.seccompProfile?.type !== 'RuntimeDefault') wrong.push('seccompProfile');
    if (pod?.automountServiceAccountToken !== false && metadata.name !== 'files-operator') wrong.push('token');
    for (const { securityContext } of [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])]) {
      if (securityContext?.allowPrivilegeEscalation !== false) wrong.push('allowPrivilegeEscalation');
      if (securityContext?.readOnlyRootFilesystem !== true) wrong.push('readOnlyRootFilesystem');
      if (securityContext?.capabilities?.drop?.join() !== 'ALL') wrong.push('capabilities');
    }
    return wrong.map((what) => `${metadata.name}: ${what}`);
  });

  expect((await most).workloads).toHaveLength(7);
  expect(violations).toEqual([]);
});

test('each trial Valkey has a probe and a memory limit; only the tenants’ evicts; only workers reach the queues’', async () => {
  const of = async (name: string) => {
    const spec = (await most).one('StatefulSet', name) as { spec?: { template: { spec: PodSpec } } };
    return spec.spec?.template.spec.containers[0];
  };
  const [tenants, queues] = [await of('files-valkey'), await of('files-valkey-queue')];
  const policy = (await most).one('NetworkPolicy', 'files-valkey-queue') as { spec?: { ingress: unknown[] } };

  for (const container of [tenants, queues]) {
    expect(container?.livenessProbe?.exec?.command?.join(' ')).toMatch(/timeout 4 valkey-cli .*ping \| grep -q PONG/);
    expect(container?.resources?.limits).toEqual({ memory: '512Mi' });
  }
  expect(tenants?.command?.join(' ')).toMatch(
    /--appendonly no .*--maxmemory-policy allkeys-lfu --maxmemory-clients \d+mb --client-output-buffer-limit normal/,
  );
  expect(queues?.command?.join(' ')).toMatch(/--appendonly no .*--maxmemory-policy noeviction/);
  expect(policy.spec?.ingress).toEqual([
    {
      ports: [{ port: 6379, protocol: 'TCP' }],
      from: [{ podSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/component': 'worker' }) } }],
    },
  ]);
});

test('a CronJob makes backups once a night, never two at once, reads shards as their owner, writes as values say', async () => {
  const { spec } = (await most).one('CronJob', 'files-backup') as {
    spec?: { jobTemplate: { spec: { template: { spec: PodSpec } } } };
  };
  const pod = spec?.jobTemplate.spec.template.spec;

  expect(spec).toMatchObject({ concurrencyPolicy: 'Forbid', schedule: '17 2 * * *' });
  // A second run would make a second backup of every tenant; a Job without end would keep all later ones from starting.
  expect(spec?.jobTemplate.spec).toMatchObject({ backoffLimit: 0, activeDeadlineSeconds: 79_200 });
  expect(pod?.containers[0]?.command?.slice(1)).toEqual([
    'cmd/carrel/main.js',
    'tenants',
    'backup',
    '--to',
    's3://backups/carrel',
    '--keep',
    '7',
    '--most-minutes',
    '120',
  ]);
  expect(pod?.containers[0]?.env).toContainEqual({ name: 'AWS_ENDPOINT_URL', value: 'https://s3.backups:9443' });
  expect(pod?.volumes?.flatMap(({ secret }) => secret?.items?.map(({ path }) => path) ?? [])).toEqual(['url', 'url']);
  expect((await least).all('CronJob')).toEqual([]);
});

test('a digest wins over the tag, for the programs and for the servers of tenants', async () => {
  const image = `registry.example/carrel@sha256:${'a'.repeat(64)}`;

  expect((await most).deployment('files-operator').spec.template.spec?.containers[0]?.image).toBe(image);
  expect((await most).environment('files-operator')['CARREL_IMAGE']).toBe(image);
  expect((await least).environment('carrel-operator')['CARREL_IMAGE']).toBe('carrel:0.1.0');
});

test('a new chart version restarts no pod: its labels are not in the pod templates', async () => {
  const labels = (await most).workloads.flatMap(({ spec }) => Object.keys(spec.template.metadata?.labels ?? {}));

  expect(labels).not.toContain('helm.sh/chart');
  expect(labels).not.toContain('app.kubernetes.io/version');
});

test('an autoscaled worker sets no number of pods; the autoscaler counts CPU and the age of the queue', async () => {
  const { spec } = (await most).one('HorizontalPodAutoscaler', 'files-worker') as { spec?: { metrics: unknown[] } };

  expect((await most).deployment('files-worker').spec.replicas).toBeUndefined();
  expect((await least).deployment('carrel-worker').spec.replicas).toBe(2);
  expect(spec).toMatchObject({ minReplicas: 3, maxReplicas: 12 });
  expect(spec?.metrics).toEqual([
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
    { type: 'External', external: { metric: { name: 'carrel_queue_oldest_seconds' }, target: { type: 'Value', value: '30' } } },
  ]);
});

test('one pod has no disruption budget, since it could never be evicted', async () => {
  const single = await render({ ...LEAST, operator: { replicas: 1 }, worker: { replicas: 1 } });

  expect(single.all('PodDisruptionBudget')).toEqual([]);
});

test('custom resources stay when the release is uninstalled, unless the values say otherwise', async () => {
  const annotations = async (values: object) =>
    (await render(values))
      .all('CustomResourceDefinition')
      .map(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy']);

  expect(await annotations(LEAST)).toEqual(['keep', 'keep', 'keep']);
  expect(await annotations({ ...LEAST, crds: { keep: false } })).toEqual([undefined, undefined, undefined]);
  expect(await annotations({ ...LEAST, crds: { install: false } })).toEqual([]);
});

test('the stores for a try have addresses that tenants of other namespaces resolve', async () => {
  const { dependencies } = MOST;
  const rendered = await render({ ...LEAST, redis: {}, objectStore: {}, dependencies });
  const { CARREL_REDIS_ADDRESS, CARREL_S3_ENDPOINT, CARREL_S3_ADMIN_ENDPOINT } = rendered.environment('carrel-operator');

  expect([CARREL_REDIS_ADDRESS, CARREL_S3_ENDPOINT, CARREL_S3_ADMIN_ENDPOINT]).toEqual([
    'carrel-valkey.carrel-system:6379',
    'http://carrel-versitygw.carrel-system:7070',
    'http://carrel-versitygw.carrel-system:7071',
  ]);
});

test('no user of the Valkey for a try is without a password, which would close it to other pods', async () => {
  expect(JSON.stringify((await most).one('StatefulSet', 'files-valkey'))).not.toContain('nopass');
});

test('the labels of an operator’s metric win over its pod’s, so a tenant’s usage has the tenant’s namespace', async () => {
  interface Monitor extends ChartObject {
    readonly spec: { endpoints?: { honorLabels?: boolean }[]; podMetricsEndpoints?: { honorLabels?: boolean }[] };
  }
  const honored = (rendered: Rendered, kind: string) =>
    rendered
      .all<Monitor>(kind)
      .filter(({ spec }) =>
        [...(spec.endpoints ?? []), ...(spec.podMetricsEndpoints ?? [])].every(({ honorLabels }) => honorLabels),
      )
      .map(({ metadata }) => metadata.name);
  const byPods = await render({ ...LEAST, monitoring: { podMonitor: { enabled: true } } });

  expect(honored(await most, 'ServiceMonitor')).toEqual(['files-operator']);
  expect(honored(byPods, 'PodMonitor')).toEqual(['carrel-operator']);
});

test('a region that looks like a number is a text for the store for a try', async () => {
  const { dependencies } = MOST;
  const rendered = await render({ ...LEAST, objectStore: { region: '1' }, dependencies });

  expect(rendered.workload('carrel-versitygw').spec.template.spec?.containers[0]?.args).toContain('1');
});

test('the Postgres for a try reserves what the operator and all workers of a rollout may hold', async () => {
  const args = (await most).workload('files-postgres').spec.template.spec?.containers[0]?.args ?? [];
  const worker = (await least).deployment('carrel-worker').spec;
  const ofWorker = Number((await least).environment('carrel-worker')['CARREL_DATABASE_POOL_SIZE']) + 4;
  const workers = (worker.replicas ?? 0) + Number(worker.strategy?.rollingUpdate?.maxSurge);

  expect(PLATFORM_CONNECTIONS).toBeGreaterThanOrEqual(workers * ofWorker + 2 * 9);
  expect(args).toContain(`reserved_connections=${PLATFORM_CONNECTIONS}`);
});

test('the helpers are off by default; switched on they have a Service, a policy, and only their own rights', async () => {
  const helpers = {
    enabled: true,
    tokenSecretName: 'helpers-token',
    keysSecretName: 'translators',
    providers: ['deepl', 'dictionary'],
  };
  const rendered = await render({ ...LEAST, helpers });
  const spec = rendered.deployment('carrel-helpers').spec.template.spec;
  const [container] = spec?.containers ?? [];

  expect((await least).names.filter((name) => name.endsWith('helpers'))).toEqual([]);
  expect(rendered.names.filter((name) => name.endsWith('helpers'))).toEqual([
    'Deployment/carrel-helpers',
    'NetworkPolicy/carrel-helpers',
    'PodDisruptionBudget/carrel-helpers',
    'Service/carrel-helpers',
    'ServiceAccount/carrel-helpers',
  ]);
  expect(spec).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
  expect(container?.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(container?.envFrom).toEqual([{ secretRef: { name: 'translators' } }]);
  expect(rendered.environment('carrel-helpers')['CARREL_HELPERS_TOKEN']).toBe('from Secret helpers-token/token');
  const settings = { ...settingsOf(rendered, 'carrel-helpers'), CARREL_HELPERS_TOKEN: 'token' };
  expect(helpersConfigSchema.parse(settings)).toMatchObject({
    CARREL_HELPERS_PROVIDERS: ['deepl', 'dictionary'],
    CARREL_HELPERS_PDF_MEMORY_MIB: 768,
  });
});
