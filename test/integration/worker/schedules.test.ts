import { describe, expect, test } from '@jest/globals';
import { offsetOf } from '../../../pkg/schedules/tick.policy.ts';
import { everyHour, everyYear } from '../../support/data/crons.ts';
import { range, untilServed, waitFor } from '../../support/wait.ts';
import { workerInProcess } from '../../support/programs/worker-in-process.ts';
import { startWorkerProcess } from '../../support/programs/worker-process.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { scheduleRuns } from './schedule-runs.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);

const MINUTE_MS = 60_000;
const { create, shown, runsOf, pass, passUntilDue, ended, nextRun } = scheduleRuns(platform, tenant);
const ticksOf = (id: string) =>
  tenant.db.query<{ tick: Date; task: string | null }>(
    'SELECT k.tick, k.task FROM schedule_ticks k JOIN schedules s ON s.id = k.schedule_id WHERE s.uuid = $1 ORDER BY k.tick',
    [id],
  );

test('a schedule runs when it is due, once, and is due again at the time that it shows', async () => {
  const id = await create();
  const { next_run_at: next } = await shown(id);
  const run = await nextRun(id);
  const after = await shown(id);

  expect(run).toMatchObject({ kind: 'recount_usage', state: 'succeeded', result: { corrected: 0 }, progress: { total: 0 } });
  expect(after.last_run).toEqual({ job_id: run.id, state: 'succeeded', at: run.created_at });
  expect(after.next_run_at).toBe(next);
  expect(await ticksOf(id)).toEqual([{ tick: expect.any(Date), task: run.id }]);
  const metrics = await worker.metrics();
  expect(metrics).toMatch(/carrel_schedule_ticks_total\{outcome="run",program="worker"\} [1-9]/);
  expect(metrics).toMatch(/carrel_schedule_lateness_seconds_count\{program="worker"\} [1-9]/);
});

test('runs begin as long after the minute as the tenant’s offset says, which is below a minute', async () => {
  const { next_run_at } = await shown(await create());

  expect(Date.parse(next_run_at) % MINUTE_MS).toBe(offsetOf(tenant.slug));
  expect(offsetOf(tenant.slug)).toBeLessThan(MINUTE_MS);
});

