import { expect, test } from '@jest/globals';
import type { Page } from '../../../pkg/api/paging.ts';
import type { LinkMemberView } from '../../../pkg/lti/members/members.schema.ts';
import type { Api } from '../../support/clients/api.ts';
import { LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import type { LinkManner } from '../../../pkg/local/demo/lms/paging.ts';
import type { ServiceManner } from '../../../pkg/local/demo/lms/service.ts';
import { rosterCourse, stateOf } from '../../support/clients/rosters.ts';

const { tenant, at } = lmsSuite();
const LINK = 'link-1';

/** A course of nine learners and their teacher, with a link that is for p1, p3 and p7 alone. */
async function restricted() {
  const made = await rosterCourse(tenant, at);
  made.enrolMany(9);
  at.lms.courses.restrict(made.course.id, LINK, ['p1', 'p3', 'p7']);
  return { ...made, path: made.members.replace(/members$/, 'link-members') };
}

async function all(api: Api, path: string, query: Record<string, string> = {}): Promise<LinkMemberView[]> {
  const found: LinkMemberView[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body } = await api.get(path, {
      query: { resource_link_id: LINK, ...query, ...(cursor === '' ? {} : { cursor }) },
    });
    if (status !== 200) throw new Error(`no list: ${status} ${JSON.stringify(body)}`);
    const page = body as Page<LinkMemberView>;
    found.push(...page.data);
    cursor = page.pagination.next_cursor;
  }
  return found;
}
const idsOf = (members: readonly LinkMemberView[]): string[] => members.map(({ lms_user_id }) => lms_user_id);

test('the people whom a link is for are listed as the LMS says, with who they are here, in three statements', async () => {
  const { api, path, launch } = await restricted();
  await launch({ user: { id: 'p3', name: 'Person 3', email: 'p3@example.org' }, roles: [LEARNER] });
  await all(api, path);

  const { reply, sql } = await tenant.counting(() => api.get(path, { query: { resource_link_id: LINK } }));

  expect(idsOf(reply.body.data)).toEqual(['p1', 'p3', 'p7']);
  expect(reply.body.data[1]).toEqual({
    lms_user_id: 'p3',
    user: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'Person 3' },
    name: 'Person 3',
    email: 'p3@example.org',
    roles: [LEARNER],
    role: 'learner',
    status: 'active',
  });
  expect(sql).toHaveLength(3);
});

test.each<LinkManner | 'well'>(['well', 'link drops filters', 'relative link', 'odd quotes'])(
  'pages of the LMS that lead on by %s are read to the last, each for the link alone, by role too',
  async (manner) => {
    const { api, path } = await restricted();
    at.lms.members.pageSize = 2;
    at.lms.members.manner.set(manner);

    const listed = [await all(api, path, { limit: '1' }), await all(api, path, { role: 'learner' })];
    const teachers = await all(api, path, { role: 'instructor' });
    at.lms.members.manner.set('well');

    expect(listed.map(idsOf)).toEqual([
      ['p1', 'p3', 'p7'],
      ['p1', 'p3', 'p7'],
    ]);
    expect(teachers).toEqual([]);
    for (const { url } of at.lms.members.received) expect(new URL(url).searchParams.get('rlid')).toBe(LINK);
  },
);

test.each<[string, string, ServiceManner]>([
  ['a bad request', 'Schoology', { status: 400, text: 'rlid is not supported' }],
  ['that there is no such link', 'Canvas', { status: 404, text: 'no such link' }],
])(
  'an LMS that answers with %s (%s) does not list the people of one link: the list of the course is left',
  async (_what, _source, manner) => {
    const { api, path, members } = await restricted();
    at.lms.members.manner.set(manner, 1);

    const { status, body } = await api.get(path, { query: { resource_link_id: LINK } });

    expect([status, body.error]).toEqual([409, 'lms_service_missing']);
    expect(body.message).toMatch(/(rlid is not supported|no such link).*list of the members of the course/);
    expect((await api.get(members)).status).toBe(200);
  },
);

test('a person missing from a link’s list stays in the course, and a roster is requested without a link', async () => {
  const { api, path, id, people, launch } = await restricted();
  await launch({ user: { id: 'p0', name: 'Person 0' }, roles: [LEARNER] });
  const before = await stateOf(tenant, id);

  await all(api, path);

  expect(await stateOf(tenant, id)).toBe(before);
  expect((await people()).map(({ lms_user_id, status }) => [lms_user_id, status])).toContainEqual(['p0', 'active']);
});

test('a link of another course, or of nobody, has no people', async () => {
  const { api, path } = await restricted();

  const { status, body } = await api.get(path, { query: { resource_link_id: 'elsewhere' } });

  expect([status, body.error]).toEqual([409, 'lms_service_missing']);
});

test('a cursor of one link leads nowhere in another', async () => {
  const { api, path, course } = await restricted();
  at.lms.courses.restrict(course.id, 'link-2', ['p2']);
  const first = await api.get(path, { query: { resource_link_id: LINK, limit: '1' } });
  const { next_cursor: cursor } = first.body.pagination;

  const { status } = await api.get(path, { query: { resource_link_id: 'link-2', cursor } });

  expect([typeof cursor, status]).toEqual(['string', 400]);
});

test('learners of the course are refused, and to strangers it does not exist', async () => {
  const { path, launch } = await restricted();
  const learner = await launch({ user: { id: 'p1' }, roles: [LEARNER] });
  const stranger = await rosterCourse(tenant, at);

  const asked = await Promise.all([learner.api, stranger.api].map((by) => by.get(path, { query: { resource_link_id: LINK } })));

  expect(asked.map(({ status }) => status)).toEqual([403, 404]);
});
