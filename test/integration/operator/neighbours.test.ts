import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { TENANT } from '../../../pkg/operator/kinds.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { createMetrics, type Metrics } from '../../../pkg/runtime/metrics.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { runOperator } from '../../support/cluster/operator-in-process.ts';
import {
  children,
  conditionOf,
  follow,
  playPods,
  ready,
  secretValues,
  tenantOf,
  unique,
  webhookOf,
} from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { stores, type TestStores } from '../../support/backends/stores.ts';
import { range, waitFor } from '../../support/wait.ts';

/** A neighbour waits for about a second; without the operator's bounds, for a minute or more. */
const SOON_MS = 45_000;
const TENANTS = 40;

/** Two shards: `main` has the registry, `other` is reached through a relay that can go silent. */
const { cluster, namespace } = operatorSuite({ operator: false });
const metrics = createMetrics('operator');
let [main, other] = [{} as TestStores, {} as TestStores];
let relay: Relay;
let shardsDir: string;

beforeAll(async () => {
  [main, other] = await Promise.all([stores(), stores()]);
  relay = await relayTo(new URL(other.postgres.operator));
  shardsDir = await mkdtemp(join(testBackends().scratch, 'shards-'));
  for (const [name, from] of Object.entries({ main, other }))
    await cp(join(from.shardsDir, 'main'), join(shardsDir, name), { recursive: true });
  const url = new URL(other.postgres.operator);
  [url.hostname, url.port] = ['127.0.0.1', String(relay.port)];
  await writeFile(join(shardsDir, 'other', 'url'), url.href);
  playPods(cluster);
  runOperator(cluster, { stores: { ...main, shardsDir }, metrics, shardPollMs: 500 });
}, 180_000);
afterAll(async () => {
  await cluster.close?.();
  relay?.close();
  await Promise.all([main.stop?.(), other.stop?.()]);
}, 60_000);

interface Relay {
  readonly port: number;
  /** Silent: connections end, and new ones get no answer. */
  setSilent(isSilent: boolean): void;
  close(): void;
}

async function relayTo({ hostname, port }: URL): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    if (isSilent) return;
    const onward = connect(Number(port), hostname).on('error', () => socket.destroy());
    socket.on('close', () => onward.destroy());
    onward.on('close', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const end = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port: (server.address() as AddressInfo).port,
    setSilent: (silent) => {
      isSilent = silent;
      end();
    },
    close: () => {
      server.close();
      end();
    },
  };
}

async function tenantsOn(shard: string, count: number): Promise<ObjectKey[]> {
  const keys = range(count).map(() => ({ namespace, name: unique() }));
  await Promise.all(keys.map(({ name }) => cluster.tenants.create(tenantOf(namespace, name, { database: { shard } }))));
  for (const key of keys) await ready(cluster.tenants, key);
  return keys;
}

async function addHook(tenant: ObjectKey): Promise<ObjectKey> {
  const key = { namespace, name: unique() };
  const spec = { tenantRef: { name: tenant.name }, url: 'https://example.com/', events: ['file.created'] };
  await cluster.webhooks.create(webhookOf(namespace, key.name, spec));
  return key;
}

const isUp = async (of: Metrics = metrics): Promise<Record<string, number>> =>
  Object.fromEntries(
    ((await of.getSingleMetric('carrel_shard_up')?.get())?.values ?? []).map(({ labels, value }) => [labels['shard'], value]),
  );

/** The shards as the metric has them, once a poll has met shard `other` so: its tenants may meet it before. */
const untilUp = (value: number): Promise<Record<string, number>> =>
  waitFor(`carrel_shard_up ${value} of the other shard`, async () => {
    const shards = await isUp();
    return shards['other'] === value && shards;
  });

/** Locks the table again as soon as its session is ended. The tenant's server could do this. */
async function lockAgainAndAgain(tenant: ObjectKey, table: string): Promise<{ end(): Promise<void> }> {
  const { url = '' } = (await secretValues(cluster, namespace, `${tenant.name}-database`)) ?? {};
  const locked = Promise.withResolvers<void>();
  let client: Client | undefined;
  const over = new AbortController();
  const hold = async (): Promise<void> => {
    client = new Client({ connectionString: url });
    const ended = new Promise<void>((resolve) => client?.on('error', () => resolve()).on('end', () => resolve()));
    await client.connect();
    await client.query('SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0');
    await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    locked.resolve();
    await ended;
  };
  const running = (async () => {
    while (!over.signal.aborted) await hold().catch(() => undefined);
  })();
  await locked.promise;
  return {
    end: async () => {
      over.abort();
      await client?.end();
      await running;
    },
  };
}

test('a tenant that locks its own tables again and again keeps no neighbour waiting', async () => {
  const [hostile, neighbour] = (await tenantsOn('main', 2)) as [ObjectKey, ObjectKey];
  const pool = new SqlPool({ url: main.postgres.operator, poolSize: 1, log: silentLogger });
  const waiting = async (): Promise<number> =>
    (await pool.query(`SELECT FROM pg_locks WHERE NOT granted AND relation = '"tenant_${hostile.name}".webhooks'::regclass`))
      .length;
  const lock = await lockAgainAndAgain(hostile, 'webhooks');
  try {
    await Promise.all([addHook(hostile), addHook(hostile)]);
    await waitFor('both places of the controller to wait for the lock', async () => (await waiting()) === 2);

    const startedAt = performance.now();
    await ready(cluster.webhooks, await addHook(neighbour));

    expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  } finally {
    await lock.end();
    await pool.close();
  }
}, 360_000);

test('a silent shard is shown by the metric and its tenants, delays no other tenant, and its return is shown too', async () => {
  const lost = await tenantsOn('other', TENANTS);
  const [neighbour] = (await tenantsOn('main', 1)) as [ObjectKey];
  const names = new Set(lost.map(({ name }) => name));
  const { store, stop } = follow(cluster, TENANT, namespace);
  cluster.onClose(stop);
  const all = (status: string, reason: string): boolean =>
    store.list().filter((tenant) => {
      const found = conditionOf(tenant, 'DatabaseReady');
      return names.has(tenant.metadata.name) && found?.status === status && found.reason === reason;
    }).length === TENANTS;
  const standby = createMetrics('standby');
  runOperator(cluster, { stores: { ...main, shardsDir }, metrics: standby, shardPollMs: 500 });
  const before = await isUp();

  relay.setSilent(true);
  await waitFor('the tenants of the shard to say so', () => all('False', 'PostgresUnavailable'));
  const during = await untilUp(0);
  const startedAt = performance.now();
  await cluster.of(children.SERVICE).delete(neighbour);
  await waitFor('the repair', async () => (await cluster.of(children.SERVICE).find(neighbour)) !== undefined);
  const tookMs = performance.now() - startedAt;
  relay.setSilent(false);
  const backAt = performance.now();
  await waitFor('the tenants to go on', () => all('True', 'Migrated'));
  const backMs = performance.now() - backAt;

  expect([before, during, await untilUp(1), await isUp(standby)]).toEqual([
    { main: 1, other: 1 },
    { main: 1, other: 0 },
    { main: 1, other: 1 },
    {},
  ]);
  expect(tookMs).toBeLessThan(SOON_MS);
  expect(backMs).toBeLessThan(120_000);
}, 360_000);
