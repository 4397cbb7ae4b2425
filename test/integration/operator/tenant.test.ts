import { expect, test } from '@jest/globals';
import { POD } from '../../../pkg/kube/kinds.ts';
import { TENANT, WEBHOOK, type Tenant } from '../../../pkg/operator/kinds.ts';
import { podLabels } from '../../../pkg/operator/names.ts';
import { WAIT_LIMIT_MS, waitFor } from '../../support/wait.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import {
  condition,
  children,
  conditionOf,
  follow,
  ready,
  secretValues,
  tenantOf,
  unique,
  webhookOf,
} from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const { cluster, namespace, readyTenant } = operatorSuite();

const withDatabase = async <T>(url: string, work: (sql: SqlPool) => Promise<T>): Promise<T> => {
  const pool = new SqlPool({ url, poolSize: 1, log: silentLogger });
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
};

test('a Tenant of one line becomes Ready, with everything a client needs in its status', async () => {
  const key = { namespace, name: unique() };
  await cluster.tenants.create(tenantOf(namespace, key.name));

  const tenant = await ready(cluster.tenants, key);

  expect(tenant.status).toMatchObject({
    observedGeneration: 1,
    tenantId: expect.stringMatching(/^\d+$/),
    appUrl: `http://${key.name}.localhost:8080`,
    ltiUrl: `http://lti.${key.name}.localhost:8080`,
    apiUrl: `http://${key.name}.localhost:8080/api/v1`,
    image: 'carrel:dev',
    replicas: 1,
    readyReplicas: 1,
    selector: `app.kubernetes.io/name=carrel,app.kubernetes.io/component=server,app.kubernetes.io/instance=${key.name}`,
  });
  expect(tenant.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
    'Ready=True',
    'Accepted=True',
    'DatabaseReady=True',
    'StorageReady=True',
    'RedisReady=True',
    'KeysReady=True',
    'HelpersReady=True',
    'WorkloadAvailable=True',
    'CredentialsReady=True',
    'Exposed=True',
    'Stalled=False',
    'WithinLimits=True',
    'FieldsIgnored=False',
  ]);
});

