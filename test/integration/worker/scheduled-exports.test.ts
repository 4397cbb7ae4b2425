import { expect, test } from '@jest/globals';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import type { Api } from '../../support/clients/api.ts';
import { everyYear } from '../../support/data/crons.ts';
import { range, untilServed, waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);

const DAY_MS = 86_400_000;
const MIB = 1 << 20;

interface Backup {
  readonly api: Api;
  readonly user: { readonly id: string };
  readonly folder: string;
  readonly schedule: string;
}
/** An administrator with a folder that holds a file of so many bytes, and a schedule that exports it once a year. */
async function backup({ keep = 2, bytes = 5 }: { keep?: number; bytes?: number } = {}): Promise<Backup> {
  const { api, user } = await tenant.user({ roles: ['admin'] });
  const folder = (await api.post('/folders', { name: 'papers' })).body.id;
  await untilServed(() => api.upload('/files', { name: 'a.bin', file: Buffer.alloc(bytes, 'x'), fields: { folder_id: folder } }));
  const made = await api.post('/schedules', {
    name: 'Backup',
    kind: 'export_folder',
    cron: everyYear(),
    arguments: { folder_id: folder, keep },
  });
  expect([made.status, made.body.arguments]).toEqual([201, { folder_id: folder, keep }]);
  return { api, user, folder, schedule: made.body.id };
}

const ended = (api: Api, id: string) =>
  waitFor('the end of the job', async () => {
    const { body } = await api.get(`/jobs/${id}`);
    return body.ended_at === null ? undefined : body;
  });
const run = async ({ api, schedule }: Backup) => ended(api, (await api.post(`/schedules/${schedule}/run`)).body.id);
const runsOf = async ({ api, schedule }: Backup) =>
  (await api.get(`/schedules/${schedule}/runs`, { query: { sort: 'created_at' } })).body.data;
const statusOf = async (job: { result: { url: string } }): Promise<number> =>
  (await tenant.anonymous.raw('GET', job.result.url)).status;
const keysOf = async (schedule: string): Promise<string[]> =>
  (await tenant.db.query<{ key: string }>('SELECT key FROM exports WHERE schedule = $1 ORDER BY id', [schedule])).map(
    ({ key }) => key,
  );
const objectGone = (key: string) => waitFor('the object to go', async () => (await tenant.objects.head(key)) === null);

/** Its time has come: Postgres' clock stays, so its times move back. */
async function due({ schedule }: Backup): Promise<void> {
  await platform.pool.query(
    `WITH moved AS (UPDATE "${tenantRole(tenant.slug)}".schedules SET next_tick = now() - interval '1 minute' WHERE uuid = $1)
     UPDATE carrel.work SET due_at = now() WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = $1::text`,
    [schedule],
  );
}

test('a folder is exported when it is due; the newest archives stay however old, older ones go with their objects', async () => {
  const of = await backup({ keep: 2 });
  await due(of);
  await waitFor('a run', async () => (await runsOf(of)).length > 0);
  const first = await ended(of.api, (await runsOf(of))[0].id);
  const [firstKey = ''] = await keysOf(of.schedule);
  const [second, third] = [await run(of), await run(of)];

  expect(first).toMatchObject({
    kind: 'export',
    state: 'succeeded',
    progress: { total: 1, done: 1 },
    result: { expires_at: null },
  });
  await objectGone(firstKey);
  expect([await statusOf(first), await statusOf(second), await statusOf(third)]).toEqual([404, 200, 200]);
  expect((await keysOf(of.schedule)).length).toBe(2);
  const shown = await runsOf(of);
  expect(shown.map(({ result }: { result: { expires_at: string | null } }) => result.expires_at === null)).toEqual([
    false,
    true,
    true,
  ]);
  // Neither the job that deletes expired archives nor that for old jobs takes one that is kept.
  await platform.pool.query(
    `INSERT INTO carrel.work (tenant, kind, payload)
     VALUES ($1, 'exports.expire', '{}'), ($1, 'tasks.expire', jsonb_build_object('task', $2::text)),
       ($1, 'tasks.expire', jsonb_build_object('task', $3::text))`,
    [tenantRole(tenant.slug), first.id, second.id],
  );
  await waitFor('the job of the archive that is gone to go', async () => (await of.api.get(`/jobs/${first.id}`)).status === 404);
  await waitFor('the job that deletes jobs to look again tomorrow', async () => {
    const sql = `
      SELECT FROM carrel.work WHERE kind = 'tasks.expire' AND payload ->> 'task' = $1 AND attempts > 0 AND due_at > now()`;
    return (await platform.pool.query(sql, [second.id])).length > 0;
  });
  expect([(await of.api.get(`/jobs/${second.id}`)).status, await statusOf(second)]).toEqual([200, 200]);
});

