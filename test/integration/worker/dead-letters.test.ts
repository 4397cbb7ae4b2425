import { expect, test } from '@jest/globals';
import { insertJob } from '../../../pkg/store/postgres/job-store.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { workerSuite } from '../../support/suites/worker-suite.ts';

const { platform, worker } = workerSuite();

/** Makes the work that no worker understood a day older. */
const aDayLater = (tenant: TestTenant): Promise<unknown> =>
  platform.pool.query(
    `UPDATE carrel.work SET due_at = now(),
       last_error = regexp_replace(last_error, 'since [^ ]+Z', 'since '
       || to_char(now() - interval '25 hours', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
     WHERE tenant = $1 AND leased_until IS NULL AND due_at < 'infinity' AND last_error LIKE 'not understood since%'`,
    [`tenant_${tenant.slug}`],
  );

test('work that a worker does not understand waits for a day, then is kept as a counted dead letter with its error', async () => {
  const tenant = await platform.tenant();
  await tenant.db.transaction(async (tx) => {
    await insertJob(tx, { kind: 'objects.purge', payload: { keys: 'all of them' } });
    await insertJob(tx, { kind: 'no.such.kind', payload: {} });
  });
  const dead = () =>
    platform.pool.query<{ kind: string; error: string }>(
      `SELECT kind, last_error AS error FROM carrel.work WHERE due_at = 'infinity' AND tenant = $1 ORDER BY kind`,
      [`tenant_${tenant.slug}`],
    );
  const putBack = () =>
    platform.pool.query<{ wait: number }>(
      `SELECT extract(epoch FROM due_at - now())::float8 AS wait FROM carrel.work
       WHERE tenant = $1 AND attempts = 1 AND leased_until IS NULL AND last_error LIKE 'not understood since%'`,
      [`tenant_${tenant.slug}`],
    );
  const waits = (
    await waitFor('both to be put back', async () => {
      const rows = await putBack();
      return rows.length === 2 && rows;
    })
  ).map(({ wait }) => wait);
  expect(waits.filter((wait) => wait > 10.5)).toEqual([]);
  await aDayLater(tenant);
  await waitFor('two dead letters', async () => (await dead()).length === 2);
  expect((await dead()).map(({ error }) => error)).toEqual([
    expect.stringMatching(/^not understood since [^ ]+Z: no processor for the kind no\.such\.kind$/),
    expect.stringContaining('invalid payload of objects.purge: keys'),
  ]);
  expect(await worker.metrics()).toMatch(/carrel_work_dead\{[^}]*kind="no\.such\.kind"[^}]*\} 1/);
  await platform.pool.query(`DELETE FROM carrel.work WHERE due_at = 'infinity'`);
});

test('kinds that nobody knows, however many a tenant asks for, make few series of metrics', async () => {
  const tenant = await platform.tenant();
  await tenant.db.query(`INSERT INTO carrel.work (kind, payload) SELECT 'forged.' || n, '{}' FROM generate_series(1, 150) n`);
  const dead = () => platform.pool.query(`SELECT FROM carrel.work WHERE due_at = 'infinity' AND kind LIKE 'forged.%'`);
  const putBack = () =>
    platform.pool.query(
      `SELECT FROM carrel.work WHERE kind LIKE 'forged.%' AND last_error LIKE 'not understood%' AND leased_until IS NULL`,
    );
  await waitFor('150 to be put back', async () => (await putBack()).length === 150);
  await waitFor('150 dead letters', async () => {
    await aDayLater(tenant);
    return (await dead()).length === 150;
  });
  await tenant.db.transaction((tx) =>
    insertJob(tx, { kind: 'objects.sweep', payload: { day: '20200101' }, dueAt: new Date(Date.now() + 3_600_000) }),
  );

  const metrics = await worker.metrics();

  const series = (name: string): number =>
    metrics.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes('forged.')).length;
  expect([series('carrel_work_results_total'), series('carrel_work_duration_seconds_count')]).toEqual([0, 0]);
  expect(series('carrel_work_dead')).toBeLessThan(100);
  expect(metrics).toMatch(/carrel_work_results_total\{[^}]*kind="unknown"[^}]*result="dead"[^}]*\} \d+/);
  expect(metrics).toMatch(/carrel_work_waiting_seconds\{[^}]*kind="objects\.sweep"/);
  await platform.pool.query(`DELETE FROM carrel.work WHERE tenant = $1`, [`tenant_${tenant.slug}`]);
});
