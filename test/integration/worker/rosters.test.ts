import { describe, expect, test } from '@jest/globals';
import { INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { registeredLms, type Registration } from '../../support/lms/registration.ts';
import { SCOPE } from '../../../pkg/local/demo/lms/scopes.ts';
import { ended, rosterCourse, stateOf } from '../../support/clients/rosters.ts';
import { range, waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);
const at: Registration = fixture(
  () => registeredLms(tenant),
  ({ lms }) => lms.stop(),
);
const course = () => rosterCourse(tenant, at);
const byId = async (people: ReturnType<Awaited<ReturnType<typeof course>>['people']>) =>
  new Map((await people).map((member) => [member.lms_user_id, member]));
const mayRead = async ({ api, launchId }: { api: typeof tenant.admin; launchId: string }) =>
  (await api.get(`/lti/launches/${launchId}`)).body.folder !== null;

test('a roster is read by pages, with the scope of members alone, and its people are members without an account', async () => {
  const { enrolMany, sync, people, api, id } = await course();
  enrolMany(7);
  at.lms.members.pageSize = 3;
  const before = at.lms.members.received.length;
  const job = await sync().finally(() => (at.lms.members.pageSize = 50));
  const context = (await api.get(`/lti/contexts/${id}`)).body;

  expect(job).toMatchObject({ kind: 'sync_roster', state: 'succeeded', error: null });
  expect(job.result).toEqual({ added: 7, changed: 0, removed: 0, members: 8 });
  const asked = at.lms.members.received.slice(before);
  expect(asked).toHaveLength(3);
  const { authorization } = asked[0] ?? { authorization: '' };
  expect(Object.values(SCOPE).filter((scope) => typeof at.lms.tokens.caller(authorization, [scope]) === 'object')).toEqual([
    SCOPE.members,
  ]);
  expect((await byId(people())).get('p3')).toEqual({
    lms_user_id: 'p3',
    user: null,
    name: 'Person 3',
    email: 'p3@example.org',
    roles: [LEARNER],
    role: 'learner',
    status: 'active',
    source: 'roster',
    last_launch_at: null,
  });
  expect(context.members).toBe(8);
  expect(Date.parse(context.roster_synced_at)).toBeGreaterThanOrEqual(Date.parse(job.started_at));
  expect((await sync()).result).toEqual({ added: 0, changed: 0, removed: 0, members: 8 });
});

test('changes in the LMS are counted and imported, and people who left are inactive', async () => {
  const { enrol, enrolMany, unenrol, sync, people } = await course();
  enrolMany(4);
  await sync();
  enrol({ user_id: 'p0', name: 'Another', email: 'p0@example.org' });
  enrol({ user_id: 'p1', name: 'Person 1', email: 'p1@example.org', roles: ['Instructor'] });
  enrol({ user_id: 'p2', status: 'Inactive' });
  enrol({ user_id: 'p9' });
  unenrol('p3');
  const { result } = await sync();
  const now = await byId(people());

  expect(result).toEqual({ added: 1, changed: 2, removed: 2, members: 4 });
  expect(now.get('p0')?.name).toBe('Another');
  expect(now.get('p1')).toMatchObject({ role: 'instructor', roles: [INSTRUCTOR] });
  expect([now.get('p2')?.status, now.get('p3')?.status, now.get('p9')?.status]).toEqual(['inactive', 'inactive', 'active']);
});

test('a person who leaves the course loses its folder with the next sync, and gets it back by a launch', async () => {
  const { launch, unenrol, sync, people } = await course();
  const ben = await launch({ user: { id: 'ben' }, roles: [LEARNER] });
  const before = await mayRead(ben);
  unenrol('ben');
  const { result } = await sync();
  const [after, member] = [await mayRead(ben), (await byId(people())).get('ben')];
  await launch({ user: { id: 'ben' }, roles: [LEARNER] });

  expect([before, after, await mayRead(ben)]).toEqual([true, false, true]);
  expect([result.removed, member?.status, member?.source]).toEqual([1, 'inactive', 'launch']);
  expect((await byId(people())).get('ben')).toMatchObject({ status: 'active', source: 'launch' });
});

/** Returns the roles of the account of a person of the LMS. */
const rolesOf = async (subject: string): Promise<string[] | undefined> => {
  const [account] = await tenant.db.query<{ roles: string[] }>(
    'SELECT u.roles FROM lti_identities i JOIN users u ON u.id = i.user_id WHERE i.subject = $1',
    [subject],
  );
  return account?.roles;
};

test('a changed role applies to the account in the course: an instructor teaches and writes, a learner does not', async () => {
  const { launch, enrol, sync } = await course();
  const { api, launchId } = await launch({ user: { id: 'risen' }, roles: [LEARNER] });
  const mayWrite = async () => (await api.get(`/lti/launches/${launchId}`)).body.folder?.may_write;
  const before = await mayWrite();
  enrol({ user_id: 'risen', roles: [INSTRUCTOR] });
  await sync();
  const risen = [await mayWrite(), await rolesOf('risen')];
  enrol({ user_id: 'risen', roles: [LEARNER] });
  await sync();

  expect([before, risen, await mayWrite()]).toEqual([false, [true, ['member', 'instructor']], false]);
});

test('an account linked to a person of the LMS teaches by the roster alone, and only as long as it says so', async () => {
  const { enrol, unenrol, sync, members } = await course();
  const { user, password } = await tenant.user();
  const account = await tenant.db.tables.users.find({ uuid: user.id });
  await tenant.db.tables.ltiIdentities.insert({ platformId: at.platformId, subject: 'never-launched', userId: account?.id ?? 0 });
  const status = async () => (await (await tenant.anonymous.login(user.email, password)).get(members)).status;
  const before = await status();
  enrol({ user_id: 'never-launched', roles: [INSTRUCTOR] });
  await sync();
  const teaching = await status();
  unenrol('never-launched');
  await sync();

  expect([before, teaching, await status()]).toEqual([403, 200, 404]);
});

test('nobody becomes an administrator by a roster, whatever roles it names', async () => {
  const { launch, enrol, sync } = await course();
  await launch({ user: { id: 'eve' }, roles: [LEARNER] });
  const roles = ['http://purl.imsglobal.org/vocab/lis/v2/system/person#SysAdmin', 'Administrator', 'admin', INSTRUCTOR];
  enrol({ user_id: 'eve', roles });
  await sync();

  expect(await rolesOf('eve')).toEqual(['member', 'instructor']);
});

test('an LMS’s administrator who launches stays while their session lasts, though no roster has them', async () => {
  const { launch, unenrol, sync } = await course();
  const admin = await launch({
    user: { id: 'root' },
    roles: ['http://purl.imsglobal.org/vocab/lis/v2/institution/person#Administrator'],
  });
  unenrol('root');
  await sync();
  const during = await mayRead(admin);
  await tenant.db.query(
    `UPDATE lti_launches SET launched_at = launched_at - interval '2 hours', expires_at = expires_at - interval '2 hours'
     WHERE user_id = 'root'`,
  );
  await sync();

  expect([during, await mayRead(admin)]).toEqual([true, false]);
});

test('odd members are taken as far as they can be, and who is nobody is skipped with the reason', async () => {
  const { course: of, teacher, sync, people } = await course();
  const text = JSON.stringify({
    id: 'x',
    context: { id: of.id },
    members: [
      { user_id: teacher, roles: [INSTRUCTOR] },
      { user_id: 7, roles: 'Instructor,Learner', status: 'active', name: ' A\u202eB ', email: 'no address' },
      { user_id: 'b', roles: null, given_name: 'Bo', family_name: 'Li', picture: 3 },
      { user_id: 'c', roles: ['Learner', 3, '\u0000', '\ud800'], status: 'Deleted' },
      { user_id: 'b', roles: ['Instructor'], status: 'Inactive' },
      { user_id: 'd', roles: ['Learner'], name: 'x'.repeat(300) },
      { user_id: 'd', roles: ['Instructor'] },
      { roles: ['Learner'] },
      { user_id: '' },
      { user_id: 'jürgen' },
      { user_id: 'x'.repeat(256) },
      null,
      'nobody',
    ],
  });
  at.lms.members.manner.set({ status: 200, text: `\uFEFF${text}` }, 1);
  const { result } = await sync();
  const now = await byId(people());

  expect(result).toEqual({
    added: 3,
    changed: 0,
    removed: 0,
    members: 4,
    skipped: [
      { reason: 'no_user_id', count: 2 },
      { reason: 'user_id_invalid', count: 2 },
      { reason: 'no_object', count: 2 },
    ],
  });
  expect(now.get('7')).toMatchObject({
    name: 'AB',
    email: null,
    role: 'instructor',
    roles: [INSTRUCTOR, LEARNER],
    status: 'active',
  });
  expect(now.get('b')).toMatchObject({ name: 'Bo Li', roles: [], role: 'learner', status: 'active' });
  expect(now.get('c')).toMatchObject({ roles: [LEARNER], status: 'inactive' });
  expect(now.get('d')).toMatchObject({ role: 'instructor' });
});

test('two syncs of one course at once end as one does, and each counts what it has changed', async () => {
  const { enrolMany, request, members, people } = await course();
  enrolMany(60);
  const [one, other] = await Promise.all([request(), tenant.admin.post(`${members}/sync`).then(({ body }) => body)]);
  const results = [await ended(tenant.admin, one.id), await ended(tenant.admin, other.id)].map(({ result }) => result);

  expect(results.map(({ members: count }) => count)).toEqual([61, 61]);
  expect(results.map(({ added }) => added).sort((a, b) => a - b)).toEqual([0, 60]);
  expect(await people()).toHaveLength(61);
});

test('a worker that is killed while it reads leaves the course as it was, and the next one reads again', async () => {
  const { enrolMany, request, people, id, api } = await course();
  enrolMany(120);
  const before = await stateOf(tenant, id);
  at.lms.members.manner.set('slow');
  at.lms.members.manner.set('well', 2);
  const job = await request();
  await waitFor('two pages to be kept', async () => {
    const [row] = await tenant.db.query<{ n: number }>('SELECT count(*)::int AS n FROM lti_roster_entries');
    return row?.n === 100;
  });
  await worker.end('SIGKILL');
  const meanwhile = await stateOf(tenant, id);
  at.lms.members.manner.set('well');
  await worker.start();
  const { state, result } = await ended(api, job.id);

  expect(meanwhile).toBe(before);
  expect([state, result]).toEqual(['succeeded', { added: 120, changed: 0, removed: 0, members: 121 }]);
  expect(await people()).toHaveLength(121);
  expect(await tenant.db.query('SELECT FROM lti_roster_entries')).toEqual([]);
});

test('an LMS that is down for a while, and takes back its tokens and changes its keys midway, loses nothing', async () => {
  const { enrolMany, sync } = await course();
  enrolMany(120);
  at.lms.members.manner.set('down', 1);
  at.lms.rotate({ overlap: false });
  const first = await sync();
  at.lms.members.manner.set('revoked', 1);
  const second = await sync();

  expect([first.state, first.result]).toEqual(['succeeded', { added: 120, changed: 0, removed: 0, members: 121 }]);
  expect([second.state, second.result.members]).toEqual(['succeeded', 121]);
});

test('no roster is imported for a person who no longer teaches the course when the job begins', async () => {
  const { enrolMany, request, id, api } = await course();
  enrolMany(3);
  await worker.end('SIGTERM');
  const job = await request();
  await tenant.db.query(`UPDATE group_members SET role = 'learner' WHERE group_id = (SELECT id FROM groups WHERE uuid = $1)`, [
    id,
  ]);
  await worker.start();
  const { state, error } = await ended(api, job.id);

  expect([state, error.code]).toEqual(['failed', 'forbidden']);
  expect(
    await tenant.db.query(`SELECT FROM lti_members WHERE subject = 'p0' AND group_id = (SELECT id FROM groups WHERE uuid = $1)`, [
      id,
    ]),
  ).toEqual([]);
});

test('the first launch a day after the last roster has it read again, once, and the others cost what they did', async () => {
  const { enrolMany, sync, launch, id, people } = await course();
  await sync();
  enrolMany(2);
  await launch({ user: { id: 'ben' }, roles: [LEARNER] });
  await tenant.db.query(`UPDATE groups SET roster_synced_at = now() - interval '25 hours' WHERE uuid = $1`, [id]);
  const tasks = () =>
    tenant.db.query<{ state: string }>(
      `SELECT state FROM tasks WHERE user_id IS NULL AND kind = 'sync_roster' AND arguments ->> 'context' = $1`,
      [id],
    );
  await worker.end('SIGTERM');
  await Promise.all(range(4).map((n) => launch({ user: { id: `racer-${n}` }, roles: [LEARNER] })));
  const { sql } = await tenant.counting(() => launch({ user: { id: 'ben' }, roles: [LEARNER] }));
  const asked = await tasks();
  await worker.start();
  await waitFor('the roster', async () => (await people()).some(({ lms_user_id }) => lms_user_id === 'p0'));

  expect([asked, sql.filter((text) => text.includes('tasks')).length]).toEqual([[{ state: 'queued' }], 0]);
});

describe('a schedule of rosters', () => {
  const run = async () => {
    const { body } = await tenant.admin.post('/schedules', { name: 'Rosters', kind: 'sync_rosters', cron: '0 0 1 1 *' });
    const job = (await tenant.admin.post(`/schedules/${body.id}/run`)).body;
    return ended(tenant.admin, job.id);
  };

  test('takes over those of all courses that have one, and goes on where one fails', async () => {
    const [one, broken, other] = [await course(), await course(), await course()];
    await run();
    for (const { enrolMany } of [one, other]) enrolMany(5);
    at.lms.courses.enrol(broken.course, { user_id: 'p0', roles: [LEARNER] });
    await tenant.db.query(`UPDATE lti_launches SET nrps_url = $2 WHERE context_id = $1`, [
      broken.course.id,
      `${at.lms.issuer}/nrps/nowhere/members`,
    ]);
    const job = await run();

    expect(job).toMatchObject({
      kind: 'sync_rosters',
      state: 'succeeded',
      result: { failed: 1, added: 10, changed: 0, removed: 0 },
    });
    expect(job.progress.done).toBe(job.result.courses + 1);
    expect([await one.people(), await broken.people(), await other.people()].map(({ length }) => length)).toEqual([6, 1, 6]);
    await tenant.db.query(`DELETE FROM lti_launches WHERE context_id = $1`, [broken.course.id]);
  });

  test('asks an LMS no more that is unavailable for three courses behind each other', async () => {
    for (const _ of range(5)) await course();
    at.lms.members.manner.set('down');
    const before = at.lms.members.received.length;
    const { result } = await run().finally(() => at.lms.members.manner.set('well'));

    expect(at.lms.members.received.length - before).toBe(3);
    expect(result).toMatchObject({ courses: 0, added: 0, removed: 0 });
    expect(result.failed).toBeGreaterThanOrEqual(5);
  });

  test('goes on with the next course after its worker was killed', async () => {
    const courses = [await course(), await course(), await course()];
    for (const { enrolMany } of courses) enrolMany(3);
    const { body } = await tenant.admin.post('/schedules', { name: 'Rosters', kind: 'sync_rosters', cron: '0 0 1 1 *' });
    at.lms.members.manner.set('slow');
    at.lms.members.manner.set('well', 2);
    const job = (await tenant.admin.post(`/schedules/${body.id}/run`)).body;
    await waitFor('two courses', async () => (await tenant.admin.get(`/jobs/${job.id}`)).body.progress.done === 2);
    await worker.end('SIGKILL');
    at.lms.members.manner.set('well');
    const before = at.lms.members.received.length;
    await worker.start();
    const { state, result } = await ended(tenant.admin, job.id);

    expect([state, result.failed, result.added]).toEqual(['succeeded', 0, 9]);
    const asked = new Set(at.lms.members.received.slice(before).map(({ url }) => new URL(url).pathname));
    expect(asked.size).toBe(result.courses - 2);
  });
});
