import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { pino } from 'pino';
import { longTransactions } from '../../../pkg/operator/long-transactions.ts';
import { watchShards } from '../../../pkg/operator/shard-changes.ts';
import { readShards, Shards } from '../../../pkg/operator/shards.ts';
import { systemClock as clock } from '../../../pkg/runtime/clock.ts';
import { ensureTenantDatabase } from '../../../pkg/store/postgres/provisioning.ts';
import { silentLogger as log } from '../../../pkg/runtime/log.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, Sealer } from '../../../pkg/runtime/sealing.ts';
import { stores, type TestStores } from '../../support/backends/stores.ts';
import { newTenant, operatorSide, type TenantLogin } from '../../support/backends/tenant.ts';
import { waitFor } from '../../support/wait.ts';

const metrics = createMetrics('test');
const lines: Record<string, unknown>[] = [];
const stopping = new AbortController();
let running: TestStores;
let side: Awaited<ReturnType<typeof operatorSide>>;
let follows: Promise<void>;
let shards: Shards;

beforeAll(async () => {
  running = await stores();
  side = await operatorSide(running);
  const sealer = new Sealer(parseSealingKeys(running.platformKeys), random);
  shards = new Shards({ shards: readShards(running.shardsDir), sealer, clock, random, log });
  const recorded = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  follows = watchShards(
    [longTransactions({ tenants: { size: 1 }, log: recorded, metrics, seconds: 2 })],
    { shards, clock, log, shardPollMs: 250, onTurn: () => Promise.resolve() },
    stopping.signal,
  );
});
afterAll(async () => {
  stopping.abort();
  await follows;
  await Promise.all([shards.close(), side.pool.close()]);
  await running.stop();
});

interface Session {
  readonly client: Client;
  /** Why it ended. */
  readonly ended: Promise<string>;
}

async function session(tenant: TenantLogin): Promise<Session> {
  const client = new Client({ connectionString: tenant.url });
  const ended = new Promise<string>((resolve) => client.on('error', (error) => resolve(error.message)));
  await client.connect();
  await client.query('SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0');
  return { client, ended };
}

const isAlive = ({ client }: Session): Promise<boolean> =>
  client.query('SELECT 1').then(
    () => true,
    () => false,
  );

test('a tenant’s transaction that runs or idles for too long is ended, and those that wait for its locks go on', async () => {
  const tenant = await newTenant(running, side.shard);
  const [idle, busy, resting, short] = await Promise.all([session(tenant), session(tenant), session(tenant), session(tenant)]);
  await idle.client.query('BEGIN; LOCK TABLE carrel.events IN ACCESS SHARE MODE');
  // The long statement itself: it never ends by itself within the test, and waits for nothing.
  const runs = busy.client.query('SELECT pg_sleep(600)').catch((error: Error) => error.message);
  const others = new Client({ connectionString: running.postgres.operator });
  await others.connect();
  await others.query('BEGIN');

  const migration = waitFor('the lock that a migration waits for', () =>
    side.pool.transaction((tx) => tx.query('LOCK TABLE carrel.events IN ACCESS EXCLUSIVE MODE')).then(() => true),
  );
  await Promise.all([idle.ended, migration]);

  expect(await runs).toMatch(/terminating connection due to administrator command|Connection terminated/);
  expect(await Promise.all([resting, short].map(isAlive))).toEqual([true, true]);
  expect((await others.query('SELECT 1 AS alive')).rows).toEqual([{ alive: 1 }]);
  // A session sees its end before the operator counts it.
  const ended = await waitFor('both ends to be counted', async () => {
    const counted = await metrics.getSingleMetric('carrel_tenant_sessions_ended_total')?.get();
    return counted && lines.length >= 2 ? counted : undefined;
  });
  expect(ended.values).toMatchObject([{ value: 2, labels: { reason: 'transaction' } }]);
  expect(lines.map(({ tenant: of, reason, state }) => `${String(of)} ${String(reason)} ${String(state)}`).toSorted()).toEqual([
    `${tenant.role} transaction active`,
    `${tenant.role} transaction idle in transaction`,
  ]);
  await Promise.all([resting, short].map(async ({ client }) => client.end()));
  await others.end();
});

test('a role whose limit shrinks keeps no more sessions than that', async () => {
  const tenant = await newTenant(running, side.shard);
  const open = await Promise.all(Array.from({ length: 12 }, () => session(tenant)));
  let ended = 0;
  for (const each of open) void each.ended.then(() => (ended += 1));

  await ensureTenantDatabase(side.shard, { ...tenant, connections: 4 });

  await waitFor('8 sessions to end', () => Promise.resolve(ended === 8));
  const alive = await Promise.all(open.map(isAlive));
  expect(alive.filter(Boolean)).toHaveLength(4);
  // A session has ended before whoever ended it hears of that.
  const reasons = () => lines.filter((line) => line['tenant'] === tenant.role).map(({ reason }) => reason);
  await waitFor('8 lines of the log', () => Promise.resolve(reasons().length === 8));
  expect(reasons()).toEqual(Array.from({ length: 8 }, () => 'limit'));
  await Promise.all(open.filter((_, index) => alive[index]).map(({ client }) => client.end()));
});

test('a role that may hold no connection keeps none', async () => {
  const tenant = await newTenant(running, side.shard);
  const open = await session(tenant);

  await ensureTenantDatabase(side.shard, { ...tenant, connections: 0 });

  expect(await open.ended).toMatch(/terminating connection|Connection terminated/);
  await expect(session(tenant)).rejects.toThrow('too many connections for role');
});
