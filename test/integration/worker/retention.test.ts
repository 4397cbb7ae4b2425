import { expect, test } from '@jest/globals';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { startWorkerProcess } from '../../support/programs/worker-process.ts';
import { platformSuite } from '../../support/suites/worker-suite.ts';

const platform = platformSuite();

const roleOf = ({ slug }: TestTenant): string => `tenant_${slug}`;

/** `count` events of `age` ago, each delivered and then replayed. */
async function past(tenant: TestTenant, count: number, age: string): Promise<void> {
  await tenant.db.query(
    `WITH event AS (
       INSERT INTO carrel.events (uuid, event, payload) SELECT gen_random_uuid(), 'file.created', $3 FROM generate_series(1, $1)
       RETURNING id
     ) INSERT INTO carrel.deliveries (event_id, endpoint) SELECT id, $2::uuid FROM event CROSS JOIN generate_series(1, 2)`,
    [count, systemRandom.uuid(), age],
  );
  await platform.pool.query(`UPDATE carrel.events SET created_at = now() - $1::interval WHERE payload = $1 AND tenant = $2`, [
    age,
    roleOf(tenant),
  ]);
  await platform.pool.query(`UPDATE carrel.deliveries SET state = 'delivered', due_at = NULL WHERE tenant = $1`, [
    roleOf(tenant),
  ]);
}

const remainingRows = ({ db }: TestTenant) =>
  db.query(
    `SELECT e.payload AS age, count(DISTINCT e.id) AS events, count(d.id) AS deliveries
     FROM carrel.events e JOIN carrel.deliveries d ON d.tenant = e.tenant AND d.event_id = e.id GROUP BY e.payload`,
  );

const audited = (tenant: TestTenant, count: number, age: string): Promise<unknown> =>
  platform.pool.query(
    `INSERT INTO "${roleOf(tenant)}".audit_entries (at, is_system, action, target_type, target_name, changes)
     SELECT now() - $2::text::interval, true, 'file.purge', 'file', $2::text, '{}' FROM generate_series(1, $1)`,
    [count, age],
  );
const agesOf = ({ db }: TestTenant) =>
  db.query(`SELECT target_name AS age, count(*) AS entries FROM audit_entries WHERE target_name LIKE '% days %' GROUP BY 1`);

test('events and deliveries are kept for 30 days, entries of the audit log for 365, however many, of all tenants', async () => {
  const [one, other] = [await platform.tenant(), await platform.tenant()];
  await past(one, 2_500, '30 days 1 minute');
  await past(one, 3, '29 days 23 hours');
  await past(other, 1, '90 days');
  const left = async (): Promise<number> =>
    (await platform.pool.query(`SELECT FROM carrel.events WHERE created_at < now() - interval '30 days'`)).length;
  expect(await left()).toBe(2_501);

  await audited(one, 1_200, '365 days 1 minute');
  await audited(one, 2, '364 days 23 hours');
  await audited(other, 1, '400 days 1 hour');

  const worker = await startWorkerProcess(platform);

  await waitFor('the old events to go', async () => (await left()) === 0);
  await waitFor(
    'the old audit entries to go',
    async () => (await agesOf(other)).length === 0 && (await agesOf(one)).length === 1,
  );
  expect(await agesOf(one)).toEqual([{ age: '364 days 23 hours', entries: 2 }]);
  expect(await remainingRows(one)).toEqual([{ age: '29 days 23 hours', events: 3, deliveries: 6 }]);
  expect(await remainingRows(other)).toEqual([]);
  expect(await platform.pool.query('SELECT FROM carrel.deliveries WHERE tenant = $1', [roleOf(one)])).toHaveLength(6);
  await worker.end('SIGTERM');
});