test('two workers make one run of a tick, and so does one that takes the job twice', async () => {
  const other = await startWorkerProcess(platform);
  const ids = await Promise.all(range(10).map(() => create()));
  for (const id of ids) {
    await platform.pool.query(
      `INSERT INTO carrel.work (tenant, kind, payload, due_at)
       SELECT tenant, kind, payload, due_at FROM carrel.work, generate_series(1, 3)
       WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = $1`,
      [id],
    );
  }
  await Promise.all(ids.map((id) => passUntilDue(id)));
  for (const id of ids) await waitFor('a run', async () => (await runsOf(id)).length > 0);
  await waitFor('the jobs that are due', async () => {
    const due = await platform.pool.query(`SELECT FROM carrel.work WHERE kind = 'schedules.tick' AND due_at <= now()`);
    return due.length === 0;
  });
  await other.end('SIGTERM');

  expect(await Promise.all(ids.map(async (id) => [(await runsOf(id)).length, (await ticksOf(id)).length]))).toEqual(
    ids.map(() => [1, 1]),
  );
  const waiting = await platform.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM carrel.work WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = ANY ($1)
     GROUP BY payload`,
    [ids],
  );
  expect(waiting.map(({ count }) => count)).toEqual(ids.map(() => 1));
});

test('a worker that is killed at a tick leaves one run, whichever worker goes on', async () => {
  const id = await create();
  const [locked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = tenant.db.transaction(async (tx) => {
    await tx.query('SELECT FROM schedules WHERE uuid = $1 FOR UPDATE', [id]);
    await tx.query(`UPDATE schedules SET next_tick = now() - interval '1 minute' WHERE uuid = $1`, [id]);
    locked.resolve();
    await over.promise;
  });
  await locked.promise;
  await platform.pool.query(
    `UPDATE carrel.work SET due_at = now() WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = $1`,
    [id],
  );
  await waitFor('the worker to wait for the schedule', async () => {
    const [work] = await platform.pool.query(`SELECT FROM carrel.work WHERE payload ->> 'schedule' = $1 AND fence IS NOT NULL`, [
      id,
    ]);
    return work !== undefined;
  });
  await worker.end('SIGKILL');
  over.resolve();
  await holding;
  await worker.start();
  await waitFor('a run', async () => (await runsOf(id)).length > 0);
  await ended((await runsOf(id))[0].id);

  expect([(await runsOf(id)).length, (await ticksOf(id)).length]).toEqual([1, 1]);
});

describe('runs that were missed', () => {
  test('are caught up with a single one', async () => {
    const id = await create({ cron: everyHour() });
    await nextRun(id, 120 * MINUTE_MS);
    const { next_run_at, skipped_runs } = await shown(id);

    expect([(await runsOf(id)).length, skipped_runs]).toEqual([1, 0]);
    expect(Date.parse(next_run_at) - Date.now()).toBeGreaterThan(0);
    expect(Date.parse(next_run_at) - Date.now()).toBeLessThanOrEqual(60 * MINUTE_MS);
  });

  test('are left out without catch_up', async () => {
    const id = await create({ cron: everyHour(), catch_up: false });
    await passUntilDue(id, 120 * MINUTE_MS);
    await waitFor('the next time to be ahead', async () => Date.parse((await shown(id)).next_run_at) > Date.now());

    expect([await runsOf(id), (await ticksOf(id)).map(({ task }) => task)]).toEqual([[], [null]]);
    expect(await nextRun(id)).toMatchObject({ state: 'succeeded' });
  });
});

describe('a schedule whose job is lost is due again when a worker starts', () => {
  const jobsOf = (id: string) =>
    platform.pool.query<{ isDead: boolean }>(
      `SELECT due_at = 'infinity' AS "isDead" FROM carrel.work WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = $1
       ORDER BY due_at`,
      [id],
    );
  /** A worker of a release that does not know schedules, for a day. */
  const unknown = async (ids: readonly string[]): Promise<void> => {
    await worker.end('SIGTERM');
    const older = workerInProcess(platform, { queues: [{ name: 'work', perTenant: 4, concurrency: 4 }], processors: [] });
    for (const id of ids) await passUntilDue(id, 120 * MINUTE_MS);
    const wait = (what: string, state: string) =>
      waitFor(what, async () => {
        const sql = `SELECT FROM carrel.work WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = ANY ($1) AND ${state}`;
        return (await platform.pool.query(sql, [ids])).length === ids.length;
      });
    await wait('the jobs to be put back', `last_error LIKE 'not understood since%' AND leased_until IS NULL`);
    await platform.pool.query(
      `UPDATE carrel.work SET due_at = now(),
       last_error = regexp_replace(last_error, 'since [^ ]+Z', 'since 2020-01-01T00:00:00Z')
       WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = ANY ($1)`,
      [ids],
    );
    await wait('dead letters', `due_at = 'infinity'`);
    await older.close();
  };

  test('it was a dead letter: what was missed is caught up with, or counted', async () => {
    const [caughtUp, leftOut, gone] = [
      await create({ cron: everyHour() }),
      await create({ cron: everyHour(), catch_up: false }),
      await create(),
    ];
    await unknown([caughtUp, leftOut, gone]);
    await tenant.admin.delete(`/schedules/${gone}`);
    await worker.start();
    for (const id of [caughtUp, leftOut])
      await waitFor('the next time to be ahead', async () => Date.parse((await shown(id)).next_run_at) > Date.now());

    expect([(await runsOf(caughtUp)).length, (await shown(caughtUp)).missed_runs]).toEqual([1, 0]);
    expect([await runsOf(leftOut), (await shown(leftOut)).missed_runs, (await ticksOf(leftOut)).map(({ task }) => task)]).toEqual(
      [[], 1, [null]],
    );
    const missed = /carrel_schedule_ticks_total\{outcome="missed",program="worker"\} 1/;
    await waitFor('the count of what was missed', async () => missed.test(await worker.metrics()));
    for (const id of [caughtUp, leftOut]) expect(await jobsOf(id)).toEqual([{ isDead: false }, { isDead: true }]);
    expect(await jobsOf(gone)).toEqual([{ isDead: true }]);
    await platform.pool.query(`DELETE FROM carrel.work WHERE due_at = 'infinity'`);
  });

  test('it was deleted before its time came: the run is on time', async () => {
    const id = await create();
    await platform.pool.query(`DELETE FROM carrel.work WHERE payload ->> 'schedule' = $1`, [id]);
    await worker.end('SIGTERM');
    await worker.start();
    await waitFor('a job for the next run', async () => {
      const sql = `SELECT FROM carrel.work WHERE payload ->> 'schedule' = $1 AND due_at = $2`;
      return (await platform.pool.query(sql, [id, (await shown(id)).next_run_at])).length === 1;
    });

    expect(await runsOf(id)).toEqual([]);
  });
});

test('a tick that finds the run before active is skipped and counted', async () => {
  const id = await create();
  const { body: run } = await tenant.admin.post(`/schedules/${id}/run`);
  await ended(run.id);
  await tenant.db.query(`UPDATE tasks SET state = 'running', ended_at = NULL WHERE uuid = $1`, [run.id]);
  await passUntilDue(id);
  await waitFor('the tick', async () => (await ticksOf(id)).length > 0);

  expect(await shown(id)).toMatchObject({ skipped_runs: 1, last_run: { job_id: run.id, state: 'running' } });
  expect((await ticksOf(id))[0]?.task).toBeNull();
  await tenant.db.query(`UPDATE tasks SET state = 'succeeded', ended_at = now() WHERE uuid = $1`, [run.id]);
  expect((await nextRun(id)).id).not.toBe(run.id);
});

test('a clock that is set back by two hours runs nothing twice', async () => {
  const id = await create({ cron: everyHour() });
  const run = await nextRun(id);
  await pass(id, -120 * MINUTE_MS);
  await platform.pool.query(
    `UPDATE carrel.work SET due_at = now() WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = $1`,
    [id],
  );
  await waitFor('the job to be due later', async () => {
    const [work] = await platform.pool.query(`SELECT FROM carrel.work WHERE payload ->> 'schedule' = $1 AND due_at > now()`, [
      id,
    ]);
    return work !== undefined;
  });

  expect((await runsOf(id)).map((each: { id: string }) => each.id)).toEqual([run.id]);
  const { next_run_at } = await shown(id);
  expect(Date.parse(next_run_at) - Date.now()).toBeGreaterThan(60 * MINUTE_MS);
});

test('one that is not active, or is deleted, runs no more', async () => {
  const [off, gone] = [await create(), await create()];
  await passUntilDue(off, -10_000);
  await tenant.admin.patch(`/schedules/${off}`, { active: false });
  await tenant.admin.delete(`/schedules/${gone}`);
  await platform.pool.query(
    `UPDATE carrel.work SET due_at = now() WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = ANY ($1)`,
    [[off, gone]],
  );
  await waitFor('the jobs to be done', async () => {
    const left = await platform.pool.query(
      `SELECT FROM carrel.work WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = ANY ($1)`,
      [[off, gone]],
    );
    return left.length === 0;
  });

  expect([await runsOf(off), await ticksOf(off)]).toEqual([[], []]);
});

describe('a run has the rights that whoever saved the schedule last has then', () => {
  test('a former administrator’s fails with forbidden, and so does that of a deleted one', async () => {
    const [ada, eve] = [await tenant.user({ roles: ['admin'] }), await tenant.user({ roles: ['admin'] })];
    const [hers, gone] = [await create(), await create()];
    await ada.api.patch(`/schedules/${hers}`, { name: 'of Ada' });
    await eve.api.patch(`/schedules/${gone}`, { name: 'of Eve' });
    await tenant.admin.patch(`/users/${ada.user.id}`, { roles: ['member'] });
    await tenant.admin.delete(`/users/${eve.user.id}`);

    for (const id of [hers, gone]) expect(await nextRun(id)).toMatchObject({ state: 'failed', error: { code: 'forbidden' } });
    await tenant.admin.patch(`/schedules/${gone}`, { name: 'of the administrator' });
    expect(await nextRun(gone)).toMatchObject({ state: 'succeeded' });
  });

  test.each([
    ['batch', { operation: 'delete', filter: { search: true, q: 'draft' } }],
    ['export_folder', { keep: 1 }],
  ])('a former administrator’s %s does nothing, though as a member they may do so themselves', async (kind, given) => {
    const former = await tenant.user({ roles: ['admin'] });
    const folder = (await former.api.post('/folders', { name: 'drafts' })).body.id;
    const file = (
      await untilServed(() =>
        former.api.upload('/files', { name: 'draft', file: Buffer.from('x'), fields: { folder_id: folder } }),
      )
    ).body.id;
    const wanted = kind === 'export_folder' ? { ...given, folder_id: folder } : given;
    const { body } = await former.api.post('/schedules', { name: 'x', kind, cron: everyYear(), arguments: wanted });
    await tenant.admin.patch(`/users/${former.user.id}`, { roles: ['member'] });

    expect(await nextRun(body.id)).toMatchObject({ state: 'failed', error: { code: 'forbidden' } });
    expect((await former.api.get(`/files/${file}`)).body.deleted_at ?? null).toBeNull();
  });

  test('a batch does what they may do to what its filter matches then', async () => {
    const [admin, other] = [await tenant.user({ roles: ['admin'] }), await tenant.user()];
    const folder = (await admin.api.post('/folders', { name: 'drafts' })).body.id;
    const foreign = (await untilServed(() => other.api.upload('/files', { name: 'draft', file: Buffer.from('x') }))).body.id;
    const given = { operation: 'delete', filter: { folder_id: folder } };
    const { body } = await admin.api.post('/schedules', { name: 'Drafts', kind: 'batch', cron: everyYear(), arguments: given });
    await untilServed(() => admin.api.upload('/files', { name: 'draft', file: Buffer.from('x'), fields: { folder_id: folder } }));
    const run = await nextRun(body.id);

    expect(run).toMatchObject({
      kind: 'batch',
      state: 'succeeded',
      result: { operation: 'delete', bytes: 1 },
      progress: { done: 1, failed: 0 },
    });
    expect((await admin.api.get(`/jobs/${run.id}/items`)).body.data).toHaveLength(1);
    expect((await other.api.get(`/files/${foreign}`)).status).toBe(200);
  });
});