test('archives of schedules count for none of the ten exports that a person may have', async () => {
  const of = await backup({ keep: 12 });
  for (const _ of range(11)) await run(of);
  const own = await of.api.post('/exports', { folder_id: of.folder });

  expect(own.status).toBe(202);
  expect(Date.parse((await ended(of.api, own.body.id)).result.expires_at) - Date.now()).toBeLessThanOrEqual(DAY_MS);
});

test('a run says why it made no archive, and those that are there stay', async () => {
  const [trashed, taken, suspended] = [await backup(), await backup(), await backup()];
  for (const each of [trashed, taken, suspended]) await run(each);
  await trashed.api.delete(`/folders/${trashed.folder}`);
  const other = await tenant.user();
  const foreign = (await other.api.post('/folders', { name: 'not hers' })).body.id;
  await taken.api.patch(`/schedules/${taken.schedule}`, { arguments: { folder_id: foreign, keep: 2 } });
  await tenant.admin.patch(`/users/${suspended.user.id}`, { is_active: false });
  const byAdmin = { ...suspended, api: tenant.admin };

  for (const each of [trashed, taken]) {
    expect(await run(each)).toMatchObject({ state: 'failed', error: { code: 'not_found' }, result: null });
    expect((await runsOf(each)).map(({ state }: { state: string }) => state)).toEqual(['succeeded', 'failed']);
    expect(await statusOf((await runsOf(each))[0])).toBe(200);
  }
  expect(await run(byAdmin)).toMatchObject({ state: 'failed', error: { code: 'forbidden' } });
  const last = (await tenant.admin.get(`/schedules/${suspended.schedule}`)).body.last_run;
  expect(last.state).toBe('failed');
  await tenant.admin.patch(`/users/${suspended.user.id}`, { is_active: true });
  expect((await keysOf(suspended.schedule)).length).toBe(1);
});

test('archives of schedules stay within their person’s quota; those that a run replaces do not count', async () => {
  const of = await backup({ keep: 1, bytes: 2 * MIB });
  await tenant.admin.patch(`/users/${of.user.id}`, { storage_quota: 3 * MIB });
  const [first, second] = [await run(of), await run(of)];
  await of.api.patch(`/schedules/${of.schedule}`, { arguments: { folder_id: of.folder, keep: 2 } });
  const third = await run(of);

  expect([first.state, second.state]).toEqual(['succeeded', 'succeeded']);
  expect(third).toMatchObject({ state: 'failed', error: { code: 'quota_exceeded' }, result: null });
  // A job of its own deletes the archive that the second run replaced.
  await waitFor('the replaced archive to go', async () => (await keysOf(of.schedule)).length === 1);
  expect(await statusOf(second)).toBe(200);
});

test('the limit of the tenant bounds the archives of all its schedules', async () => {
  const of = await backup({ bytes: 2 * MIB });
  const used = await tenant.db.query<{ bytes: number }>('SELECT sum(storage_used)::bigint AS bytes FROM users');
  const archives = await tenant.db.query<{ bytes: number }>(
    'SELECT coalesce(sum(size), 0)::bigint AS bytes FROM exports WHERE schedule IS NOT NULL',
  );
  const limit = (bytes: number | null) =>
    platform.pool.query('UPDATE carrel.tenants SET storage_limit = $2 WHERE role = $1', [tenantRole(tenant.slug), bytes]);
  await limit(Number(used[0]?.bytes) + Number(archives[0]?.bytes) + MIB);
  const over = await run(of);
  await limit(null);

  expect(over).toMatchObject({ state: 'failed', error: { code: 'quota_exceeded' } });
  expect(await run(of)).toMatchObject({ state: 'succeeded' });
});

test('a smaller keep takes effect at once', async () => {
  const of = await backup({ keep: 3 });
  const runs = [await run(of), await run(of), await run(of)];
  await of.api.patch(`/schedules/${of.schedule}`, { arguments: { folder_id: of.folder, keep: 1 } });
  await waitFor('older archives to go', async () => (await keysOf(of.schedule)).length === 1);

  expect(await Promise.all(runs.map(statusOf))).toEqual([404, 404, 200]);
});

test.each([
  ['is deleted', (of: Backup) => of.api.delete(`/schedules/${of.schedule}`)],
  ['does something else', (of: Backup) => of.api.patch(`/schedules/${of.schedule}`, { kind: 'recount_usage' })],
])('the archives of a schedule that %s stay for 30 days, and their jobs say so', async (_what, change) => {
  const of = await backup();
  const job = await run(of);
  const [key = ''] = await keysOf(of.schedule);
  expect((await change(of)).status).toBeLessThan(300);
  const { result } = (await of.api.get(`/jobs/${job.id}`)).body;

  expect(Math.abs(Date.parse(result.expires_at) - Date.now() - 30 * DAY_MS)).toBeLessThan(60_000);
  expect(await statusOf(job)).toBe(200);
  const [expiry] = await platform.pool.query<{ dueAt: Date }>(
    `UPDATE carrel.work SET due_at = now() WHERE tenant = $1 AND kind = 'exports.expire' AND due_at > now() + interval '29 days'
     RETURNING due_at AS "dueAt"`,
    [tenantRole(tenant.slug)],
  );
  expect(expiry).toBeDefined();
  await tenant.db.query('UPDATE exports SET expires_at = now() WHERE schedule = $1', [of.schedule]);
  await platform.pool.query(`INSERT INTO carrel.work (tenant, kind, payload) VALUES ($1, 'exports.expire', '{}')`, [
    tenantRole(tenant.slug),
  ]);
  await objectGone(key);
});

