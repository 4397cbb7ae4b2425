/**
 * Measures the cost of events and deliveries where there are very many: `node test/bench/outbox-at-scale.ts <URL of a superuser
 * in an empty database> [events]`, 20,000,000 if left out, each with a delivery. It takes half an hour and 40 GB. Results:
 * docs/decisions/jobs-and-webhooks.md.
 */
import { deleteExpired } from '../../pkg/events/retention.ts';
import { systemClock } from '../../pkg/runtime/clock.ts';
import { silentLogger } from '../../pkg/runtime/log.ts';
import { systemRandom } from '../../pkg/runtime/random.ts';
import { Database } from '../../pkg/store/postgres/database.ts';
import { type Sql, SqlPool } from '../../pkg/store/postgres/pool.ts';
import { ensureShard, ensureTenantDatabase, migrateTenant, WORKER_ROLE } from '../../pkg/store/postgres/provisioning.ts';
import { DeliveryQuery } from '../../pkg/webhooks/deliveries.schema.ts';
import { countReplayable, dueOf, listDeliveries, replayNext } from '../../pkg/webhooks/deliveries.sql.ts';
import { DeliveryStore } from '../../pkg/webhooks/delivery/delivery-store.ts';
import { statisticsOf } from '../../pkg/webhooks/statistics/statistics.ts';

const [URL_OF_SUPERUSER = '', COUNT = '20000000'] = process.argv.slice(2);
const EVENTS = Number(COUNT);
const TENANTS = 300;
/** A real tenant has a twentieth of all events; the others share the rest equally. */
const BIG_OF = 20;
const DAYS = 31;
const PER_STATEMENT = 500_000;
const SLUG = 'big';
const BIG = `tenant_${SLUG}`;
const PASSWORD = systemRandom.hex(16);
const WEBHOOK = 'a0000000-0000-4000-8000-000000000001';
const CREATED_AT = `now() - (${EVENTS} - n) * interval '${(DAYS * 86_400) / EVENTS} s'`;
const TABLES = ['events', 'deliveries'];

const time = { clock: systemClock, random: systemRandom };
const owner = new SqlPool({ url: URL_OF_SUPERUSER, poolSize: 4, queryTimeoutMs: 0, log: silentLogger });
const urlOf = (role: string): string => Object.assign(new URL(URL_OF_SUPERUSER), { username: role, password: PASSWORD }).href;
const worker = new SqlPool({ url: urlOf(WORKER_ROLE), poolSize: 4, queryTimeoutMs: 0, log: silentLogger });
const tenant = new Database({ url: urlOf(BIG), poolSize: 2, queryTimeoutMs: 0, log: silentLogger });
try {
  await ensureShard({ pool: owner, ...time }, { workerPassword: PASSWORD });
  await ensureTenantDatabase({ pool: owner, ...time }, { slug: SLUG, tenantId: '7', password: PASSWORD, connections: 10 });
  await migrateTenant({ pool: owner, ...time }, { slug: SLUG, tenantId: '7' });
  const [there] = await owner.query('SELECT FROM carrel.events LIMIT 1');
  if (!there) await fill();
  await look('with all of them');
  await expire('the first day', 30);
  await look('with a day less, before vacuum');
  for (const table of TABLES) await timed(`vacuum of ${table}`, () => owner.query(`VACUUM carrel.${table}`));
  await look('after vacuum');
} finally {
  await Promise.all([worker.close(), owner.close(), tenant.close()]);
}

