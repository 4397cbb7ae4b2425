import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { isAlreadyExists, isNotFound } from '../../../pkg/kube/errors.ts';
import { LEASE } from '../../../pkg/kube/kinds.ts';
import type { Kind, KubeObject } from '../../../pkg/kube/object.ts';
import { controllerOf } from '../../../pkg/kube/owner.ts';
import { TENANT, type Tenant } from '../../../pkg/operator/kinds.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { newClient } from '../../../pkg/store/s3/objects.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { range, waitFor } from '../../support/wait.ts';
import {
  children,
  condition,
  conditionOf,
  follow,
  ready,
  secretValues,
  startOperator,
  tenantOf,
  unique,
  type OperatorProcess,
} from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

/** `make faults` creates 200 (TENANTS). */
const TENANTS = Number(process.env['TENANTS'] ?? 12);
const LIMIT_MS = 60_000 + 3_000 * TENANTS;

const { cluster, stores, namespace, readyTenant } = operatorSuite({ ownStores: true, operator: false });
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  operator = await startOperator(cluster, { stores });
});

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
    await ready(cluster.tenants, key); // tried again every few seconds
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

test(
  `while operator, API server and etcd are killed with -9 at random moments, ${TENANTS} Tenants become Ready, and ` +
    'nothing is there twice',
  async () => {
    const keys = range(TENANTS).map(() => ({ namespace, name: unique('kill') }));
    const api = cluster.api as ApiServer;
    const kills: Record<string, () => Promise<void>> = {
      operator: () => Promise.resolve(),
      'API server': async () => {
        await api.stopApiServer();
        await api.startApiServer();
      },
      etcd: async () => {
        await api.stopEtcd();
        await api.startEtcd();
      },
    };
    const creation = Promise.all(
      keys.map((key, i) =>
        untilDone(() => cluster.tenants.create(tenantOf(namespace, key.name, i % 2 === 0 ? { deletionPolicy: 'Delete' } : {}))),
      ),
    );
    const goes = keys.slice(0, 3);
    for (const [round, kill] of Object.values(kills).entries()) {
      // No condition to wait for: the moment of the kill is to be any.
      await new Promise((resolve) => setTimeout(resolve, (200 + systemRandom.fraction() * 900) * Math.max(1, TENANTS / 50)));
      await Promise.all([operator?.end('SIGKILL'), kill()]);
      if (round === 1) {
        await creation;
        await Promise.all(goes.map((key) => untilDone(() => cluster.tenants.delete(key))));
      }
      // Another lease each time: the old one runs out by itself only after 15 s, which another test measures.
      await cluster.client
        .request({ method: 'DELETE', path: '/apis/coordination.k8s.io/v1/namespaces/carrel-system/leases/carrel-operator' })
        .catch(() => undefined);
      operator = await startOperator(cluster, { stores });
    }

    const stay = keys.slice(3);
    const names = new Set(stay.map(({ name }) => name));
    const { store, stop } = follow(cluster, TENANT, namespace);
    const isReady = (tenant: Tenant): boolean => conditionOf(tenant, 'Ready')?.status === 'True';
    await waitFor(
      'all of them to be Ready',
      () => store.list().filter((tenant) => names.has(tenant.metadata.name) && isReady(tenant)).length === names.size,
      LIMIT_MS,
    );
    await stop();
    await Promise.all(
      goes.map((key) => waitFor(`${key.name} to be gone`, async () => (await cluster.tenants.find(key)) === undefined)),
    );

    for (const { name } of stay.slice(0, 9)) {
      const { url = '' } = (await secretValues(cluster, namespace, `${name}-database`)) ?? {};
      const pool = new SqlPool({ url, poolSize: 1, log: silentLogger });
      expect(await pool.query('SELECT email FROM users WHERE NOT is_system')).toEqual([{ email: `admin@${name}.localhost` }]);
      await pool.close();
    }
    expect(await outsideOf(names)).toEqual({
      registered: names.size,
      schemas: names.size,
      roles: names.size,
      buckets: names.size,
    });
    for (const [kind, each] of [
      [children.DEPLOYMENT, 1],
      [children.SERVICE, 1],
      [children.INGRESS, 1],
      [children.SECRET, 5],
    ] as const) {
      const owned = (await cluster.of(kind as Kind<KubeObject>).list({ namespace })).filter(({ metadata }) =>
        names.has(controllerOf({ metadata })?.name ?? ''),
      );
      expect([kind.kind, owned.length]).toEqual([kind.kind, each * names.size]);
    }
  },
  LIMIT_MS + 120_000,
);

/** A call that may meet an API server which is down is made again; what was done already is fine. */
const untilDone = (call: () => Promise<unknown>): Promise<unknown> =>
  waitFor('an answer of the API server', async () => {
    try {
      await call();
    } catch (error) {
      if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
    }
    return true;
  });

/** Counts what exists outside of the cluster for tenants of these names. */
async function outsideOf(names: ReadonlySet<string>): Promise<Record<'registered' | 'schemas' | 'roles' | 'buckets', number>> {
  const pool = new SqlPool({ url: stores.postgres.operator, poolSize: 1, log: silentLogger });
  const count = async (sql: string): Promise<number> =>
    (await pool.query<{ name: string }>(sql)).filter(({ name }) => names.has(name.replace(/^(tenant_|carrel-)/, ''))).length;
  const admin = newClient(stores.s3);
  try {
    const { Buckets = [] } = await admin.send(new ListBucketsCommand({}));
    return {
      registered: await count('SELECT slug AS name FROM registry.tenants'),
      schemas: await count('SELECT nspname AS name FROM pg_namespace'),
      roles: await count('SELECT rolname AS name FROM pg_roles'),
      buckets: Buckets.filter(({ Name = '' }) => names.has(Name.replace(/^carrel-/, ''))).length,
    };
  } finally {
    admin.destroy();
    await pool.close();
  }
}

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
  // 17 s by the lease's times; the rest is a busy machine's. A lease that is not taken over is none within any time.
  expect(took).toBeLessThan(80_000);
  expect(leader).not.toBe('');
  expect(after).not.toBe(leader); // released, and not left to expire
});

test('a wrong setting is one clear line and exit 1', async () => {
  const broken = await startOperator(cluster, { stores, env: { CARREL_PLATFORM_KEYS: 'k1:short' } });
  await waitFor('the line', () => broken.output().includes('\n'));

  // Awaited by itself: the line may appear before the program has ended.
  expect(await broken.gone).toBe(1);
  expect(broken.output()).toMatch(/^operator: CARREL_PLATFORM_KEYS is not valid: key k1 is not 32 bytes in base64\. /);
  expect(broken.output()).toMatch(/\. Set it to .*\(docs\/operate\/settings\.md\)\.\n$/);
  expect(broken.output().trimEnd().split('\n')).toHaveLength(1);
});
