import { beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { LEASE } from '../../../pkg/kube/kinds.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { range, waitFor } from '../../support/wait.ts';
import {
  children,
  condition,
  conditionOf,
  ready,
  secretValues,
  startOperator,
  tenantOf,
  unique,
  type OperatorProcess,
} from '../../support/operator.ts';
import { operatorSuite } from '../../support/operator-suite.ts';

const { cluster, stores, namespace, readyTenant } = operatorSuite({ ownStores: true, operator: false });
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  operator = await startOperator(cluster, { stores });
}, 60_000);

test('a Redis that forgot its users gets them again', async () => {
  const key = await readyTenant();
  const { url = '' } = (await secretValues(cluster, namespace, `${key.name}-redis`)) ?? {};
  const admin = new Redis(stores.redis.adminUrl, { lazyConnect: true, maxRetriesPerRequest: null });
  admin.on('error', () => undefined);
  const signsIn = async (): Promise<boolean> => {
    const client = new Redis(url, { lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.ping()) === 'PONG';
    } finally {
      client.disconnect();
    }
  };
  expect(await signsIn()).toBe(true);

  await admin.call('ACL', ['DELUSER', `tenant_${key.name}`]);
  await admin.call('ACL', ['SAVE']).catch(() => undefined);
  await stores.kill('valkey');

  await waitFor('the user to sign in again', () => signsIn().catch(() => false));
  admin.disconnect();
});

test.each([
  ['versitygw', 'StorageReady', 'ObjectStoreUnavailable', 'the object store does not answer; will retry'],
  ['valkey', 'RedisReady', 'RedisUnavailable', 'Redis does not answer; will retry'],
] as const)(
  'while %s is unavailable the condition says so, what does not need it goes on, and then the rest',
  async (program, type, reason, message) => {
    const key = { namespace, name: unique() };
    stores.signal(program, 'SIGSTOP');
    try {
      await cluster.tenants.create(tenantOf(namespace, key.name));
      const waiting = await condition(cluster.tenants, key, type, 'False', reason);

      expect(conditionOf(waiting, type)?.message).toBe(message);
      expect(conditionOf(waiting, 'Ready')).toMatchObject({ status: 'False', reason });
      expect(conditionOf(waiting, 'DatabaseReady')?.status).toBe('True');
      expect(conditionOf(waiting, 'Exposed')?.status).toBe('True');
      expect(conditionOf(waiting, 'WorkloadAvailable')).toMatchObject({ status: 'Unknown', reason: `WaitingFor${type}` });
    } finally {
      stores.signal(program, 'SIGCONT');
    }
    const backAt = performance.now();
    await ready(cluster.tenants, key);

    expect(performance.now() - backAt).toBeLessThan(60_000); // tried again every few seconds
  },
);

test('after Postgres is killed during the creation of tenants, all of them become Ready', async () => {
  const keys = range(6).map(() => ({ namespace, name: unique() }));
  await Promise.all(keys.map((key) => cluster.tenants.create(tenantOf(namespace, key.name))));
  await waitFor('the first to be begun', async () => {
    const tenants = await Promise.all(keys.map((key) => cluster.tenants.get(key)));
    return tenants.some(({ status }) => status?.conditions !== undefined);
  });

  await stores.kill('postgres');

  await Promise.all(keys.map((key) => ready(cluster.tenants, key)));
});

test('an operator that is killed with -9 at random moments continues where it was, and duplicates nothing', async () => {
  const keys = range(12).map(() => ({ namespace, name: unique() }));
  await Promise.all(
    keys.map((key, i) => cluster.tenants.create(tenantOf(namespace, key.name, { deletionPolicy: i % 2 === 0 ? 'Delete' : 'Retain' }))),
  );
  const goes = keys.slice(0, 3);
  for (const round of range(3)) {
    // No condition to wait for: the moment of the kill is to be any.
    await new Promise((resolve) => setTimeout(resolve, 200 + systemRandom.fraction() * 900));
    await operator?.end('SIGKILL');
    if (round === 1) await Promise.all(goes.map((key) => cluster.tenants.delete(key)));
    // Another lease each time: the old one runs out by itself only after 15 s, which another test measures.
    await cluster.client
      .request({ method: 'DELETE', path: '/apis/coordination.k8s.io/v1/namespaces/carrel-system/leases/carrel-operator' })
      .catch(() => undefined);
    operator = await startOperator(cluster, { stores });
  }

  await Promise.all(keys.slice(3).map((key) => ready(cluster.tenants, key)));
  await Promise.all(goes.map((key) => waitFor(`${key.name} to be gone`, async () => (await cluster.tenants.find(key)) === undefined)));

  for (const { name } of keys.slice(3)) {
    const { url = '' } = (await secretValues(cluster, namespace, `${name}-database`)) ?? {};
    const pool = new SqlPool({ url, poolSize: 1, log: silentLogger });
    expect(await pool.query('SELECT email FROM users WHERE NOT is_system')).toEqual([{ email: `admin@${name}.localhost` }]);
    await pool.close();
  }
  const owned = await cluster.of(children.DEPLOYMENT).list({ namespace });
  expect(owned.filter(({ metadata }) => keys.slice(3).some(({ name }) => name === metadata.name))).toHaveLength(9);
}, 180_000);

const holder = async (): Promise<string | undefined> =>
  (await cluster.of(LEASE).get({ namespace: 'carrel-system', name: 'carrel-operator' })).spec?.holderIdentity;

test('a standby takes over within a lease of the leader being killed; a leader that is stopped hands over at once', async () => {
  const standby = await startOperator(cluster, { stores });
  await waitFor('the standby', () => standby.output().includes('started'));
  await operator?.end('SIGKILL');
  const killedAt = performance.now();
  const first = await readyTenant();
  const took = performance.now() - killedAt;

  operator = await startOperator(cluster, { stores });
  await waitFor('the next standby', () => operator?.output().includes('started') ?? false);
  const leader = await holder();
  const code = await standby.end('SIGTERM');
  const after = await holder();
  await cluster.tenants.patch(first, { spec: { replicas: 2 } });
  await ready(cluster.tenants, first);

  expect(code).toBe(0);
  // 17 s by the lease's times; the rest is a busy machine's.
  expect(took).toBeLessThan(40_000);
  expect(leader).not.toBe('');
  expect(after).not.toBe(leader); // released, and not left to expire
});

test('a wrong setting is one clear line and exit 1', async () => {
  const broken = await startOperator(cluster, { stores, env: { CARREL_PLATFORM_KEYS: 'k1:short' } });
  await waitFor('the line', () => broken.output().includes('\n'));

  expect(await broken.end()).toBe(1);
  expect(broken.output()).toMatch(
    /^operator: CARREL_PLATFORM_KEYS is not valid: key k1 is not 32 bytes in base64\. Set it to .*\(docs\/operate\.md\)\.\n$/,
  );
});