/** Without indexes and keys, which are made afterwards, so that it is known how long each takes. */
async function fill(): Promise<void> {
  const constraints = await owner.query<{ table: string; name: string; definition: string; kind: string }>(
    `SELECT c.conrelid::regclass::text AS table, c.conname AS name, pg_get_constraintdef(c.oid) AS definition,
       c.contype::text AS kind
     FROM pg_constraint c WHERE c.conrelid IN ('carrel.events'::regclass, 'carrel.deliveries'::regclass)
       AND c.contype IN ('p', 'u', 'f')
     ORDER BY c.contype = 'f' DESC`,
  );
  for (const { table, name } of constraints) await owner.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  const indexes = await owner.query<{ name: string; definition: string }>(
    `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
     WHERE i.indrelid IN ('carrel.events'::regclass, 'carrel.deliveries'::regclass)`,
  );
  for (const { name } of indexes) await owner.query(`DROP INDEX ${name}`);
  for (const table of TABLES) await owner.query(`ALTER TABLE carrel.${table} DISABLE TRIGGER USER`);
  await timed(`${EVENTS} events and as many deliveries`, () => Promise.all([insertAll(eventsOf), insertAll(deliveriesOf)]));
  for (const table of TABLES) await owner.query(`SELECT setval(pg_get_serial_sequence('carrel.${table}', 'id'), $1)`, [EVENTS]);
  await owner.query(
    `INSERT INTO ${BIG}.webhooks (uuid, url, events, secret)
     VALUES ($1, 'https://receiver.example.org', ARRAY['file.created'], '')`,
    [WEBHOOK],
  );
  await owner.query(
    `INSERT INTO carrel.delivery_statistics SELECT t, ${endpointOf('t', 'e')},
       date_trunc('hour', now(), 'UTC') - h * interval '1 hour', 100, 3,
       array_fill(3, ARRAY[33])
     FROM (SELECT DISTINCT ${tenantOf('n')} AS t FROM generate_series(0, ${BIG_OF * TENANTS}) n) t, generate_series(0, 2) e,
       generate_series(0, 190) h`,
  );
  const session = `SET maintenance_work_mem = '256MB'`;
  for (const { name, definition } of indexes)
    await timed(`index ${name}`, () =>
      owner.transaction(async (tx) => void (await tx.query(session), await tx.query(definition))),
    );
  for (const { table, name, definition, kind } of constraints.toReversed())
    await timed(`constraint ${name}`, () =>
      owner.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}${kind === 'f' ? ' NOT VALID' : ''}`),
    );
  for (const table of TABLES) {
    await owner.query(`ALTER TABLE carrel.${table} ENABLE TRIGGER USER`);
    await timed(`vacuum and analyze of ${table}`, () => owner.query(`VACUUM ANALYZE carrel.${table}`));
  }
  await sizes();
}

/** Inserts the oldest first; one in thirty-one is past its time. */
async function insertAll(statement: (from: number, to: number) => string): Promise<void> {
  for (let from = 1; from <= EVENTS; from += PER_STATEMENT)
    await owner.query(statement(from, Math.min(EVENTS, from + PER_STATEMENT - 1)));
}

function tenantOf(n: string): string {
  return `CASE WHEN ${n} % 1009 % ${BIG_OF} = 0 THEN '${BIG}' ELSE 'tenant_' || ${n} % ${TENANTS - 1} END`;
}

function endpointOf(of: string, n: string): string {
  return `CASE WHEN ${of} = '${BIG}' AND ${n} % 3 = 1 THEN '${WEBHOOK}' ELSE md5(${of} || ${n} % 3)::uuid END`;
}

function eventsOf(from: number, to: number): string {
  return `INSERT INTO carrel.events (tenant, id, uuid, event, payload, created_at) OVERRIDING SYSTEM VALUE
    SELECT ${tenantOf('n')}, n, gen_random_uuid(), 'file.created', repeat('x', 250), ${CREATED_AT}
    FROM generate_series(${from}, ${to}) n`;
}

/** Returns deliveries of which one in 100 failed. One in 1,000 of the newest day is due. */
function deliveriesOf(from: number, to: number): string {
  return `
    INSERT INTO carrel.deliveries (tenant, id, event_id, endpoint, state, due_at, created_at, ended_at, attempts, log)
    OVERRIDING SYSTEM VALUE
    SELECT t, n, n, ${endpointOf('t', '(n / 60)')},
      CASE WHEN is_due THEN 'pending' WHEN n % 100 = 7 THEN 'failed' ELSE 'delivered' END,
      CASE WHEN is_due THEN at END, at, CASE WHEN NOT is_due THEN at END, 1,
      '[{"at": "2026-01-31T12:00:00.000Z", "error": null, "status_code": 204}]'
    FROM (SELECT n, ${tenantOf('n')} AS t, ${CREATED_AT} AS at, n % 1000 = 0 AND n > ${EVENTS - EVENTS / DAYS} AS is_due
          FROM generate_series(${from}, ${to}) n) n`;
}

/** Deletes what is older than so many days, as the worker does; the first and the last batches, and the slowest. */
async function expire(what: string, days: number): Promise<void> {
  const plans: Plan[] = [];
  const began = performance.now();
  await deleteExpired(explained(worker, plans), days);
  const half = plans.slice(Math.floor(plans.length / 2));
  say(`deletion of ${what}`, `${plans.length} statements, ${((performance.now() - began) / 1000).toFixed(1)} s`);
  say('  the first', JSON.stringify(plans.slice(0, 3)));
  say('  after half of them', JSON.stringify(half.slice(0, 3)));
  say('  ms of each', spread(plans.map(({ ms }) => ms)));
}

async function look(when: string): Promise<void> {
  say(when, '');
  const store = (plans: Plan[]) => new DeliveryStore(explained(worker, plans), systemClock);
  await plan('tenants with due rows', (plans) => store(plans).dueTenants({ limit: 512, perTenant: 8 }));
  for (const role of [BIG, 'tenant_1']) {
    await plan(`a lease of 72 rows of ${role}`, (plans) =>
      store(plans).lease([{ tenant: role, most: 72, held: 0 }], { perTenant: 8, seconds: 4 }),
    );
    await owner.query('UPDATE carrel.deliveries SET leased_until = NULL, fence = NULL WHERE tenant = $1 AND due_at IS NOT NULL', [
      role,
    ]);
  }
  await plan('a look for full outboxes', (plans) =>
    explained(worker, plans).query('SELECT tenant, deleted FROM carrel.trim_outbox()'),
  );
  await plan('a count of a tenant of a twentieth', (plans) =>
    explained(owner, plans).query(`SELECT carrel.outbox_counted('${BIG}', 10000000, now() + interval '1 min')`),
  );
  await plan('how many are due', (plans) => store(plans).statistics());
  const query = (of: object) => DeliveryQuery.parse(of);
  await plan('the newest 50 of a webhook', (plans) => listDeliveries(explained(tenant, plans), WEBHOOK, query({})));
  await plan('the newest 50 that failed', (plans) =>
    listDeliveries(explained(tenant, plans), WEBHOOK, query({ status: 'failed' })),
  );
  await plan('statistics of a webhook', (plans) => statisticsOf(explained(tenant, plans), WEBHOOK).catch(() => null));
  await plan('due of a webhook', (plans) => dueOf(explained(tenant, plans), WEBHOOK, 16));
  const ago = (d: number): string => new Date(Date.now() - d * 86_400_000).toISOString();
  const range = { webhook: WEBHOOK, states: ['failed', 'canceled'] as const, position: [ago(7), 0] as const, until: ago(0) };
  await plan('the count of a replay of 7 days', (plans) => countReplayable(explained(tenant, plans), range));
  await plan('a step of a replay', (plans) => replayNext(explained(tenant, plans), { ...range, limit: 16 }));
  const insert = `
    WITH e AS (INSERT INTO carrel.events (uuid, event, payload) SELECT gen_random_uuid(), 'file.created', repeat('x', 250)
      FROM generate_series(1, $2::int) RETURNING id)
    INSERT INTO carrel.deliveries (event_id, endpoint) SELECT id, $1 FROM e`;
  await plan('one event', (plans) => explained(tenant, plans).query(insert, [WEBHOOK, 1]));
  await plan('500 events, none of which is the sample', (plans) => explained(tenant, plans).query(insert, [WEBHOOK, 500]));
  await plan('1,000 events, of which one is the sample', (plans) => explained(tenant, plans).query(insert, [WEBHOOK, 1_000]));
  await owner.query(`DELETE FROM carrel.deliveries WHERE tenant = '${BIG}' AND due_at > now() - interval '1 minute'`);
  await sizes();
}

interface Plan {
  readonly ms: number;
  /** Pages of 8 KiB, read from disk among them; triggers are not in it. */
  readonly pages: number;
  readonly read: number;
  readonly triggersMs: number;
  readonly scans: string;
}

/** Runs a statement twice: the first time the pages may be on disk. */
async function plan(what: string, run: (plans: Plan[]) => Promise<unknown>): Promise<void> {
  for (const turn of ['first', 'again']) {
    const plans: Plan[] = [];
    // The statement returns a plan in place of rows, which the caller cannot map.
    await run(plans).catch((error: unknown) => (plans.length === 0 ? say(`  ${what}`, String(error)) : undefined));
    say(`  ${what}, ${turn}`, JSON.stringify(plans.at(-1)));
  }
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** Statements are explained as they run, and give `deleted` or nothing. */
function explained(sql: Sql, plans: Plan[]): Sql {
  return {
    query: async (text, params) => {
      if (/to_regclass/.test(text)) return sql.query(text, params);
      const [row] = await sql.query<{
        'QUERY PLAN': [
          { Plan: PlanNode & { 'Actual Rows': number }; 'Execution Time': number; Triggers: readonly { Time: number }[] },
        ];
      }>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, params);
      const [of] = row?.['QUERY PLAN'] ?? [];
      if (!of) throw new Error('no plan');
      plans.push({
        ms: Math.round(of['Execution Time'] * 10) / 10,
        pages: of.Plan['Shared Hit Blocks'] + of.Plan['Shared Read Blocks'],
        read: of.Plan['Shared Read Blocks'],
        triggersMs: Math.round(of.Triggers.reduce((sum, { Time }) => sum + Time, 0)),
        scans: [...new Set(scansOf(of.Plan))].join(', '),
      });
      return Array.from({ length: of.Plan['Actual Rows'] }, () => ({}) as never);
    },
  };
}

function scansOf(node: PlanNode): string[] {
  const { 'Node Type': type, 'Index Name': index, 'Relation Name': table, Plans = [] } = node;
  const own =
    /Scan/.test(type) && !/CTE|Function|Subquery|WorkTable|Bitmap Heap/.test(type) ? [index ?? `${type} of ${table}`] : [];
  return [...own, ...(type === 'Sort' ? ['sort'] : []), ...Plans.flatMap(scansOf)];
}

async function sizes(): Promise<void> {
  const rows = await owner.query<{ name: string; size: string }>(
    `SELECT relname AS name, pg_size_pretty(CASE relkind WHEN 'r' THEN pg_table_size(oid) ELSE pg_relation_size(oid) END) AS size
     FROM pg_class
     WHERE relnamespace = 'carrel'::regnamespace AND relkind IN ('r', 'i') AND relname ~ '^(events|deliver)'
     ORDER BY relkind DESC, relname`,
  );
  say('  sizes', rows.map(({ name, size }) => `${name} ${size}`).join(', '));
}

async function timed(what: string, run: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await run();
  say(what, `${((performance.now() - began) / 1000).toFixed(1)} s`);
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, worst ${at(1)}`;
}

function say(what: string, value: string): void {
  process.stdout.write(`${what}: ${value}\n`);
}
