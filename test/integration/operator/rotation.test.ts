import { afterAll, expect, test } from '@jest/globals';
import { POD } from '../../../pkg/kube/kinds.ts';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { parseDataKeys, Sealer } from '../../../pkg/runtime/sealing.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import type { Tenant } from '../../../pkg/operator/kinds.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { WebhookSeal } from '../../../pkg/webhooks/sealing.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import {
  children,
  condition,
  conditionOf,
  follow,
  ready,
  registrationOf,
  secretValues,
  webhookOf,
} from '../../support/cluster/operator.ts';
import { opens, secretsOf } from '../../support/cluster/tenant-secrets.ts';
import { WAIT_LIMIT_MS, waitFor } from '../../support/wait.ts';

const { cluster, namespace, readyTenant } = operatorSuite();
const registry = new SqlPool({ url: testBackends().stores.postgres.operator, poolSize: 1, log: silentLogger });
afterAll(() => registry.close());

const NAMES = ['database', 'redis', 'storage', 'signing', 'data'];

const annotate = (key: ObjectKey, annotations: Record<string, string | null>) =>
  cluster.tenants.patch(key, { metadata: { annotations } });
/** Applies annotations as a tool does that applies the contents of a repository. */
const applyAnnotations = (key: ObjectKey, annotations: Record<string, string>) =>
  cluster.tenants.apply({ apiVersion: 'carrel.dev/v1alpha1', kind: 'Tenant', metadata: { ...key, annotations } } as Tenant, {
    fieldManager: 'argocd',
    force: true,
  });
const stepsOf = async (key: ObjectKey) =>
  Object.fromEntries(((await cluster.tenants.get(key)).status?.credentials ?? []).map(({ name, step }) => [name, step]));
/** Makes the rotations as old as if they had been at their steps for two days. */
const wait = (key: ObjectKey) =>
  registry.query(
    `UPDATE registry.credentials SET step_at = step_at - interval '2 days'
     WHERE tenant_id = (SELECT id FROM registry.tenants WHERE slug = $1)`,
    [key.name],
  );

test('all credentials are replaced step by step, each valid until no pod uses it; a pod that is left delays them', async () => {
  const key = await readyTenant();
  const before = await secretsOf(cluster, key);
  const changed = new Map((await cluster.tenants.get(key)).status?.credentials?.map(({ name, changedAt }) => [name, changedAt]));
  const selector = (await cluster.tenants.get(key)).status?.selector ?? '';
  const labels = Object.fromEntries(selector.split(',').map((pair) => pair.split('=') as [string, string]));
  const pods = ['one', 'two'].map((name) => ({ namespace, name: `${key.name}-${name}` }));
  for (const pod of pods)
    await cluster
      .of(POD)
      .create({ metadata: { ...pod, labels }, spec: { containers: [{ name: 'server', image: 'carrel:dev' }] } });

  await annotate(key, { 'carrel.dev/rotate': 'all' });
  const holding = await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Rotating');
  const held = await secretsOf(cluster, key);
  for (const pod of pods) await cluster.of(POD).delete(pod, { gracePeriodSeconds: 0 });
  await waitFor('the steps that wait for time', async () => {
    const steps = await stepsOf(key);
    return (
      steps['database'] === undefined &&
      steps['redis'] === undefined &&
      steps['storage'] === 'both' &&
      steps['signing'] === 'signs' &&
      steps['data'] === 'seals'
    );
  });
  const during = await waitFor('the Secrets of these steps', async () => {
    const found = await secretsOf(cluster, key);
    return found.nextPassword === undefined && found.kids[1] === before.kids[0] && found;
  });
  const [formerDuring, newDuring] = [await opens(before), await opens(during)];
  await wait(key);
  await annotate(key, { touched: '1' });
  await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Current');
  const after = await waitFor('one signing key', async () => {
    const found = await secretsOf(cluster, key);
    return found.kids.length === 1 && found;
  });

  expect(held).toEqual(before);
  expect(conditionOf(holding, 'CredentialsReady')?.message).toMatch(
    new RegExp(`; waiting for former pods to end, which are among ${key.name}-one, ${key.name}-two$`),
  );
  expect([formerDuring, newDuring]).toEqual([
    { database: false, redis: false, storage: true },
    { database: true, redis: true, storage: true },
  ]);
  expect([await opens(before), await opens(after)]).toEqual([
    { database: false, redis: false, storage: false },
    { database: true, redis: true, storage: true },
  ]);
  expect(after.kids).toEqual([during.kids[0]]);
  const tenant = await ready(cluster.tenants, key);
  expect(tenant.metadata.annotations?.['carrel.dev/rotate']).toBeUndefined();
  expect(tenant.status?.credentials).toEqual(NAMES.map((name) => ({ name, changedAt: expect.any(String) })));
  for (const { name, changedAt } of tenant.status?.credentials ?? []) expect(changedAt >= (changed.get(name) ?? '')).toBe(true);
  await waitFor('the Events', async () => {
    const events = (await cluster.of(children.EVENT).list({ namespace })).filter(({ regarding }) => regarding?.name === key.name);
    return ['RotationStarted', 'Rotated'].every((reason) => events.some((event) => event.reason === reason));
  });
  await cluster.tenants.patch(key, { spec: { deletionPolicy: 'Delete' } });
  await cluster.tenants.delete(key);
  await waitFor('the tenant to be gone', async () => (await cluster.tenants.find(key)) === undefined);
  expect(await opens(after)).toEqual({ database: false, redis: false, storage: false });
});

