import { expect, test } from '@jest/globals';
import type { Page } from '../../../pkg/api/paging.ts';
import type { ContextView } from '../../../pkg/lti/contexts/contexts.schema.ts';
import { AGS, type Claims, LEARNER, LTI, NRPS } from '../../../pkg/local/demo/lms/claims.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { startTenant } from '../../support/programs/server.ts';

const { tenant, at } = lmsSuite();

type ContextPage = Page<ContextView>;

let courses = 0;
const course = (title = `Course ${courses}`) => ({ id: `course-${(courses += 1)}`, title });
const claims = (change: (all: Claims) => void): Fault => ({ claims: change });
const ags = (change: (claim: Record<string, unknown>) => void): Fault =>
  claims((all) => change(all[AGS] as Record<string, unknown>));

/** The course of this id, as the administrator sees it. */
async function contextOf(lmsId: string, by = tenant.admin) {
  const { data } = (await by.get('/lti/contexts', { query: { limit: '200' } })).body;
  return data.find((context: { lms_id: string }) => context.lms_id === lmsId);
}

test('a course is shown with its folder, its people and the services of its last launch, in one statement', async () => {
  const history = course('History');
  const { api } = await launched(tenant, at, { course: history });
  await launched(tenant, at, { course: history, roles: [LEARNER] });
  const listed = await contextOf(history.id);
  const { folder } = (await api.get(`/lti/launches/${(await launched(tenant, at, { course: history })).launchId}`)).body;

  const { reply, sql } = await tenant.counting(() => api.get(`/lti/contexts/${listed.id}`));

  expect([reply.status, reply.body]).toEqual([
    200,
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      lms_id: history.id,
      title: 'History',
      label: history.id,
      registration_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      folder: { id: folder.id, name: 'History' },
      group_id: listed.id,
      members: 3,
      services: { line_items: 'write', scores: true, results: true, roster: true },
      roster_synced_at: null,
      etag: expect.any(String),
    },
  ]);
  expect(reply.headers.etag).toBe(`"${reply.body.etag}"`);
  expect(sql).toHaveLength(1);
  const unchanged = await api.raw('GET', `/lti/contexts/${listed.id}`, { headers: { 'if-none-match': `"${reply.body.etag}"` } });
  expect(unchanged.status).toBe(304);
  const { data } = (await tenant.admin.get('/groups', { query: { kind: 'course', q: 'History' } })).body;
  expect(data.map(({ id }: { id: string }) => id)).toContain(reply.body.group_id);
});

test.each<[string, Fault, object]>([
  [
    'no services',
    claims((all) => (delete all[AGS], delete all[NRPS])),
    { line_items: null, scores: false, results: false, roster: false },
  ],
  [
    'null for services',
    claims((all) => (all[AGS] = all[NRPS] = null)),
    { line_items: null, scores: false, results: false, roster: false },
  ],
  ['no scope', ags((claim) => delete claim['scope']), { line_items: null, scores: false, results: false }],
  [
    'the read-only scope',
    ags((claim) => (claim['scope'] = [`${AGS.replace('claim/endpoint', 'scope')}/lineitem.readonly`])),
    { line_items: 'read' },
  ],
  [
    'an empty lineitems',
    ags((claim) => ((claim['lineitems'] = ''), delete claim['lineitem'])),
    { line_items: null, scores: false },
  ],
  [
    'no lineitems, but a line item',
    ags((claim) => ((claim['lineitem'] = 'https://lms.example.org/i'), delete claim['lineitems'])),
    { line_items: null, scores: true },
  ],
  ['an empty roster', claims((all) => (all[NRPS] = { context_memberships_url: '' })), { line_items: 'write', roster: false }],
])('a course whose last launch came with %s offers just what it says', async (_, fault, services) => {
  const one = course();
  await launched(tenant, at, { course: one });
  await launched(tenant, at, { course: one }, fault);

  expect((await contextOf(one.id)).services).toMatchObject(services);
});

test.each([
  [undefined, null],
  ['', null],
  [7, null],
  ['HIST\u202e 101', 'HIST 101'],
  ['x'.repeat(300), 'x'.repeat(255)],
])('a label of %.20j is shown as %.20j', async (sent, label) => {
  const one = course();
  await launched(
    tenant,
    at,
    { course: one },
    claims((all) => ((all[`${LTI}/context`] as Claims)['label'] = sent)),
  );

  expect((await contextOf(one.id)).label).toBe(label);
});

