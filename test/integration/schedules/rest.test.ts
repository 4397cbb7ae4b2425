import { expect, test } from '@jest/globals';
import { SCHEDULES_MAX } from '../../../pkg/schedules/schedules.policy.ts';
import { offsetOf } from '../../../pkg/schedules/tick.policy.ts';
import { startTenant } from '../../support/programs/server.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';

const tenant = serverSuite();

const NOBODY = '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11';
const NIGHTLY = { name: 'Nightly', kind: 'recount_usage', cron: '0 3 * * *', time_zone: 'Europe/Berlin' };
const create = async (fields: object = {}) => (await tenant.admin.post('/schedules', { ...NIGHTLY, ...fields })).body;
/** Jobs of the worker that wait for a schedule, the first that is due first. */
const ticksOf = (id: string) =>
  tenant.db.query<{ dueAt: Date }>(
    `SELECT due_at AS "dueAt" FROM carrel.work WHERE kind = 'schedules.tick' AND payload ->> 'schedule' = $1 ORDER BY due_at`,
    [id],
  );

test('a schedule shows what it does and when it runs next, which is when a worker looks at it', async () => {
  const { status, body, headers } = await tenant.admin.post('/schedules', NIGHTLY);

  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    ...NIGHTLY,
    arguments: {},
    active: true,
    catch_up: true,
    managed_by: null,
    managed_ref: null,
    last_run: null,
    next_run_at: expect.stringMatching(/Z$/),
    skipped_runs: 0,
    missed_runs: 0,
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
    etag: expect.stringMatching(/^[\w-]+$/),
  });
  expect(headers.etag).toBe(`"${body.etag}"`);
  const tick = new Date(Date.parse(body.next_run_at) - offsetOf(tenant.slug));
  const local = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin', timeStyle: 'medium' }).format(tick);
  expect([local, tick.getUTCMilliseconds()]).toEqual(['03:00:00', 0]);
  expect((await ticksOf(body.id)).map(({ dueAt }) => dueAt.toISOString())).toEqual([body.next_run_at]);
  expect((await tenant.admin.get(`/schedules/${body.id}`)).body).toEqual(body);
});

