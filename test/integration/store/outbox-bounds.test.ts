import { expect, test } from '@jest/globals';
import { storeSuite } from '../../support/store-suite.ts';
import { newTenant } from '../../support/tenant.ts';

const { running, pool, shard } = storeSuite();

test('whether an outbox of many events is full is seen by a sample of them: by their number, bytes and deliveries, for a few pages', async () => {
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
     SELECT $1::name, 1000000000 + n * 1000, (SELECT min(id) FROM carrel.events WHERE tenant = $1), gen_random_uuid(), 'failed', NULL
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