test('a rotation mark is followed once, however often another manager applies it; another mark is another wish', async () => {
  const key = await readyTenant();
  const before = await secretsOf(cluster, key);
  const apply = (value: string, round: number) => applyAnnotations(key, { 'carrel.dev/rotate': value, round: `${round}` });
  const followed = (value: string) =>
    waitFor(`the end of ${value}`, async () => {
      const tenant = await cluster.tenants.get(key);
      const isOver = tenant.status?.credentials?.every(({ step }) => step === undefined);
      return (
        tenant.status?.rotation?.request === value && isOver && conditionOf(tenant, 'CredentialsReady')?.reason === 'Current'
      );
    });
  await apply('redis/2026-09-01', 0);
  await followed('redis/2026-09-01');
  const first = await secretsOf(cluster, key);

  for (let round = 1; round <= 5; round++) {
    await apply('redis/2026-09-01', round);
    // Between two applies the operator looks: it follows the change of another field of the spec.
    await cluster.tenants.patch(key, { spec: { limits: { requestsPerIpPerHour: 10_000 + round } } });
    await ready(cluster.tenants, key);
  }
  const same = await secretsOf(cluster, key);
  const { metadata } = await cluster.tenants.get(key);
  await apply('redis/2026-10-01', 6);
  await followed('redis/2026-10-01');
  const second = await secretsOf(cluster, key);

  expect(first.redisUrl).not.toBe(before.redisUrl);
  expect(same).toEqual(first);
  expect(metadata.annotations?.['carrel.dev/rotate']).toBe('redis/2026-09-01');
  expect(second.redisUrl).not.toBe(first.redisUrl);
});

test('a rotation without a mark that is applied again and again is followed once, and again after 10 minutes', async () => {
  const key = await readyTenant();
  const before = await secretsOf(cluster, key);
  const apply = () => applyAnnotations(key, { 'carrel.dev/rotate': 'redis' });
  await apply();
  await waitFor('another password', async () => (await secretsOf(cluster, key)).redisUrl !== before.redisUrl);

  for (let round = 0; round < 5; round++) {
    await apply();
    await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'RotationRepeated');
  }
  const waiting = await cluster.tenants.get(key);
  const once = await secretsOf(cluster, key);
  const { rotation } = waiting.status ?? {};
  await cluster.tenants.patchStatus(key, { rotation: { ...rotation, at: new Date(Date.now() - 600_000).toISOString() } });
  await waitFor('the password after that', async () => (await secretsOf(cluster, key)).redisUrl !== once.redisUrl);

  expect(rotation).toEqual({ request: 'redis', at: expect.stringMatching(/^\S+Z$/) });
  const message = conditionOf(waiting, 'CredentialsReady')?.message;
  expect(message).toMatch(/^annotation carrel\.dev\/rotate: redis was carried out less than 10 minutes ago, /);
  expect(message).toMatch(/and can be repeated from \S+Z; .* redis\/2026-09-01$/);
  expect(conditionOf(waiting, 'Ready')?.status).toBe('True');
});

