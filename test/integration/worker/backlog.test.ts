import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { LeasedRows } from '../../../pkg/store/postgres/leases.ts';
import { type Sql, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { type Delivery, deliveryPayload, DeliveryStore } from '../../../pkg/webhooks/delivery/delivery-store.ts';
import { ManualClock } from '../../support/clock.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addWebhook } from '../../support/clients/webhooks.ts';
import { platformSuite } from '../../support/suites/worker-suite.ts';

const platform = platformSuite();
const asWorker = fixture(
  async () => new SqlPool({ url: platform.workerUrl, poolSize: 4, log: silentLogger }),
  (pool) => pool.close(),
);

test('a look for due work and its lease read few rows of 5,000 waiting and 5,000 ended, without statistics', async () => {
  const tenant = await platform.tenant();
  const endpoint = await addWebhook(tenant);
  await platform.pool.query(
    `WITH event AS (
       INSERT INTO carrel.events (tenant, uuid, event, payload) SELECT $1, gen_random_uuid(), 'x', '{}'
       FROM generate_series(1, 10000) RETURNING id
     )
     INSERT INTO carrel.deliveries (tenant, event_id, endpoint, state, due_at)
     SELECT $1, id, $2, CASE WHEN id % 2 = 0 THEN 'pending' ELSE 'delivered' END, CASE WHEN id % 2 = 0 THEN now() END FROM event`,
    [`tenant_${tenant.slug}`, endpoint],
  );

  const plan = await planOfLook(`tenant_${tenant.slug}`);

  expect(plan).not.toMatch(/Seq Scan|Bitmap|Hash Join|Merge Join|deliveries_event_idx/);
  const read = Math.max(...[...plan.matchAll(/shared hit=(\d+)/g)].map(([, pages]) => Number(pages)));
  expect(read).toBeLessThan(400);
});

test('rows that are leased ahead bring payloads of a few KiB along, however large a tenant makes its events', async () => {
  const tenant = await platform.tenant();
  const payloads = ['x'.repeat(8 * 1024), ...range(31).map(() => 'é'.repeat(100_000))];
  await tenant.db.query(
    `WITH event AS (INSERT INTO carrel.events (uuid, event, payload) SELECT gen_random_uuid(), 'x', payload
       FROM unnest($1::text[]) AS payload RETURNING id)
     INSERT INTO carrel.deliveries (event_id, endpoint) SELECT id, $2 FROM event ORDER BY id`,
    [payloads, await addWebhook(tenant)],
  );
  const store = new DeliveryStore(asWorker, systemClock);

  const leased = await store.lease([{ tenant: `tenant_${tenant.slug}`, most: 32, held: 0 }], { perTenant: 8, seconds: 4 });

  const byId = leased.toSorted((a, b) => a.id - b.id);
  expect(byId.map(({ payload }) => payload)).toEqual([payloads[0], ...range(31).map(() => null)]);
  const read = await Promise.all(byId.slice(1).map((delivery) => deliveryPayload(asWorker, delivery)));
  expect(read).toEqual(payloads.slice(1));
});

const SENT = { at: '2026-01-01T00:00:00.000Z', status_code: 204, error: null };

test('an outcome whose row is free again is written while other outcomes wait for rows that are still locked', async () => {
  // Statements wait far longer for a lock than a busy machine takes for the outcome: one that waited with them would come too
  // late.
  let isPatient = false;
  const patient: Sql = {
    query: (sql, params) => {
      const longer = sql.replace(/set_config\('lock_timeout', '\w+', true\)/, "set_config('lock_timeout', '45s', true)");
      isPatient ||= longer !== sql;
      return asWorker.query(longer, params);
    },
  };
  const store = new DeliveryStore(patient, systemClock);
  const [first, second, third] = await leaseOf(store, 3);
  const written: number[] = [];
  const lock = await lockRows([first, second]);
  const short = await lockRows([third]);
  const ends = [first, second, third].map((delivery) =>
    store.end(delivery, 'delivered', SENT).then((isWritten) => isWritten && written.push(delivery.id)),
  );
  try {
    await waitFor('an outcome to wait for its row', async () => (await waitingFor([lock.pid, short.pid])) > 0);
    await short.release();

    await waitFor('the outcome of the row that is free', () => written.length > 0, 35_000);
    expect(written).toEqual([third.id]);
    expect(isPatient).toBe(true);
  } finally {
    await short.release();
    await lock.release();
  }
  await Promise.all(ends);
  expect(written.toSorted((a, b) => a - b)).toEqual([first.id, second.id, third.id]);
});

test('an outcome that was committed while its connection was lost is known as written, and is there once', async () => {
  let lost = 0;
  const losing: Sql = {
    query: async (sql, params) => {
      const rows = await asWorker.query(sql, params);
      if (sql.includes('SET state') && lost++ === 0)
        throw new StoreUnavailableError('postgres', new Error('the connection was lost'));
      return rows as never;
    },
  };
  const results: boolean[] = [];
  for (const write of [
    (store: DeliveryStore, delivery: Delivery) => store.end(delivery, 'delivered', SENT),
    (store: DeliveryStore, delivery: Delivery) => store.retry(delivery, { ...SENT, status_code: 500, error: 'no' }, 60_000),
    (store: DeliveryStore, delivery: Delivery) => store.end(delivery, 'canceled', null),
    (store: DeliveryStore, delivery: Delivery) => store.retry(delivery, null, 60_000),
  ]) {
    const store = new DeliveryStore(losing, systemClock);
    const [delivery] = await leaseOf(store, 1);
    lost = 0;
    results.push(await write(store, delivery));
    const [row] = await platform.pool.query<{ length: number }>(
      'SELECT jsonb_array_length(log) AS length FROM carrel.deliveries WHERE tenant = $1 AND id = $2',
      [delivery.tenant, delivery.id],
    );
    expect(row?.length).toBe(results.length <= 2 ? 1 : 0);
  }
  expect(results).toEqual([true, true, true, true]);
});

test('an outcome of a lease that has passed to another worker is not written, whatever that worker wrote', async () => {
  const store = new DeliveryStore(asWorker, systemClock);
  const [delivery] = await leaseOf(store, 1);
  await platform.pool.query('UPDATE carrel.deliveries SET leased_until = now() WHERE tenant = $1 AND id = $2', [
    delivery.tenant,
    delivery.id,
  ]);
  const [again] = await store.lease([{ tenant: delivery.tenant, most: 1, held: 0 }], { perTenant: 8, seconds: 60 });
  if (!again) throw new Error('the row was not leased again');

  const early = await store.end(delivery, 'delivered', SENT);
  const own = await store.end(again, 'delivered', { ...SENT, at: '2026-01-01T00:00:01.000Z' });

  expect([early, own, await store.end(delivery, 'delivered', SENT)]).toEqual([false, true, false]);
});

test('an outcome waits for Postgres for 10 s from the first loss of it', async () => {
  const clock = new ManualClock();
  let isLost = false;
  const store = new DeliveryStore(
    {
      query: async (sql, params) => {
        if (isLost) throw new StoreUnavailableError('postgres', new Error('no connection'));
        return (await asWorker.query(sql, params)) as never;
      },
    },
    clock,
  );
  const [delivery] = await leaseOf(store, 1);
  isLost = true;
  const failed: string[] = [];
  const end = store.end(delivery, 'delivered', SENT).catch((error: Error) => failed.push(error.name));

  await clock.advance(9_900);
  expect(failed).toEqual([]);
  await clock.advance(200);
  await end;
  expect(failed).toEqual(['StoreUnavailableError']);

  isLost = false;
  expect(await store.end(delivery, 'delivered', SENT)).toBe(true);
});

/** Due deliveries of a new tenant, leased for longer than a test lasts; in the order of their ids. */
async function leaseOf<const Count extends 1 | 3>(
  store: DeliveryStore,
  count: Count,
): Promise<Count extends 1 ? [Delivery] : [Delivery, Delivery, Delivery]> {
  const tenant = await platform.tenant();
  await tenant.db.query(
    `WITH event AS (INSERT INTO carrel.events (uuid, event, payload) SELECT gen_random_uuid(), 'x', '{}'
       FROM generate_series(1, $1) RETURNING id)
     INSERT INTO carrel.deliveries (event_id, endpoint) SELECT id, $2 FROM event ORDER BY id`,
    [count, await addWebhook(tenant)],
  );
  const rows = await store.lease([{ tenant: `tenant_${tenant.slug}`, most: count, held: 0 }], { perTenant: 8, seconds: 60 });
  return rows.toSorted((a, b) => a.id - b.id) as never;
}

async function lockRows(rows: readonly Delivery[]): Promise<{ pid: number; release: () => Promise<void> }> {
  const [locked, released] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
  const ended = platform.pool.transaction(async (tx) => {
    for (const { tenant, id } of rows)
      await tx.query('SELECT FROM carrel.deliveries WHERE tenant = $1 AND id = $2 FOR UPDATE', [tenant, id]);
    const [{ pid } = { pid: 0 }] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    locked.resolve(pid);
    await released.promise;
  });
  return {
    pid: await locked.promise,
    release: async () => {
      released.resolve();
      await ended;
    },
  };
}

async function waitingFor(pids: readonly number[]): Promise<number> {
  return (await platform.pool.query('SELECT FROM pg_stat_activity WHERE pg_blocking_pids(pid) && $1::int[]', [pids])).length;
}

async function planOfLook(tenant: string): Promise<string> {
  const plans: string[] = [];
  const explaining = {
    query: async <T>(sql: string, params?: readonly unknown[]): Promise<T[]> => {
      const rows = await asWorker.query<Record<string, string>>(`EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ${sql}`, params);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return [];
    },
  };
  const rows = new LeasedRows(explaining, {
    name: 'carrel.deliveries',
    statement: 'deliveries-lease',
    columns: 'w.endpoint',
    lanes: 'endpoint',
    tenantPredicate: `w.state = 'pending'`,
  });
  await rows.dueTenants({ limit: 64, perTenant: 8 });
  await rows.lease([{ tenant, most: 8, held: 0 }], { perTenant: 8, seconds: 4 });
  return plans.join('\n');
}