test('the times of an expression are shown before it is saved, and are those of a schedule that is', async () => {
  const weekdays = { cron: '0 3 * * mon-fri', time_zone: 'Asia/Kolkata' };
  const { status, body } = await tenant.admin.get('/schedules/times', { query: weekdays });
  const { next_run_at } = await create(weekdays);
  const one = await tenant.admin.get('/schedules/times', { query: { cron: '0 0 29 2 *', count: 1 } });

  const local = new Intl.DateTimeFormat('en-GB', {
    timeZone: 'Asia/Kolkata',
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
  expect([status, body.times.length, new Set(body.times).size, body.times[0]]).toEqual([200, 5, 5, next_run_at]);
  for (const time of body.times) expect(local.format(new Date(time))).toMatch(/^(Mon|Tue|Wed|Thu|Fri),? 03:00$/);
  expect(one.body.times).toEqual([expect.stringMatching(/-02-29T00:00/)]);
});

test('an expression or a time zone that does not exist is refused with what is wrong', async () => {
  const refused = await Promise.all(
    [{ cron: '0 25 * * *' }, { cron: '0 0 31 2 *' }, { cron: '0 3 * * *', time_zone: 'Mars/Olympus' }, { time_zone: 'UTC' }].map(
      (query) => tenant.admin.get('/schedules/times', { query }),
    ),
  );

  expect(refused.map(({ status, body }) => [status, body.details[0].field, body.details[0].message])).toEqual([
    [400, 'cron', expect.stringContaining('hour')],
    [400, 'cron', expect.stringContaining('never matches')],
    [400, 'time_zone', expect.stringContaining('IANA')],
    [400, 'cron', expect.any(String)],
  ]);
});

test('a change moves the next run; one that is not active has none', async () => {
  const { id, etag } = await create({ cron: '0 0 1 1 *' });
  const sooner = await tenant.admin.patch(`/schedules/${id}`, { cron: '* * * * *' }, { headers: { 'if-match': `"${etag}"` } });
  const stale = await tenant.admin.patch(`/schedules/${id}`, { name: 'x' }, { headers: { 'if-match': `"${etag}"` } });
  const off = await tenant.admin.put(`/schedules/${id}`, { active: false });
  const on = await tenant.admin.patch(`/schedules/${id}`, { active: true, time_zone: 'Asia/Kolkata' });

  expect(sooner.status).toBe(200);
  expect(Date.parse(sooner.body.next_run_at) - Date.now()).toBeLessThan(2 * 60_000);
  expect([stale.status, stale.body.error]).toEqual([412, 'precondition_failed']);
  expect([off.body.active, off.body.next_run_at]).toEqual([false, null]);
  expect(Date.parse(on.body.next_run_at) - Date.now()).toBeLessThan(2 * 60_000);
});

test('however often a schedule is changed, the jobs that wait for it do not grow with it', async () => {
  const { id } = await create({ cron: '0 0 1 1 *' });
  for (const n of range(20)) await tenant.admin.patch(`/schedules/${id}`, { cron: n % 2 === 0 ? '30 5 1 1 *' : '0 0 1 1 *' });

  expect((await ticksOf(id)).length).toBeLessThanOrEqual(2);
});

test('as many of 60 racing creations succeed as an institution may have', async () => {
  const present = (await tenant.admin.get('/schedules', { query: { limit: 100 } })).body.data.length;
  const replies = await Promise.all(range(60).map(() => untilServed(() => tenant.admin.post('/schedules', NIGHTLY))));

  expect(countBy(replies, ({ status }) => String(status))).toEqual({
    201: SCHEDULES_MAX - present,
    409: 60 - SCHEDULES_MAX + present,
  });
  await tenant.db.query('DELETE FROM schedules');
});

test('a run is a job of the last person who saved the schedule, one at a time, beside their own ten', async () => {
  const { api } = await tenant.user({ roles: ['admin'] });
  const { id } = await create();
  const first = await api.post(`/schedules/${id}/run`);
  const second = await tenant.admin.post(`/schedules/${id}/run`);
  await tenant.admin.post(`/jobs/${first.body.id}/cancel`);
  await api.patch(`/schedules/${id}`, { name: 'of another' });
  const third = await tenant.admin.post(`/schedules/${id}/run`);

  expect([first.status, second.status, second.body.error, third.status]).toEqual([202, 409, 'conflict', 202]);
  expect(first.body).toMatchObject({ kind: 'recount_usage', state: 'queued', result: null, cancelable: true });
  const mine = async (by: typeof api) => (await by.get('/jobs')).body.data.map((job: { id: string }) => job.id);
  expect([await mine(tenant.admin), await mine(api)]).toEqual([[first.body.id], [third.body.id]]);
  const runs = (await api.get(`/schedules/${id}/runs`)).body.data;
  expect(runs.map((run: { id: string; state: string }) => [run.id, run.state])).toEqual([
    [third.body.id, 'queued'],
    [first.body.id, 'canceled'],
  ]);
  expect((await api.get(`/schedules/${id}/runs`, { query: { state: 'canceled' } })).body.data).toHaveLength(1);
  const { last_run } = (await api.get(`/schedules/${id}`)).body;
  expect(last_run).toEqual({ job_id: third.body.id, state: 'queued', at: third.body.created_at });

  for (const _ of range(12)) expect((await api.post(`/schedules/${(await create()).id}/run`)).status).toBe(202);
  expect((await tenant.admin.delete('/trash')).status).toBe(202);
});

test('a schedule that is deleted is gone, and its runs stay jobs', async () => {
  const { id } = await create();
  const run = (await tenant.admin.post(`/schedules/${id}/run`)).body;

  expect((await tenant.admin.delete(`/schedules/${id}`)).status).toBe(204);
  expect((await tenant.admin.get(`/schedules/${id}`)).status).toBe(404);
  expect((await tenant.admin.get(`/jobs/${run.id}`)).body.id).toBe(run.id);
});

test.each([
  ['name', { name: '' }, 'name'],
  ['kind', { kind: 'sync_everything' }, 'kind'],
  ['no kind', { kind: undefined }, 'kind'],
  ['cron of six fields', { cron: '0 0 3 * * *' }, 'cron'],
  ['cron that never matches', { cron: '0 0 30 2 *' }, 'cron'],
  ['range that goes down', { cron: '0 22-2 * * *' }, 'cron'],
  ['zone', { time_zone: 'Europe/Bielefeld' }, 'time_zone'],
  ['offset for a zone', { time_zone: '+02:00' }, 'time_zone'],
  ['active', { active: 'yes' }, 'active'],
  ['catch_up', { catch_up: 1 }, 'catch_up'],
  ['arguments of a kind without', { arguments: { older_than: 3 } }, 'arguments.older_than'],
  ['batch without arguments', { kind: 'batch' }, 'arguments'],
  ['batch of named items', { kind: 'batch', arguments: { operation: 'delete', items: [] } }, 'arguments.filter'],
  ['batch of an unknown operation', { kind: 'batch', arguments: { operation: 'burn', filter: {} } }, 'arguments.operation'],
  ['folder to export', { kind: 'export_folder', arguments: { folder_id: 'x', keep: 1 } }, 'arguments.folder_id'],
  ['number of archives to keep', { kind: 'export_folder', arguments: { folder_id: NOBODY, keep: 0 } }, 'arguments.keep'],
  ['filter', { kind: 'batch', arguments: { operation: 'delete', filter: { nme: 'x' } } }, 'arguments.filter.nme'],
  [
    'password of a share',
    { kind: 'batch', arguments: { operation: 'share', filter: {}, arguments: { password: 'correct horse' } } },
    'arguments.arguments.password',
  ],
])('a wrong %s is a 400 that names it', async (_what, fields, field) => {
  const { status, body } = await tenant.admin.post('/schedules', { ...NIGHTLY, ...fields });

  expect([status, body.error]).toEqual([400, 'validation_failed']);
  expect(body.details.map((detail: { field: string }) => detail.field)).toContain(field);
});

test('a change of the kind takes the arguments of that kind', async () => {
  const { id } = await create();
  const wrong = await tenant.admin.patch(`/schedules/${id}`, { kind: 'batch' });
  const given = { operation: 'delete', filter: { folder_id: NOBODY }, dry_run: true };
  const right = await tenant.admin.patch(`/schedules/${id}`, { kind: 'batch', arguments: given });
  const back = await tenant.admin.patch(`/schedules/${id}`, { kind: 'empty_trash' });

  expect([wrong.status, wrong.body.details[0].field]).toEqual([400, 'arguments.operation']);
  expect([right.status, right.body.arguments]).toEqual([200, given]);
  expect([back.status, back.body.arguments]).toEqual([200, {}]);
});

test('administrators alone see and change schedules', async () => {
  const { id } = await create();
  const { api } = await tenant.user({ roles: ['instructor'] });
  const asked = [
    api.get('/schedules'),
    api.post('/schedules', NIGHTLY),
    api.get(`/schedules/${id}`),
    api.patch(`/schedules/${id}`, { active: false }),
    api.delete(`/schedules/${id}`),
    api.post(`/schedules/${id}/run`),
    api.get(`/schedules/${id}/runs`),
  ];

  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 403));
});