test('an instructor sees the courses that they teach and no others, a learner none', async () => {
  const [taught, attended, foreign] = [course(), course(), course()];
  const ada = { id: 'ada-of-two' };
  await launched(tenant, at, { course: foreign });
  await launched(tenant, at, { course: attended, user: ada, roles: [LEARNER] });
  const teacher = await launched(tenant, at, { course: taught, user: ada });
  const learner = await launched(tenant, at, { course: taught, roles: [LEARNER] });
  const [id, attendedId, foreignId] = await Promise.all(
    [taught, attended, foreign].map(async (one) => (await contextOf(one.id)).id),
  );

  const { data } = (await teacher.api.get('/lti/contexts')).body;

  expect(data.map((context: { id: string }) => context.id)).toEqual([id]);
  const statuses = [id, attendedId, foreignId].map(async (one) => (await teacher.api.get(`/lti/contexts/${one}`)).status);
  expect(await Promise.all(statuses)).toEqual([200, 403, 404]);
  expect([(await learner.api.get('/lti/contexts')).status, (await learner.api.get(`/lti/contexts/${id}`)).status]).toEqual([
    403, 403,
  ]);
});

test('a person who no longer teaches a course no longer sees it', async () => {
  const one = course();
  const user = { id: 'ada-who-left' };
  const { api } = await launched(tenant, at, { course: one, user });
  const { id } = await contextOf(one.id);
  await tenant.db.query(`UPDATE group_members SET role = 'learner' WHERE group_id = (SELECT id FROM groups WHERE uuid = $1)`, [
    id,
  ]);

  expect((await api.get(`/lti/contexts/${id}`)).status).toBe(403);
  expect((await api.get('/lti/contexts')).body.data).toEqual([]);
});

test('a course of a disabled registration offers nothing, nor does one without launches, and both stay', async () => {
  const own = await registeredLms(tenant, at);
  const one = course();
  await launched(tenant, own, { course: one });
  const before = await contextOf(one.id);
  const nothing = { line_items: null, scores: false, results: false, roster: false };

  await tenant.db.tables.ltiTools.update({ id: own.toolId }, { isActive: false });
  const inactive = await contextOf(one.id);
  await tenant.db.query('DELETE FROM lti_launches WHERE context_id = $1', [one.id]);
  const forgotten = await contextOf(one.id);

  expect(inactive).toEqual({ ...before, services: nothing, etag: expect.any(String) });
  expect(forgotten).toEqual({ ...inactive, label: null, registration_id: null, etag: expect.any(String) });
  expect(new Set([before, inactive, forgotten].map(({ etag }) => etag)).size).toBe(3);
});

test('the list is in pages, by title, and no group that people made is a course', async () => {
  const other = await tenant.admin.post('/groups', { name: 'No course' });
  for (const title of ['Zoology', 'Anatomy', 'Ælfric']) await launched(tenant, at, { course: course(title) });
  const titles: string[] = [];
  let query: Record<string, string> | null = { limit: '2' };
  while (query) {
    const { data, pagination }: ContextPage = (await tenant.admin.get('/lti/contexts', { query })).body;
    titles.push(...data.map(({ title }) => title));
    query = pagination.next_cursor === null ? null : { limit: '2', cursor: pagination.next_cursor };
  }

  const [{ count } = { count: 0 }] = await tenant.db.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM groups WHERE context_id IS NOT NULL',
  );
  expect(titles).toHaveLength(count);
  expect(titles.indexOf('Ælfric')).toBeLessThan(titles.indexOf('Zoology'));
  expect((await tenant.admin.get(`/lti/contexts/${other.body.id}`)).status).toBe(404);
  expect((await tenant.admin.get('/lti/contexts', { query: { sort: 'members' } })).status).toBe(400);
});

test('the course of another tenant does not exist', async () => {
  const one = course();
  await launched(tenant, at, { course: one });
  const { id } = await contextOf(one.id);
  const other = await startTenant();
  try {
    expect((await other.admin.get(`/lti/contexts/${id}`)).status).toBe(404);
    expect((await other.admin.get('/lti/contexts')).body.data).toEqual([]);
  } finally {
    await other.stop();
  }
});
