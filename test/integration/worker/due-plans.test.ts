import { expect, test } from '@jest/globals';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { quoteLiteral, type Sql, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { releaseJobs } from '../../../pkg/store/postgres/provisioning.ts';
import { dueOf } from '../../../pkg/webhooks/deliveries.sql.ts';
import { DeliveryStore } from '../../../pkg/webhooks/delivery/delivery-store.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { platformSuite } from '../../support/suites/worker-suite.ts';

const platform = platformSuite();
const worker = fixture(
  async () => new SqlPool({ url: platform.workerUrl, poolSize: 1, log: silentLogger }),
  (pool) => pool.close(),
);
const TENANT = 'tenant_due-plans';
const STALLED = webhook(0);
const WAITING = 20_000;
/** Pages of 8 KiB: some for each of 51 webhooks and each row of a lease. A read of the backlog takes 20,000 or more. */
const FEW_PAGES = 2_500;

function webhook(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

/** Adds `count` deliveries to each webhook from `first` to `last`, due for an hour, or delivered. */
const add = (count: number, [first, last]: readonly [number, number], state: 'pending' | 'delivered') =>
  platform.pool.query(
    `WITH event AS (
       INSERT INTO carrel.events (tenant, uuid, event, payload) SELECT $1::name, gen_random_uuid(), 'user.created', '{}'
       FROM generate_series(1, $2::int) RETURNING id
     )
     INSERT INTO carrel.deliveries (tenant, event_id, endpoint, state, due_at)
     SELECT $1::name, id, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, $5::text,
       CASE WHEN $5::text = 'pending' THEN now() - interval '1 hour' END
     FROM event CROSS JOIN generate_series($3::int, $4::int) n`,
    [TENANT, count, first, last, state],
  );

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): string[] => [node['Node Type'], ...(node.Plans ?? []).flatMap(nodesOf)];

interface Explained {
  readonly 'QUERY PLAN': [{ readonly Plan: PlanNode }];
}

const EXPLAIN = 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)';

const literalOf = (param: unknown): string =>
  quoteLiteral(Array.isArray(param) ? `{${param.map((item) => JSON.stringify(String(item))).join(',')}}` : String(param));

/** A prepared statement gets a plan for its parameters at first, then one for all parameters. */
async function explainedForAll(sql: string, params: readonly unknown[]): Promise<Explained[]> {
  await worker.query('SET plan_cache_mode = force_generic_plan');
  await worker.query(`PREPARE looked_at AS ${sql}`);
  const rows = await worker.query<Explained>(`${EXPLAIN} EXECUTE looked_at (${params.map(literalOf).join(', ')})`);
  await worker.query('DEALLOCATE looked_at');
  await worker.query('RESET plan_cache_mode');
  return rows;
}

/** Returns the pages that statements of `run` read and write, and whether they scan a table. */
async function costOf(run: (sql: Sql) => Promise<unknown>, isForAll = false): Promise<{ pages: number; scansTable: boolean }> {
  const cost = { pages: 0, scansTable: false };
  await run({
    query: async (sql, params = []) => {
      const [row] = await (isForAll ? explainedForAll(sql, params) : worker.query<Explained>(`${EXPLAIN} ${sql}`, params));
      const plan = row?.['QUERY PLAN'][0].Plan;
      if (!plan) throw new Error('no plan');
      cost.pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      cost.scansTable ||= nodesOf(plan).includes('Seq Scan');
      return [{ count: 0 }] as never;
    },
  });
  return cost;
}

const aLease = (sql: Sql) =>
  new DeliveryStore(sql, systemClock).lease([{ tenant: TENANT, most: 72, held: 0 }], { perTenant: 8, seconds: 0 });

const STATEMENTS: readonly [what: string, run: (sql: Sql) => Promise<unknown>, isForAll?: boolean][] = [
  ['a look for tenants', (sql) => new DeliveryStore(sql, systemClock).dueTenants({ limit: 512, perTenant: 8 })],
  ['a lease', aLease],
  ['a prepared lease', aLease, true],
  ['how many of the stalled one are due', (sql) => dueOf(sql, STALLED, 16, TENANT)],
];

/** Runs each twice: the first run finds entries of rows that are gone, and marks them. */
async function costs(): Promise<Record<string, { pages: number; scansTable: boolean }>> {
  const found: Record<string, { pages: number; scansTable: boolean }> = {};
  for (const [what, run, isForAll] of STATEMENTS) {
    await costOf(run, isForAll);
    found[what] = await costOf(run, isForAll);
  }
  return found;
}

const cheap = Object.fromEntries(STATEMENTS.map(([what]) => [what, { pages: expect.any(Number), scansTable: false }]));

async function expectFewPages(when: string): Promise<void> {
  const found = await costs();
  expect([when, found]).toEqual([when, cheap]);
  for (const [what, { pages }] of Object.entries(found))
    expect([when, what, pages < FEW_PAGES || pages]).toEqual([when, what, true]);
}

test('a look for tenants and a lease read few rows of 50 webhooks beside a long backlog, whatever was planned', async () => {
  await add(400, [0, 50], 'delivered');
  await add(3, [1, 50], 'pending');
  await add(WAITING, [0, 0], 'pending');
  await expectFewPages('a backlog that the planner has not seen');

  await platform.pool.query('ANALYZE carrel.deliveries');
  await expectFewPages('a backlog that it has seen');

  await platform.pool.query(
    `UPDATE carrel.deliveries SET state = 'delivered', due_at = NULL, ended_at = now() WHERE tenant = $1 AND due_at IS NOT NULL`,
    [TENANT],
  );
  await platform.pool.query('VACUUM ANALYZE carrel.deliveries');
  await expectFewPages('no backlog after a long one');
  // The operator runs this statement in each reconcile of the tenant.
  expect((await costOf((sql) => releaseJobs(sql, TENANT))).pages).toBeLessThan(500);

  await add(3, [1, 50], 'pending');
  await add(WAITING, [0, 0], 'pending');
  await expectFewPages('a second backlog');

  await platform.pool.query('VACUUM carrel.deliveries');
  await expectFewPages('the second one, after vacuum');
});