test('its Secrets open its own schema and nothing is doubled', async () => {
  const key = await readyTenant();

  const { url = '' } = (await secretValues(cluster, namespace, `${key.name}-database`)) ?? {};
  const admin = await secretValues(cluster, namespace, `${key.name}-admin`);
  const people = await withDatabase(url, (sql) => sql.query('SELECT email, roles FROM users WHERE NOT is_system'));

  expect(people).toEqual([{ email: `admin@${key.name}.localhost`, roles: expect.arrayContaining(['admin']) }]);
  expect(admin).toEqual({ email: `admin@${key.name}.localhost`, password: expect.stringMatching(/^\S{24}$/) });
  const keys = await secretValues(cluster, namespace, `${key.name}-keys`);
  expect(JSON.parse(keys?.['signing.json'] ?? '')).toMatchObject({
    keys: [{ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' }],
  });
});

test('suspending takes the pods away and says so; the data stay', async () => {
  const key = await readyTenant();

  await cluster.tenants.patch(key, { spec: { suspended: true } });
  await condition(cluster.tenants, key, 'Ready', 'False', 'Suspended');
  const suspended = await cluster.of(children.DEPLOYMENT).get(key);
  await cluster.tenants.patch(key, { spec: { suspended: false } });
  await ready(cluster.tenants, key);

  expect(suspended.spec?.replicas).toBe(0);
  expect((await cluster.of(children.DEPLOYMENT).get(key)).spec?.replicas).toBe(1);
});

test('Postgres connections follow the Tenant’s size within the bounds of operator and shard; none while suspended', async () => {
  const key = await readyTenant({ replicas: 3 });
  const operator = new SqlPool({ url: testBackends().stores.postgres.operator, poolSize: 1, log: silentLogger });
  const limit = async (): Promise<unknown> =>
    (await operator.query(`SELECT rolconnlimit AS limit FROM pg_roles WHERE rolname = $1`, [`tenant_${key.name}`]))[0]?.['limit'];
  const counted = async (): Promise<unknown> =>
    (await operator.query(`SELECT connections FROM registry.tenants WHERE slug = $1`, [key.name]))[0]?.['connections'];
  const atFirst = await limit();

  await cluster.tenants.patch(key, { spec: { replicas: 100, database: { poolSize: 50 } } });
  const refused = await condition(cluster.tenants, key, 'Accepted', 'False', 'ConnectionsExceeded');
  const whileRefused = await limit();
  const pod = { namespace, name: `${key.name}-ends` };
  await cluster.of(POD).create({
    metadata: { ...pod, labels: podLabels(tenantOf(namespace, key.name) as Tenant) },
    spec: { containers: [{ name: 'server', image: 'carrel:dev' }] },
  });
  await cluster.tenants.patch(key, { spec: { suspended: true } });
  await condition(cluster.tenants, key, 'Ready', 'False', 'Suspended');
  const whileItEnds = [await limit(), await counted()];
  await cluster.of(POD).delete(pod, { gracePeriodSeconds: 0 });
  await waitFor('the role to have no connections', async () => (await limit()) === 0);
  await waitFor('its connections to be free for others', async () => (await counted()) === 0);
  const { url = '' } = (await secretValues(cluster, namespace, `${key.name}-database`)) ?? {};
  const login = await withDatabase(url, (sql) => sql.ping()).catch((error: Error) => error.message);
  await cluster.tenants.patch(key, { spec: { suspended: false, replicas: 2, database: { poolSize: 5 } } });
  await ready(cluster.tenants, key);

  expect([atFirst, whileRefused, await limit()]).toEqual([22, 22, 17]);
  expect(whileItEnds).toEqual([22, 22]);
  expect(conditionOf(refused, 'Accepted')?.message).toMatch(/are 5052 connections to Postgres; this operator allows a tenant 50/);
  expect(login).toContain('too many connections for role');
  await operator.close();
});

test('a tenant that is to hold fewer connections keeps those it has until its former pods have ended', async () => {
  const key = await readyTenant({ database: { poolSize: 8 } });
  const { selector } = (await cluster.tenants.get(key)).status ?? {};
  const labels = Object.fromEntries((selector ?? '').split(',').map((pair) => pair.split('=') as [string, string]));
  const pods = ['former', 'new', 'evicted'].map((name) => ({ namespace, name: `${key.name}-${name}` }));
  for (const pod of pods) {
    const spec = { containers: [{ name: 'server', image: 'carrel:dev' }] };
    const made = await cluster.of(POD).create({ metadata: { ...pod, labels }, spec });
    if (pod.name.endsWith('evicted')) await cluster.of(POD).replaceStatus({ ...made, status: { phase: 'Failed' } });
  }
  const pool = new SqlPool({ url: testBackends().stores.postgres.operator, poolSize: 1, log: silentLogger });
  const limit = async (): Promise<unknown> =>
    (await pool.query('SELECT rolconnlimit AS "limit" FROM pg_roles WHERE rolname = $1', [`tenant_${key.name}`]))[0]?.['limit'];

  await cluster.tenants.patch(key, { spec: { database: { poolSize: 3 } } });
  await ready(cluster.tenants, key);
  const whileEnding = await limit();
  await cluster.of(POD).delete(pods[0] ?? key, { gracePeriodSeconds: 0 });
  await waitFor('the lower limit', async () => (await limit()) === 8);

  expect(whileEnding).toBe(18);
  await cluster.tenants.patch(key, { spec: { database: { poolSize: 8 } } });
  await ready(cluster.tenants, key);
  expect(await limit()).toBe(18);
  for (const pod of pods.slice(1)) await cluster.of(POD).delete(pod, { gracePeriodSeconds: 0 });
  await pool.close();
});

test('nothing is made for a Tenant that is not accepted', async () => {
  const key = { namespace, name: unique() };
  await cluster.tenants.create(tenantOf(namespace, key.name, { image: 'elsewhere/carrel:1' }));

  const tenant = await condition(cluster.tenants, key, 'Accepted', 'False', 'ImageNotAllowed');

  expect(conditionOf(tenant, 'Accepted')?.message).toContain('spec.image: this operator accepts only images of');
  expect(conditionOf(tenant, 'Ready')).toMatchObject({ status: 'False', reason: 'ImageNotAllowed' });
  expect(conditionOf(tenant, 'DatabaseReady')).toMatchObject({ status: 'Unknown', reason: 'WaitingForAccepted' });
  expect(await cluster.of(children.DEPLOYMENT).find(key)).toBeUndefined();
});

test('Ready is Unknown from the beginning, True only of what runs, and never of a spec that is not rolled out yet', async () => {
  const key = { namespace, name: unique() };
  const seen: string[] = [];
  const watched = follow(cluster, TENANT, namespace);
  watched.store.onChange(({ object }) => {
    const found = conditionOf(object, 'Ready');
    if (object.metadata.name !== key.name || !found) return;
    const entry = `${found.status} ${found.reason} of ${found.observedGeneration}`;
    if (seen.at(-1) !== entry) seen.push(entry);
  });
  await watched.store.waitForSync(AbortSignal.timeout(WAIT_LIMIT_MS)); // else it may begin with a later condition

  await cluster.tenants.create(tenantOf(namespace, key.name));
  await ready(cluster.tenants, key);
  await cluster.tenants.patch(key, { spec: { limits: { requestsPerUserPerMinute: 7 } } });
  await ready(cluster.tenants, key);
  // The informer has a watch of its own, which may be behind.
  await waitFor('the last condition in the informer', () => seen.at(-1) === 'True Ready of 2');
  await watched.stop();

  expect(seen[0]).toBe('Unknown Pending of undefined');
  expect(seen.at(-1)).toBe('True Ready of 2');
  expect(seen.filter((entry) => entry.startsWith('True'))).toEqual(['True Ready of 1', 'True Ready of 2']);
  expect(seen.slice(seen.indexOf('True Ready of 1') + 1, -1)).toEqual(['False RollingOut of 2']);
});

test('an Event says when a tenant is ready and when it is refused', async () => {
  const [good, refused] = [
    { namespace, name: unique() },
    { namespace, name: unique() },
  ];
  await cluster.tenants.create(tenantOf(namespace, good.name));
  await cluster.tenants.create(tenantOf(namespace, refused.name, { image: 'evil:1' }));
  const eventsFor = async (name: string): Promise<string[]> =>
    (await cluster.of(children.EVENT).list({ namespace }))
      .filter(({ regarding }) => regarding?.kind === 'Tenant' && regarding.name === name)
      .map(({ type, reason }) => `${type} ${reason}`);

  await waitFor('both Events', async () => (await eventsFor(good.name)).length > 0 && (await eventsFor(refused.name)).length > 0);

  expect(await eventsFor(good.name)).toEqual(['Normal Ready']);
  expect(await eventsFor(refused.name)).toEqual(['Warning ImageNotAllowed']);
});

test('a change of a Tenant leaves its Webhook Ready all along', async () => {
  const tenant = await readyTenant();
  const key = { namespace, name: unique() };
  const spec = { tenantRef: { name: tenant.name }, url: 'https://example.com/', events: ['file.created'] };
  await cluster.webhooks.create(webhookOf(namespace, key.name, spec));
  await ready(cluster.webhooks, key);
  const webhooks = follow(cluster, WEBHOOK, namespace);
  const seen = new Set<string>();
  webhooks.store.onChange(({ object }) => {
    if (object.metadata.name === key.name)
      seen.add(`${conditionOf(object, 'Ready')?.status} ${conditionOf(object, 'Ready')?.reason}`);
  });
  await webhooks.store.waitForSync(AbortSignal.timeout(WAIT_LIMIT_MS));

  await cluster.tenants.patch(tenant, { spec: { replicas: 2 } });
  await ready(cluster.tenants, tenant);
  await cluster.webhooks.patch(key, { spec: { active: false } });
  await ready(cluster.webhooks, key);
  await webhooks.stop();

  expect([...seen]).toEqual(['True Ready']);
});

test('the administrator’s generated Secret stays when spec names that very Secret', async () => {
  const key = await readyTenant();
  const before = await secretValues(cluster, namespace, `${key.name}-admin`);

  await cluster.tenants.patch(key, { spec: { admin: { passwordSecretRef: { name: `${key.name}-admin`, key: 'password' } } } });
  await ready(cluster.tenants, key);
  await cluster.tenants.patch(key, { spec: { replicas: 2 } });
  await ready(cluster.tenants, key);

  expect(await secretValues(cluster, namespace, `${key.name}-admin`)).toEqual(before);
});

test.each([
  { storage: { defaultUserQuota: -5 } },
  { storage: { maxUploadSize: -5 } },
  { resources: { limits: { memory: -5 } } },
  { resources: { requests: { cpu: -1 } } },
])('an amount below nothing is refused: %j', async (spec) => {
  await expect(cluster.tenants.create(tenantOf(namespace, unique(), spec))).rejects.toThrow(
    'should be greater than or equal to 0',
  );
});
