import { expect, test } from '@jest/globals';
import { INSTRUCTOR, LEARNER, NRPS } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { rosterCourse } from '../../support/clients/rosters.ts';
import { startTenant } from '../../support/programs/server.ts';

const { tenant, at } = lmsSuite();
const course = (...more: Parameters<typeof rosterCourse> extends [unknown, unknown, ...infer Rest] ? Rest : never) =>
  rosterCourse(tenant, at, ...more);

test('a person who launches becomes a member of the course, as the LMS describes them, in two statements', async () => {
  const { api, members, launch } = await course();
  await launch({ user: { id: 'ben', name: 'Ben Adeyemi', email: 'ben@example.org' }, roles: [LEARNER] });
  await launch({ user: { id: 'cyd' }, roles: ['Learner', 'Instructor#TeachingAssistant'] });

  await api.get(members);

  const { reply, sql } = await tenant.counting(() => api.get(members));

  const [cyd, teacher, ben] = [...reply.body.data].sort((a, b) => (a.name === null ? 0 : 1) - (b.name === null ? 0 : 1));
  expect(ben).toEqual({
    lms_user_id: 'ben',
    user: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'Ben Adeyemi' },
    name: 'Ben Adeyemi',
    email: 'ben@example.org',
    roles: [LEARNER],
    role: 'learner',
    status: 'active',
    source: 'launch',
    last_launch_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  expect(cyd).toMatchObject({
    lms_user_id: 'cyd',
    name: null,
    email: null,
    roles: [LEARNER, 'http://purl.imsglobal.org/vocab/lis/v2/membership/Instructor#TeachingAssistant'].sort(),
    role: 'instructor',
  });
  expect(teacher).toMatchObject({ roles: [INSTRUCTOR], role: 'instructor' });
  expect(sql).toHaveLength(2);
});

test('changes of a member by a launch are shown, and values that it omits stay', async () => {
  const { people, launch } = await course();
  await launch({ user: { id: 'ben', name: 'Ben', email: 'ben@example.org' }, roles: [LEARNER] });

  await launch({ user: { id: 'ben', name: 'Benjamin' }, roles: [LEARNER] });
  await launch({ user: { id: 'ben', name: 'Benjamin' }, roles: [INSTRUCTOR] });

  expect((await people()).find(({ lms_user_id }) => lms_user_id === 'ben')).toMatchObject({
    name: 'Benjamin',
    email: 'ben@example.org',
    role: 'instructor',
    roles: [INSTRUCTOR],
  });
});

test('members are listed by name, in pages, of one role, and by a part of name or address', async () => {
  const { api, members, people, launch } = await course();
  for (const [id, name] of [
    ['z', 'Ælfric'],
    ['y', 'ada_b'],
    ['x', 'Zoë'],
    ['w', 'Ada B'],
  ] as const)
    await launch({ user: { id, name, email: `${id}@example.org` }, roles: [LEARNER] });
  const names = async (query: Record<string, string>) => (await people(query)).map(({ name }) => name);

  expect(await names({ limit: '2' })).toEqual([null, 'Ada B', 'ada_b', 'Ælfric', 'Zoë']);
  expect(await names({ limit: '2', sort: '-name' })).toEqual(['Zoë', 'Ælfric', 'ada_b', 'Ada B', null]);
  expect(await names({ role: 'instructor' })).toEqual([null]);
  expect(await names({ q: 'A_' })).toEqual(['ada_b']);
  expect(await names({ q: 'X@EXAMPLE' })).toEqual(['Zoë']);
  expect((await api.get(members, { query: { sort: 'email' } })).status).toBe(400);
  expect((await api.get(members, { query: { role: 'admin' } })).status).toBe(400);
});

test('learners and strangers see no members and sync none, and the course of another tenant does not exist', async () => {
  const { members, launch } = await course();
  const learner = (await launch({ roles: [LEARNER] })).api;
  const foreign = (await launched(tenant, at, { course: { id: 'elsewhere', title: 'Elsewhere' }, roles: [INSTRUCTOR] })).api;
  const other = await startTenant();
  try {
    for (const [by, status] of [
      [learner, 403],
      [foreign, 404],
      [other.admin, 404],
      [tenant.admin, 200],
    ] as const) {
      expect((await by.get(members)).status).toBe(status);
      if (status !== 200) expect((await by.post(`${members}/sync`)).status).toBe(status);
    }
  } finally {
    await other.stop();
  }
});

test('a sync is a job, and one with the same key, or one that has not begun, is that job', async () => {
  const { api, members, id, course: taught } = await course();
  const headers = { 'idempotency-key': 'sync-1' };
  const subject = { type: 'course', id, name: taught.title };

  const first = await api.post(`${members}/sync`, undefined, { headers });
  const again = await api.post(`${members}/sync`, undefined, { headers });
  const joined = await api.post(`${members}/sync`);

  expect([first.status, first.body]).toEqual([
    202,
    expect.objectContaining({ kind: 'sync_roster', subject, state: 'queued', result: null, cancelable: true }),
  ]);
  expect([again.headers['idempotency-replayed'], again.body.id, joined.body.id]).toEqual(['true', first.body.id, first.body.id]);
});

test('a course whose LMS offers no roster is synced by nobody, with what is missing', async () => {
  const none = await course({ claims: (all) => void delete all[NRPS] });
  const empty = await course({ claims: (all) => void (all[NRPS] = { context_memberships_url: '' }) });
  const own = await registeredLms(tenant, at);
  const inactive = await rosterCourse(tenant, own);
  await tenant.db.tables.ltiTools.update({ id: own.toolId }, { isActive: false });

  for (const { api, members } of [none, empty]) {
    const { status, body } = await api.post(`${members}/sync`);
    expect([status, body.error, body.message]).toEqual([
      409,
      'lms_service_missing',
      expect.stringContaining('https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly'),
    ]);
  }
  expect((await tenant.admin.post(`${inactive.members}/sync`)).body.error).toBe('registration_inactive');
});