test('schedules of spec.schedules are shown and run here, and changed there', async () => {
  const { id } = await create();
  await tenant.db.query(`UPDATE schedules SET managed_by = 'kubernetes', managed_ref = 'nightly' WHERE uuid = $1`, [id]);
  const refused = [
    await tenant.admin.patch(`/schedules/${id}`, { active: false }),
    await tenant.admin.delete(`/schedules/${id}`),
  ];

  expect(refused.map(({ status, body }) => [status, body.error])).toEqual([
    [403, 'managed'],
    [403, 'managed'],
  ]);
  expect(refused[0]?.body.message).toContain('spec.schedules, nightly');
  expect((await tenant.admin.post(`/schedules/${id}/run`)).status).toBe(202);
});

test('a schedule of spec.schedules names the Tenant resource in which it is changed', async () => {
  const fresh = await startTenant();
  await fresh.restart({ CARREL_TENANT_RESOURCE: 'schools/north' });
  for (const name of ['nightly', 'own']) await fresh.admin.post('/schedules', { ...NIGHTLY, name });
  await fresh.db.query(`UPDATE schedules SET managed_by = 'kubernetes', managed_ref = name WHERE name = 'nightly'`);
  const { data } = (await fresh.admin.get('/schedules')).body;
  await fresh.restart({});
  const { id } = data.find(({ managed_by }: { managed_by: string | null }) => managed_by !== null);
  const unknown = (await fresh.admin.get(`/schedules/${id}`)).body;
  await fresh.stop();

  const managers = data.map(({ name, managed_by, managed_ref }: Record<string, string>) => [name, managed_by, managed_ref]);
  expect(managers.toSorted()).toEqual([
    ['nightly', 'kubernetes', 'schools/north'],
    ['own', null, null],
  ]);
  expect([unknown.managed_by, unknown.managed_ref]).toEqual(['kubernetes', null]);
});

test('the audit log says who made, changed and deleted a schedule', async () => {
  const { id } = await create();
  await tenant.admin.patch(`/schedules/${id}`, { cron: '0 4 * * *' });
  await tenant.admin.delete(`/schedules/${id}`);

  const { data } = (await tenant.admin.get('/audit', { query: { target_id: id, sort: 'at' } })).body;
  expect(data.map(({ action }: { action: string }) => action)).toEqual(['schedule.create', 'schedule.update', 'schedule.delete']);
  expect(data[1].changes).toEqual({ cron: { from: '0 3 * * *', to: '0 4 * * *' } });
  expect(data[1].actor.id).toBe((await tenant.admin.get('/users/me')).body.id);
});
