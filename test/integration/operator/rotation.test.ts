import { afterAll, expect, test } from '@jest/globals';
import { Redis as RedisClient } from 'ioredis';
import { POD } from '../../../pkg/kube/kinds.ts';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { Objects, type ObjectsOptions } from '../../../pkg/store/s3/objects.ts';
import { testBackends } from '../../support/backends.ts';
import { operatorSuite } from '../../support/operator-suite.ts';
import { children, condition, conditionOf, ready, secretValues } from '../../support/operator.ts';
import { waitFor } from '../../support/wait.ts';

const { cluster, namespace, readyTenant } = operatorSuite();
const registry = new SqlPool({ url: testBackends().stores.postgres.operator, poolSize: 1, log: silentLogger });
afterAll(() => registry.close());

const NAMES = ['database', 'redis', 'storage', 'signing'];

interface Secrets {
  readonly databaseUrl: string;
  readonly nextPassword: string | undefined;
  readonly redisUrl: string;
  readonly storage: ObjectsOptions;
  readonly kids: string[];
}

async function secretsOf({ name }: ObjectKey): Promise<Secrets> {
  const [database, redis, storage, keys] = await Promise.all(
    ['database', 'redis', 'storage', 'keys'].map(async (of) => (await secretValues(cluster, namespace, `${name}-${of}`)) ?? {}),
  );
  return {
    databaseUrl: database?.['url'] ?? '',
    nextPassword: database?.['nextPassword'],
    redisUrl: redis?.['url'] ?? '',
    storage: storage as unknown as ObjectsOptions,
    kids: (JSON.parse(keys?.['signing.json'] ?? '{}') as { keys: { kid: string }[] }).keys.map(({ kid }) => kid),
  };
}

/** What of it opens. */
async function opens({ databaseUrl, redisUrl, storage }: Secrets): Promise<Record<'database' | 'redis' | 'storage', boolean>> {
  const ok = (work: Promise<unknown>): Promise<boolean> =>
    work.then(
      () => true,
      () => false,
    );
  const sql = new SqlPool({ url: databaseUrl, poolSize: 1, log: silentLogger });
  const redis = new RedisClient(redisUrl, {
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  redis.on('error', () => undefined);
  const objects = new Objects(storage);
  try {
    const [database, cache, bucket] = await Promise.all([
      ok(sql.ping()),
      ok(redis.connect().then(() => redis.ping())),
      ok(objects.put('00/rotated', Buffer.from('content'))),
    ]);
    return { database, redis: cache, storage: bucket };
  } finally {
    objects.close();
    redis.disconnect();
    await sql.close();
  }
}

const annotate = (key: ObjectKey, annotations: Record<string, string | null>) => cluster.tenants.patch(key, { metadata: { annotations } });
const stepsOf = async (key: ObjectKey) =>
  Object.fromEntries(((await cluster.tenants.get(key)).status?.credentials ?? []).map(({ name, step }) => [name, step]));
/** As if the rotations had been at their steps for two hours. */
const wait = (key: ObjectKey) =>
  registry.query(
    `UPDATE registry.credentials SET step_at = step_at - interval '2 hours' WHERE tenant_id = (SELECT id FROM registry.tenants WHERE slug = $1)`,
    [key.name],
  );

test('all credentials are replaced step by step, each valid until no pod uses it, and a pod that is left holds them back', async () => {
  const key = await readyTenant();
  const before = await secretsOf(key);
  const changed = new Map((await cluster.tenants.get(key)).status?.credentials?.map(({ name, changedAt }) => [name, changedAt]));
  const selector = (await cluster.tenants.get(key)).status?.selector ?? '';
  const labels = Object.fromEntries(selector.split(',').map((pair) => pair.split('=') as [string, string]));
  const pods = ['one', 'two'].map((name) => ({ namespace, name: `${key.name}-${name}` }));
  for (const pod of pods)
    await cluster.of(POD).create({ metadata: { ...pod, labels }, spec: { containers: [{ name: 'server', image: 'carrel:dev' }] } });

  await annotate(key, { 'carrel.dev/rotate': 'all' });
  await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Rotating');
  const held = await secretsOf(key);
  for (const pod of pods) await cluster.of(POD).delete(pod, { gracePeriodSeconds: 0 });
  await waitFor('the steps that wait for time', async () => {
    const steps = await stepsOf(key);
    return steps['database'] === undefined && steps['redis'] === undefined && steps['storage'] === 'both' && steps['signing'] === 'signs';
  });
  const during = await waitFor('the Secrets of these steps', async () => {
    const found = await secretsOf(key);
    return found.nextPassword === undefined && found.kids[1] === before.kids[0] && found;
  });
  const [formerDuring, newDuring] = [await opens(before), await opens(during)];
  await wait(key);
  await annotate(key, { touched: '1' });
  await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Current');
  const after = await waitFor('one signing key', async () => {
    const found = await secretsOf(key);
    return found.kids.length === 1 && found;
  });

  expect(held).toEqual(before);
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

test('a word that names no credential changes nothing and is named; a credential that is too old is replaced without being asked for', async () => {
  const key = await readyTenant({ credentials: { rotateAfter: '2h' } });
  const before = await secretsOf(key);

  await annotate(key, { 'carrel.dev/rotate': 'redis,password' });
  const refused = await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'RotationUnknown');
  const same = await secretsOf(key);
  await annotate(key, { 'carrel.dev/rotate': null });
  await condition(cluster.tenants, key, 'CredentialsReady', 'True', 'Current');
  await registry.query(`UPDATE registry.tenants SET state_changed_at = state_changed_at - interval '2 hours' WHERE slug = $1`, [key.name]);
  await annotate(key, { touched: '1' });
  await waitFor('another password', async () => (await secretsOf(key)).redisUrl !== before.redisUrl);

  expect(conditionOf(refused, 'CredentialsReady')?.message).toBe(
    'annotation carrel.dev/rotate: password is none of database, redis, storage, signing, all',
  );
  expect(conditionOf(refused, 'Ready')?.status).toBe('True');
  expect(same).toEqual(before);
});

test('a server that knows the next password goes on when it becomes the password, and one that knows neither is refused', async () => {
  const key = await readyTenant();
  const { databaseUrl } = await secretsOf(key);
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