test('pods that have failed, as evicted ones do, hold no rotation back', async () => {
  const key = await readyTenant();
  const selector = (await cluster.tenants.get(key)).status?.selector ?? '';
  const labels = Object.fromEntries(selector.split(',').map((pair) => pair.split('=') as [string, string]));
  const pods = ['one', 'two'].map((name) => ({ namespace, name: `${key.name}-${name}` }));
  for (const pod of pods) {
    await cluster
      .of(POD)
      .create({ metadata: { ...pod, labels }, spec: { containers: [{ name: 'server', image: 'carrel:dev' }] } });
    await cluster.of(POD).patchStatus(pod, { phase: 'Failed', reason: 'Evicted' });
  }
  const before = await secretsOf(cluster, key);

  await annotate(key, { 'carrel.dev/rotate': 'redis' });
  await waitFor('the end of the rotation', async () => (await secretsOf(cluster, key)).redisUrl !== before.redisUrl);
  await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Current');

  expect(await opens(before)).toMatchObject({ redis: false });
  for (const pod of pods) await cluster.of(POD).delete(pod, { gracePeriodSeconds: 0 });
});

test('a rotation that is asked for while the tenant is moved begins when the move has ended', async () => {
  const key = await readyTenant();
  const before = await secretsOf(cluster, key);
  const setMove = (to: string | null) =>
    registry.query(
      `UPDATE registry.tenants SET moving_to = $2::text,
         moving_by = CASE WHEN $2::text IS NULL THEN NULL ELSE gen_random_uuid() END,
         moving_until = CASE WHEN $2::text IS NULL THEN NULL ELSE now() + interval '1 hour' END WHERE slug = $1`,
      [key.name, to],
    );

  await setMove('elsewhere');
  await annotate(key, { 'carrel.dev/rotate': 'database' });
  const waiting = await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Rotating');
  await condition(cluster.tenants, key, 'DatabaseReady', 'True', 'Moving');
  await setMove(null);
  await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Current');

  expect(conditionOf(waiting, 'CredentialsReady')?.message).toBe(
    "rotates database (begins); waiting for the tenant's move to end",
  );
  expect(waiting.metadata.annotations?.['carrel.dev/rotate']).toBe('database'); // removed by its first step
  expect(await opens(before)).toMatchObject({ database: false });
  expect(await opens(await secretsOf(cluster, key))).toMatchObject({ database: true });
});

test('a rotation that is asked for while a suspended tenant has a failed step begins when that is put right', async () => {
  const key = await readyTenant();
  const before = await secretsOf(cluster, key);
  await cluster.tenants.patch(key, {
    spec: { suspended: true, admin: { passwordSecretRef: { name: `${key.name}-missing`, key: 'p' } } },
  });
  await condition(cluster.tenants, key, 'KeysReady', 'False', 'SecretMissing');

  await annotate(key, { 'carrel.dev/rotate': 'redis' });
  const waiting = await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Rotating');
  await cluster.tenants.patch(key, { spec: { suspended: false, admin: null } } as object);
  await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Current');

  expect(waiting.metadata.annotations?.['carrel.dev/rotate']).toBe('redis'); // removed by its first step
  expect(await opens(before)).toMatchObject({ redis: false });
});

/** Ids of the keys that opened what stands in the tenant's rows, and what it is. */
async function sealedIn({ name }: ObjectKey): Promise<{ ids: string[]; values: Map<string, string> }> {
  const rows = await registry.query<{ uuid: string; secret: string; keys: string[] }>(
    `SELECT uuid::text, secret,
       (SELECT array_agg(private_key) FROM "tenant_${name}".lti_tools WHERE private_key IS NOT NULL) AS keys
     FROM "tenant_${name}".webhooks WHERE secret NOT LIKE '%.nobody.%'`,
  );
  const keys = parseDataKeys((await secretValues(cluster, namespace, `${name}-keys`))?.['data.json'] ?? '');
  const tenantId = (await cluster.tenants.get({ namespace, name })).status?.tenantId ?? '';
  const seal = new WebhookSeal({ sealer: new Sealer(keys, systemRandom), tenantId });
  return {
    ids: [
      ...new Set(
        rows.flatMap(({ secret, keys: privateKeys }) => [secret, ...privateKeys].map((text) => text.split('.')[1] ?? '')),
      ),
    ].toSorted(),
    values: new Map(rows.map(({ uuid, secret }) => [uuid, seal.open(uuid, 'secret', secret)])),
  };
}

