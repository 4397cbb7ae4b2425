import { expect, test } from '@jest/globals';
import { silentLogger as log } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { newTenant } from '../../support/backends/tenant.ts';

const { running, pool, shard } = storeSuite();
const worker = fixture(
  async () => new SqlPool({ url: running.postgres.worker, poolSize: 1, log }),
  (made) => made.close(),
);

test('a sample of a few pages shows whether a large outbox is full: by number, bytes and deliveries', async () => {
  const { role } = await newTenant(running, shard);
  await pool.query('UPDATE carrel.tenants SET events_limit = 40000 WHERE role = $1', [role]);
  const isFull = async (share: number) =>
    (await pool.query<{ exceeds: boolean }>('SELECT carrel.outbox_exceeds($2, $1) AS exceeds', [role, share]))[0]?.exceeds;
  const add = (count: number, bytes: number) =>
    pool.query(
      `INSERT INTO carrel.events (tenant, uuid, event, payload)
       SELECT $1::name, gen_random_uuid(), 'file.created', repeat('x', $3::int) FROM generate_series(1, $2::int)`,
      [role, count, bytes],
    );
  const remove = (table: string) => pool.query(`DELETE FROM carrel.${table} WHERE tenant = $1`, [role]);

  await add(30_000, 100);
  const some = [await isFull(1), await isFull(0.55)];
  // The sample of 410,000.
  await pool.query(
    `INSERT INTO carrel.deliveries (tenant, id, event_id, endpoint, state, due_at) OVERRIDING SYSTEM VALUE
     SELECT $1::name, 1000000000 + n * 1000, (SELECT min(id) FROM carrel.events WHERE tenant = $1), gen_random_uuid(),
       'failed', NULL
     FROM generate_series(1, 410) n`,
    [role],
  );
  const byDeliveries = await isFull(1);
  await remove('deliveries');
  await add(15_000, 100);
  const byEvents = await isFull(1);
  const [row] = await pool.query<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT carrel.outbox_exceeds(1, '${role}')`,
  );
  await remove('events');
  await add(12_000, 10_000);
  const byBytes = await isFull(1);
  await remove('events');

  expect({ some, byDeliveries, byEvents, byBytes, none: await isFull(1) }).toEqual({
    some: [false, true],
    byDeliveries: true,
    byEvents: true,
    byBytes: true,
    none: false,
  });
  const { 'Shared Hit Blocks': hit = Infinity, 'Shared Read Blocks': read = Infinity } = row?.['QUERY PLAN'][0].Plan ?? {};
  expect(hit + read).toBeLessThan(500);
});

test('a sample by pages finds a tenant that no sample of ids has, and the worker trims that outbox alone', async () => {
  const [evader, neighbour] = [await newTenant(running, shard), await newTenant(running, shard)];
  const roles = [evader.role, neighbour.role];
  await pool.query('UPDATE carrel.tenants SET events_limit = 30000 WHERE role = ANY ($1)', [roles]);
  const add = (role: string, count: number, from: number) =>
    pool.query(
      `INSERT INTO carrel.events (tenant, id, uuid, event, payload) OVERRIDING SYSTEM VALUE
       SELECT $1::name, $3::bigint + n, gen_random_uuid(), 'file.created', repeat('x', 250) FROM generate_series(1, $2::int) n
       WHERE ($3::bigint + n) % 1000 <> 0`,
      [role, count, from],
    );
  await add(evader.role, 80_000, 2_000_000_000);
  await add(neighbour.role, 25_000, 3_000_000_000);
  const count = async (role: string) =>
    (await pool.query<{ n: number }>('SELECT count(*) AS n FROM carrel.events WHERE tenant = $1', [role]))[0]?.n ?? 0;

  const [row] = await pool.query<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }] }>(
    'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT FROM carrel.sampled_outboxes()',
  );
  const [pages] = await pool.query<{ of: number }>(`SELECT pg_relation_size('carrel.events') / 8192 AS of`);
  const byIds = await pool.query<{ exceeds: boolean }>('SELECT carrel.outbox_exceeds(0.7, $1) AS exceeds', [evader.role]);
  await worker.query('SELECT carrel.trim_outbox()');
  const marked = await pool.query('SELECT role, outbox_full AS full FROM carrel.tenants WHERE role = ANY ($1) ORDER BY role', [
    roles,
  ]);
  for (let turn = 0; turn < 8; turn += 1) await worker.query('SELECT carrel.trim_outbox()');

  const { 'Shared Hit Blocks': hit = Infinity, 'Shared Read Blocks': read = Infinity } = row?.['QUERY PLAN'][0].Plan ?? {};
  // The bound includes the first reads of the catalogs.
  expect(hit + read).toBeLessThan(2_500);
  expect(pages?.of).toBeGreaterThan(4_000);
  expect(byIds).toEqual([{ exceeds: false }]);
  expect(marked).toEqual(
    roles.map((role) => ({ role, full: role === evader.role })).toSorted((a, b) => (a.role < b.role ? -1 : 1)),
  );
  expect([await count(evader.role), await count(neighbour.role)]).toEqual([9_920, 24_975]);
});