test('a run that ends after its schedule was deleted leaves an archive that goes after 30 days', async () => {
  const of = await backup();
  await worker.end('SIGTERM');
  const { body } = await of.api.post(`/schedules/${of.schedule}/run`);
  await of.api.delete(`/schedules/${of.schedule}`);
  await worker.start();
  const job = await ended(of.api, body.id);

  expect(job.state).toBe('succeeded');
  expect(Math.abs(Date.parse(job.result.expires_at) - Date.now() - 30 * DAY_MS)).toBeLessThan(120_000);
});

test('archives are deleted with their person’s account; the schedule runs again once an administrator saves it', async () => {
  const of = await backup();
  const job = await run(of);
  const [key = ''] = await keysOf(of.schedule);
  await tenant.admin.delete(`/users/${of.user.id}`);
  await objectGone(key);
  const gone = { ...of, api: tenant.admin };

  expect(await statusOf(job)).toBe(404);
  expect(await keysOf(of.schedule)).toEqual([]);
  const failed = await tenant.admin.post(`/schedules/${of.schedule}/run`);
  expect(await ended(tenant.admin, failed.body.id)).toMatchObject({ state: 'failed', error: { code: 'forbidden' } });
  const folder = (await tenant.admin.post('/folders', { name: 'taken over' })).body.id;
  await tenant.admin.patch(`/schedules/${of.schedule}`, { arguments: { folder_id: folder, keep: 2 } });
  expect(await run(gone)).toMatchObject({ state: 'succeeded' });
});

test('another administrator sees that a run has succeeded, and not its link', async () => {
  const of = await backup();
  await run(of);

  expect(
    (await runsOf({ ...of, api: tenant.admin })).map(({ state, result }: { state: string; result: unknown }) => [state, result]),
  ).toEqual([['succeeded', null]]);
});

test('a worker that is killed while it ends a run leaves as many archives as the schedule keeps, the newest', async () => {
  const of = await backup({ keep: 1 });
  await run(of);
  const [old = ''] = await keysOf(of.schedule);
  const [locked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // Between the archive's row and the deletion of what it replaces.
  const holding = tenant.db.transaction(async (tx) => {
    await tx.query('SELECT FROM exports WHERE schedule = $1 FOR UPDATE', [of.schedule]);
    locked.resolve();
    await over.promise;
  });
  await locked.promise;
  const { body } = await of.api.post(`/schedules/${of.schedule}/run`);
  await waitFor('the worker to wait for the older archive', async () => {
    const waiting = await platform.pool.query(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%expired AS%'`,
    );
    return waiting.length > 0;
  });
  await worker.end('SIGKILL');
  expect(await keysOf(of.schedule)).toEqual([old]);
  over.resolve();
  await holding;
  await worker.start();
  const job = await ended(of.api, body.id);
  await objectGone(old);

  expect([job.state, await statusOf(job), (await keysOf(of.schedule)).length]).toEqual(['succeeded', 200, 1]);
});

test('a tick that finds the export before still running is skipped and counted, and the one after makes an archive', async () => {
  const of = await backup();
  await worker.end('SIGTERM');
  const { body } = await of.api.post(`/schedules/${of.schedule}/run`);
  await tenant.db.query(`UPDATE tasks SET state = 'running' WHERE uuid = $1`, [body.id]);
  await platform.pool.query(`UPDATE carrel.work SET due_at = now() + interval '1 hour' WHERE payload ->> 'task' = $1`, [body.id]);
  await worker.start();
  await due(of);
  await waitFor('the tick', async () => (await of.api.get(`/schedules/${of.schedule}`)).body.skipped_runs === 1);
  expect((await runsOf(of)).length).toBe(1);
  await platform.pool.query(`UPDATE carrel.work SET due_at = now() WHERE payload ->> 'task' = $1 AND kind = 'tasks.export'`, [
    body.id,
  ]);
  await ended(of.api, body.id);
  await due(of);
  await waitFor('the next run', async () => (await runsOf(of)).length === 2);

  expect(await ended(of.api, (await runsOf(of))[1].id)).toMatchObject({ state: 'succeeded' });
});
