import { expect, test } from '@jest/globals';
import { trimFullOutboxes } from '../../../pkg/events/retention.ts';
import { silentLogger as log } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { atEnd, fixture } from '../../support/suites/fixture.ts';
import { storeSuite } from '../../support/suites/store-suite.ts';
import { newTenant, type TenantLogin } from '../../support/backends/tenant.ts';

/*
 * How far a tenant’s role fills the shared outbox, tried with the tenant's own login.
 */
const { running, pool, shard } = storeSuite();
const opened: SqlPool[] = [];
const full = expect.stringContaining('Too many events of this institution wait');

const open = (url: string): SqlPool => {
  const made = new SqlPool({ url, poolSize: 1, log });
  opened.push(made);
  return made;
};
const as = ({ url }: TenantLogin): SqlPool => open(url);
const outcomeOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'allowed',
    (error: Error) => error.message,
  );
const worker = fixture(
  async () => new SqlPool({ url: running.postgres.worker, poolSize: 1, log }),
  (made) => made.close(),
);
/** Trims full outboxes as the worker does each minute. */
const trimFull = () =>
  trimFullOutboxes.run({ shards: new Map([['one', { db: worker }]]), log } as never, (error) => {
    throw error;
  });

atEnd(() => Promise.all(opened.map((each) => each.close())));

test('a tenant’s role fills the shared outbox and notes up to a bound, and writes again once they are trimmed', async () => {
  const tenant = await newTenant(running, shard);
  const own = as(tenant);
  await own.query('SET statement_timeout = 0'); // ten thousand rows may take a busy machine longer than a statement has
  await pool.query('UPDATE carrel.tenants SET events_limit = 2000 WHERE role = $1', [tenant.role]);
  const fill = (rows: number) =>
    `INSERT INTO carrel.events (uuid, event, payload) SELECT gen_random_uuid(), 'file.created', '{}'
     FROM generate_series(1, ${rows})`;
  const count = async (table: string) =>
    (await pool.query<{ n: number }>(`SELECT count(*) AS n FROM carrel.${table} WHERE tenant = $1`, [tenant.role]))[0]?.n;
  const trim = async (): Promise<unknown> =>
    worker.query('SELECT deleted FROM carrel.trim_outbox() WHERE tenant = $1', [tenant.role]);

  const outcomes: string[] = [];
  for (const _ of [1, 2, 3, 4]) outcomes.push(await outcomeOf(own.query(fill(1_500))));
  const events = await count('events');
  const trimmed = await trim();
  outcomes.push(await outcomeOf(own.query(fill(1))));
  const deliveries = `INSERT INTO carrel.deliveries (event_id, endpoint) SELECT id, gen_random_uuid()
     FROM carrel.events, generate_series(1, 10001)`;
  for (const _ of [1, 2]) await own.query(deliveries);
  outcomes.push(await outcomeOf(own.query(fill(1))));
  const underWay = [await trim(), await outcomeOf(own.query(fill(1)))];
  await pool.query(`UPDATE carrel.deliveries SET state = 'failed', due_at = NULL WHERE tenant = $1`, [tenant.role]);
  const ended = [await trim(), await outcomeOf(own.query(fill(1)))];
  const payload = `CASE WHEN n <= 30 THEN repeat('x', 200000) ELSE '{}' END`;
  const large = `
    INSERT INTO carrel.events (uuid, event, payload) SELECT gen_random_uuid(), 'file.created', ${payload}
    FROM generate_series(1, 1000) n`;
  const byBytes = [await outcomeOf(own.query(large)), await outcomeOf(own.query(fill(1)))];
  await trimFull();
  const after = [await count('events'), await outcomeOf(own.query(fill(1)))];
  const notes = await outcomeOf(
    own.query(
      `INSERT INTO carrel.unknown_deployments (managed_ref, slot, deployment_id) SELECT n::text, 0, 'd'
       FROM generate_series(1, 10001) n`,
    ),
  );
  const lifted = await outcomeOf(own.query('UPDATE carrel.tenants SET outbox_full = false'));
  const called = await outcomeOf(own.query('SELECT carrel.trim_outbox()'));

  expect(outcomes).toEqual(['allowed', 'allowed', full, full, 'allowed', full]);
  expect([events, trimmed]).toEqual([3_000, [{ deleted: 3_000 }]]);
  expect([underWay, ended]).toEqual([
    [[{ deleted: 0 }], full],
    [[{ deleted: 1 }], 'allowed'],
  ]);
  expect([byBytes, after]).toEqual([
    ['allowed', full],
    [0, 'allowed'],
  ]);
  expect(notes).toContain('More than 10000 notes');
  expect([lifted, called]).toEqual([expect.stringContaining('permission denied'), expect.stringContaining('permission denied')]);
});

test('a tenant’s role that takes back each statement which would find its outbox full has it found by the worker', async () => {
  const tenant = await newTenant(running, shard);
  const bystander = await newTenant(running, shard);
  await pool.query('UPDATE carrel.tenants SET events_limit = 400 WHERE role = ANY ($1)', [[tenant.role, bystander.role]]);
  const event = `
    INSERT INTO carrel.events (uuid, event, payload) SELECT gen_random_uuid(), 'file.created', '{}' FROM generate_series(1, `;
  const delivery = `
    INSERT INTO carrel.deliveries (event_id, endpoint) SELECT (SELECT min(e.id) FROM carrel.events e), gen_random_uuid()
    FROM generate_series(1, `;
  /** Until so many rows have got by. */
  const evade = (statement: string, rows: number) => `
    DO $$ DECLARE by_now int := 0; is_looked_at bool; BEGIN
      WHILE by_now < ${rows} LOOP
        BEGIN
          WITH added AS (${statement} RETURNING id) SELECT bool_or(id % 1000 = 0) INTO is_looked_at FROM added;
          IF is_looked_at THEN RAISE EXCEPTION 'taken back'; END IF;
          by_now := by_now + 100;
        EXCEPTION WHEN raise_exception THEN NULL;
        END;
      END LOOP;
    END $$`;
  const left = async (table: string, of = tenant) =>
    (await pool.query<{ n: number }>(`SELECT count(*) AS n FROM carrel.${table} WHERE tenant = $1`, [of.role]))[0]?.n;
  const insert = (of = tenant) => outcomeOf(as(of).query(`${event}1)`));
  const patient = as(tenant);
  await patient.query('SET statement_timeout = 0');

  await as(bystander).query(`${event}380)`);
  const got = [await outcomeOf(patient.query(evade(`${event}100)`, 700))), await left('events'), await insert()];
  await trimFull();
  const trimmed = [await left('events'), await insert()];
  await patient.query(evade(`${delivery}100)`, 9_000));
  const more = [await left('deliveries'), await insert()];
  await trimFull();
  const underWay = [await left('deliveries'), await insert()];

  expect(got).toEqual(['allowed', 700, 'allowed']);
  expect(trimmed).toEqual([0, 'allowed']);
  expect(more).toEqual([9_000, 'allowed']);
  expect(underWay).toEqual([9_000, full]);
  expect([await left('events', bystander), await insert(bystander)]).toEqual([380, 'allowed']);
});
