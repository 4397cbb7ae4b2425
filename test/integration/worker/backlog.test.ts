import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { LeasedRows } from '../../../pkg/store/postgres/leases.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { deliveryPayload, DeliveryStore } from '../../../pkg/webhooks/delivery/delivery-store.ts';
import { fixture } from '../../support/fixture.ts';
import { range } from '../../support/wait.ts';
import { addWebhook } from '../../support/webhooks.ts';
import { platformSuite } from '../../support/worker-suite.ts';

const platform = platformSuite();
const asWorker = fixture(
  async () => new SqlPool({ url: platform.workerUrl, poolSize: 1, log: silentLogger }),
  (pool) => pool.close(),
);

test('a look for what is due, and a lease of it, read a few rows, of 5,000 that wait and of 5,000 that have ended, before Postgres knows that they are there', async () => {
  const tenant = await platform.tenant();
  const endpoint = await addWebhook(tenant);
  await platform.pool.query(
    `WITH event AS (
       INSERT INTO carrel.events (tenant, uuid, event, payload) SELECT $1, gen_random_uuid(), 'x', '{}' FROM generate_series(1, 10000) RETURNING id
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
    `WITH event AS (INSERT INTO carrel.events (uuid, event, payload) SELECT gen_random_uuid(), 'x', payload FROM unnest($1::text[]) AS payload RETURNING id)
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

async function planOfLook(tenant: string): Promise<string> {
  const plans: string[] = [];
  const explaining = {
    query: async <T>(sql: string, params?: readonly unknown[]): Promise<T[]> => {
      const rows = await asWorker.query<Record<string, string>>(`EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ${sql}`, params);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return [];
    },
  };
  const rows = new LeasedRows(explaining, { name: 'carrel.deliveries', columns: 'w.endpoint' });
  await rows.dueTenants({ limit: 64, perTenant: 8 });
  await rows.lease([{ tenant, most: 8, held: 0 }], { perTenant: 8, seconds: 4 });
  return plans.join('\n');
}