test('a data key is known to all pods before it seals, and goes when all that it sealed is sealed again', async () => {
  const key = await readyTenant();
  const tenantRef = { name: key.name };
  const addHook = async (name: string): Promise<void> => {
    await cluster.webhooks.create(
      webhookOf(namespace, name, { tenantRef, url: 'https://example.com/', events: ['file.created'] }),
    );
    await ready(cluster.webhooks, { namespace, name });
  };
  await addHook(key.name);
  const platform = { preset: 'moodle', issuer: 'https://moodle.example' };
  await cluster.registrations.create(registrationOf(namespace, key.name, { tenantRef, platform, clientId: 'x' }));
  await ready(cluster.registrations, key);
  // The tenant's role can do this too. It blocks nothing.
  await registry.query(
    `INSERT INTO "tenant_${key.name}".webhooks (uuid, url, events, secret)
     VALUES (gen_random_uuid(), 'https://a.example', '{file.created}', 'v1.nobody.${'x'.repeat(60)}')`,
  );
  const dataKeys = async (): Promise<string[]> =>
    parseDataKeys((await secretValues(cluster, namespace, `${key.name}-keys`))?.['data.json'] ?? '').map(({ id }) => id);
  const before = await sealedIn(key);
  const [first = ''] = await dataKeys();
  // A watch shows each version. Between two looks a whole step may pass.
  const seen: string[] = [];
  const { store, stop } = follow(cluster, children.SECRET, namespace);
  store.onChange(({ object }) => {
    if (object.metadata.name !== `${key.name}-keys`) return;
    const ids = parseDataKeys(Buffer.from(object.data?.['data.json'] ?? '', 'base64').toString()).map(({ id }) => id);
    if (seen.at(-1) !== ids.join(' ')) seen.push(ids.join(' '));
  });
  await store.waitForSync(AbortSignal.timeout(WAIT_LIMIT_MS));

  await annotate(key, { 'carrel.dev/rotate': 'data/1' });
  await waitFor(
    'the step that waits for time',
    async () => (await stepsOf(key))['data'] === 'seals' && seen.at(-1) === `${first}~1 ${first}`,
  );
  await stop();
  await addHook(`${key.name}-second`);
  const during = await sealedIn(key);
  await wait(key);
  await annotate(key, { touched: '1' });
  await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Current');
  await waitFor('one data key', async () => (await dataKeys()).join(' ') === `${first}~1`);
  const after = await sealedIn(key);

  expect(before.ids).toEqual([first]);
  expect(seen).toEqual([first, `${first} ${first}~1`, `${first}~1 ${first}`]);
  expect(during.ids).toEqual([first, `${first}~1`]);
  expect(after).toEqual({ ids: [`${first}~1`], values: during.values });
  expect([...before.values]).toEqual([...after.values].filter(([uuid]) => before.values.has(uuid)));
  // Later values are sealed with the present key too.
  await annotate(key, { 'carrel.dev/rotate': 'data/2' });
  await waitFor('the next data key', async () => (await dataKeys()).join(' ') === `${first}~2 ${first}~1`);
});

test('an unknown credential’s name changes nothing and is reported; an overdue credential is replaced unasked', async () => {
  const key = await readyTenant({ credentials: { rotateAfter: '2h' } });
  const before = await secretsOf(cluster, key);

  await annotate(key, { 'carrel.dev/rotate': 'redis,password' });
  const refused = await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'RotationUnknown');
  const same = await secretsOf(cluster, key);
  await annotate(key, { 'carrel.dev/rotate': null });
  await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Current');
  await registry.query(`UPDATE registry.tenants SET state_changed_at = state_changed_at - interval '2 hours' WHERE slug = $1`, [
    key.name,
  ]);
  await annotate(key, { touched: '1' });
  await waitFor('another password', async () => (await secretsOf(cluster, key)).redisUrl !== before.redisUrl);

  expect(conditionOf(refused, 'CredentialsReady')?.message).toBe(
    'annotation carrel.dev/rotate: password is none of database, redis, storage, signing, data, all',
  );
  expect(conditionOf(refused, 'Ready')?.status).toBe('True');
  expect(same).toEqual(before);
});

test('a server that knows the next password goes on when it takes effect; one that knows neither is refused', async () => {
  const key = await readyTenant();
  const { databaseUrl } = await secretsOf(cluster, key);
  const next = 'the-next-password';
  const knows = (nextPassword?: string) => new Database({ url: databaseUrl, nextPassword, poolSize: 1, log: silentLogger });
  const [both, first] = [knows(next), knows()];
  try {
    await both.ping();
    const role = `tenant_${key.name}`;
    await registry.query(
      `ALTER ROLE "${role}" PASSWORD '${next}'; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`,
    );

    await waitFor('a new connection', () => both.ping().then(() => true));
    await expect(first.ping()).rejects.toThrow(/password authentication failed/);
    await both.ping();
  } finally {
    await both.close();
    await first.close();
  }
});
