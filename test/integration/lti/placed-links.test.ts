import { expect, test } from '@jest/globals';
import { TARGET_PARAMETER } from '../../../pkg/lti/links/placed-target.policy.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { Api } from '../../support/clients/api.ts';
import { Browser, follow } from '../../support/lms/browser.ts';
import { INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { type Launched, launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { opensLink, placedFor } from '../../support/lms/placed.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { startTenant } from '../../support/programs/server.ts';
import { range } from '../../support/wait.ts';

const { tenant, at } = lmsSuite();
/** Another tenant that is registered at the same LMS. */
const stranger = fixture(
  () => startTenant(),
  (running) => running.stop(),
);
const there = fixture(
  () => registeredLms(stranger, at),
  async () => {},
);
/** Another registration of the first tenant's, at the same LMS. */
const sibling = fixture(
  () => registeredLms(tenant, at),
  async () => {},
);

interface Course {
  readonly id: string;
  readonly title: string;
}

const newCourse = (): Course => {
  const id = `course-${systemRandom.hex(5)}`;
  return { id, title: id };
};

const teaches = (course: Course, id = `prof-${course.id}`): Promise<Launched> =>
  launched(tenant, at, { user: { id }, roles: [INSTRUCTOR], course });

/** A file of somebody's own, outside of any course unless `fields` says otherwise. */
async function fileOf(api: Api, fields: Record<string, string> = {}): Promise<{ id: string; name: string }> {
  const name = `${systemRandom.hex(5)}.txt`;
  const { status, body } = await api.upload('/files', { name, file: Buffer.from(name), fields });
  if (status !== 201) throw new Error(`the upload was refused: ${status} ${JSON.stringify(body)}`);
  return { id: body.id, name };
}

/** A course with a link that its teacher has placed for a file of their own. */
async function courseWithLink() {
  const course = newCourse();
  const teacher = await teaches(course);
  const file = await fileOf(teacher.api);
  return { course, teacher, file, custom: await placedFor(tenant, at, teacher, file.id) };
}

/** A course with a link, for those who may open nothing; `foreign`: the target of the same file by another registration. */
const guarded = fixture(
  async () => {
    const made = await courseWithLink();
    const { [TARGET_PARAMETER]: foreign = '' } = await placedFor(
      tenant,
      { ...at, clientId: sibling.clientId },
      made.teacher,
      made.file.id,
    );
    return { ...made, foreign };
  },
  async () => {},
);

const learns = (course: Course, custom: Record<string, string>, id = systemRandom.hex(5)) =>
  opensLink(tenant, at, { user: { id }, roles: [LEARNER], course, custom, resourceLinkId: `link-of-${course.id}` });

const download = async (api: Api, id: string): Promise<number> => (await api.get(`/files/${id}/download`)).status;

test('a placed link opens exactly its file, to read it', async () => {
  const { course, teacher, file, custom } = await courseWithLink();
  const other = await fileOf(teacher.api);

  const learner = await learns(course, custom);
  const content = await learner.api.get(`/files/${file.id}/download`);
  const renamed = await learner.api.patch(`/files/${file.id}`, { name: 'mine.txt' });

  expect(learner.link).toEqual({ id: `link-of-${course.id}`, title: 'Files', file, problem: null });
  expect([content.status, content.bytes.toString()]).toEqual([200, file.name]);
  expect([renamed.status, await download(learner.api, other.id)]).toEqual([403, 404]);
});

test('a placed link opens its file after a rename and a move, and discloses no folder above it', async () => {
  const { course, teacher, file, custom } = await courseWithLink();
  const folder = await teacher.api.post('/folders', { name: `private-${course.id}` });
  await teacher.api.patch(`/files/${file.id}`, { name: `renamed-${file.name}`, folder_id: folder.body.id });

  const learner = await learns(course, custom);
  const seen = await learner.api.get(`/files/${file.id}`);

  expect(learner.link.file).toEqual({ id: file.id, name: `renamed-${file.name}` });
  expect([seen.status, seen.body.folder]).toEqual([200, null]);
  expect((await learner.api.get(`/folders/${folder.body.id}`)).status).toBe(404);
});

test('a link to a file that is trashed or deleted for good says so and what to do; a restored file opens', async () => {
  const { course, teacher, file, custom } = await courseWithLink();
  const problem = async (): Promise<unknown> => (await learns(course, custom)).link.problem;

  await teacher.api.delete(`/files/${file.id}`);
  const trashed = await problem();
  await teacher.api.post(`/files/${file.id}/restore`, {});
  const restored = await problem();
  await teacher.api.delete(`/files/${file.id}`);
  await teacher.api.delete(`/files/${file.id}`, { query: { permanent: true } });
  const gone = await problem();

  expect([trashed, restored, gone]).toEqual([
    { code: 'link_file_trashed', message: expect.stringContaining('restore') },
    null,
    { code: 'link_file_gone', message: expect.stringContaining('Add a link to another file') },
  ]);
});

test.each<[string, (target: string, foreign: string) => string, string]>([
  [
    'that names another file',
    (target) => `${target.slice(0, 20)}${target[20] === 'A' ? 'B' : 'A'}${target.slice(21)}`,
    'target_altered',
  ],
  ['with another signature', (target) => `${target.slice(0, -5)}AAAAA`, 'target_altered'],
  ['that is a file’s id alone', () => '0b9dcb6a-7c0a-4a57-8f53-6e4d2f0c8a11', 'target_malformed'],
  ['with something behind it', (target) => `${target} and more`, 'target_malformed'],
  ['of 10,000 characters', (target) => target + 'x'.repeat(10_000), 'target_malformed'],
  ['with a NUL', (target) => `${target}\u0000`, 'target_malformed'],
  ['of an unknown key', (target) => target.replace(/^v1\.[0-9a-f]+/, 'v1.ffff'), 'target_key_unknown'],
  ['of another registration of the same LMS', (_, foreign) => foreign, 'target_foreign'],
])('a target %s opens nothing and says why', async (_what, change, code) => {
  const { course, file, custom, foreign } = guarded;
  const target = change(custom[TARGET_PARAMETER] ?? '', foreign);

  const learner = await learns(course, { ...custom, [TARGET_PARAMETER]: target });

  expect(learner.link).toMatchObject({ file: null, problem: { code, message: expect.stringContaining('Add the link again') } });
  expect(await download(learner.api, file.id)).toBe(404);
});

test('a target of another tenant opens nothing, also where that tenant knows the same LMS', async () => {
  const { course, custom } = guarded;

  const learner = await opensLink(stranger, there, { user: { id: 'stranger' }, course, custom });

  expect(learner.link).toMatchObject({ file: null, problem: { code: 'target_key_unknown' } });
});

test('a target that was copied into another course opens nothing there that the person could not open anyway', async () => {
  const { teacher, file, custom } = guarded;
  const elsewhere = newCourse();
  const thief = await opensLink(tenant, at, { user: { id: 'thief' }, roles: [INSTRUCTOR], course: elsewhere, custom });
  const { body: me } = await (
    await launched(tenant, at, { user: { id: 'friend' }, roles: [LEARNER], course: elsewhere })
  ).api.get('/users/me');
  await teacher.api.post(`/files/${file.id}/permissions`, { user_id: me.id, permission_level: 'read' });

  const friend = await learns(elsewhere, custom, 'friend');

  expect(thief.link).toMatchObject({ file: null, problem: { code: 'link_of_other_course' } });
  expect([await download(thief.api, file.id), await download(friend.api, file.id)]).toEqual([404, 200]);
  expect(friend.link).toMatchObject({ file: { id: file.id }, problem: null });
});

test('the right belongs to the session of the link’s launch: no other session of the person has it', async () => {
  const { course, file, custom } = await courseWithLink();
  const learner = await learns(course, custom, 'reader');

  const other = await launched(tenant, at, { user: { id: 'reader' }, roles: [LEARNER], course, resourceLinkId: 'another link' });

  expect([await download(learner.api, file.id), await download(other.api, file.id)]).toEqual([200, 404]);
  const listed = await learner.api.get('/files');
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toContain(file.id);
});

test('the right ends at once with the right of whoever placed the link, in sessions that are open too', async () => {
  const course = newCourse();
  const owner = await tenant.user();
  const file = await fileOf(owner.api);
  const teacher = await teaches(course);
  const { body: me } = await teacher.api.get('/users/me');
  const grant = await owner.api.post(`/files/${file.id}/permissions`, { user_id: me.id, permission_level: 'admin' });
  const custom = await placedFor(tenant, at, teacher, file.id);
  const learner = await learns(course, custom);
  const opens = async (): Promise<unknown[]> => {
    const { body } = await learner.api.get(`/lti/launches/${learner.launchId}`);
    return [await download(learner.api, file.id), body.resource_link.problem?.code ?? null];
  };

  const before = await opens();
  await owner.api.patch(`/files/${file.id}/permissions/${grant.body.id}`, { permission_level: 'read' });
  const lowered = await opens();
  await owner.api.patch(`/files/${file.id}/permissions/${grant.body.id}`, { permission_level: 'admin' });
  const raised = await opens();
  await tenant.admin.patch(`/users/${me.id}`, { roles: ['viewer'] });
  const mayNotShare = await opens();
  await tenant.admin.patch(`/users/${me.id}`, { roles: ['instructor'], is_active: false });
  const inactive = await opens();

  expect({ before, lowered, raised, mayNotShare, inactive }).toEqual({
    before: [200, null],
    lowered: [404, 'link_maker_lost_right'],
    raised: [200, null],
    mayNotShare: [404, 'link_maker_lost_right'],
    inactive: [404, 'link_maker_gone'],
  });
});

test('a target gives no more than its maker could: a link to a file that the maker may only read opens nothing', async () => {
  const course = newCourse();
  const owner = await tenant.user();
  const file = await fileOf(owner.api);
  const teacher = await teaches(course);
  const { body: me } = await teacher.api.get('/users/me');
  await owner.api.post(`/files/${file.id}/permissions`, { user_id: me.id, permission_level: 'write' });

  const learner = await learns(course, await placedFor(tenant, at, teacher, file.id));

  expect(learner.link).toMatchObject({ file: null, problem: { code: 'link_maker_lost_right' } });
  expect(await download(learner.api, file.id)).toBe(404);
});

test('a person who leaves the course loses what the link gave, even in an open session', async () => {
  const { course, file, custom } = await courseWithLink();
  const learner = await learns(course, custom);
  const { body: me } = await learner.api.get('/users/me');
  const user = await tenant.db.tables.users.find({ uuid: me.id });

  const before = await download(learner.api, file.id);
  await tenant.db.tables.groupMembers.delete({ userId: user?.id ?? 0 });

  expect([before, await download(learner.api, file.id)]).toEqual([200, 404]);
  const { body } = await learner.api.get(`/lti/launches/${learner.launchId}`);
  expect(body.resource_link).toMatchObject({ file: null, problem: { code: 'link_not_member' } });
});

test('targets that a key signed end with the key', async () => {
  const teacher = await launched(stranger, there, { user: { id: 'prof' } });
  const file = await fileOf(teacher.api);
  const custom = await placedFor(stranger, there, teacher, file.id);
  const learner = await opensLink(stranger, there, { user: { id: 'pupil' }, roles: [LEARNER], custom });
  const opened = await download(learner.api, file.id);
  await stranger.db.query('DELETE FROM lti_link_keys');

  const after = await download(learner.api, file.id);
  const again = await opensLink(stranger, there, { user: { id: 'pupil' }, roles: [LEARNER], custom });

  expect([opened, after]).toEqual([200, 404]);
  expect(again.link).toMatchObject({ file: null, problem: { code: 'target_key_unknown' } });
});

test('the record of a link has title, course and file of its last launch, also when 10 people open it at once', async () => {
  const { course, file, custom } = await courseWithLink();

  const first = await Promise.all(range(10).map(() => learns(course, custom)));
  await opensLink(tenant, at, {
    user: { id: 'later' },
    course,
    custom,
    resourceLinkId: `link-of-${course.id}`,
    linkTitle: 'Week 1',
  });

  expect(first.every(({ link }) => link.file?.id === file.id)).toBe(true);
  const records = await tenant.db.query(
    'SELECT title, context_id, resource_link_id, file_uuid FROM lti_resource_links WHERE context_id = $1',
    [course.id],
  );
  expect(records).toContainEqual({
    title: 'Week 1',
    context_id: course.id,
    resource_link_id: `link-of-${course.id}`,
    file_uuid: file.id,
  });
  expect(records).toHaveLength(2); // the other one is the teacher's first launch
});

test('a link whose target a teacher replaces opens the new file from then on, and no longer the former one', async () => {
  const { course, teacher, file, custom } = await courseWithLink();
  const learner = await learns(course, custom);
  const second = await fileOf(teacher.api);

  const replaced = await learns(course, await placedFor(tenant, at, teacher, second.id));
  const removed = await learns(course, {});

  expect([replaced.link.file?.id, removed.link]).toEqual([second.id, expect.objectContaining({ file: null, problem: null })]);
  expect([await download(learner.api, file.id), await download(replaced.api, file.id)]).toEqual([404, 404]);
});

test('warm, login and launch of a placed link are one statement each, without a request to the LMS', async () => {
  const { course, file, custom } = await courseWithLink();
  const opened = { user: { id: 'regular' }, roles: [LEARNER], course, custom };
  await follow(new Browser(), at.lms.open(at.clientId, opened));
  const asked = at.lms.keySetRequests;

  const { reply, sql } = await tenant.counting(() => follow(new Browser(), at.lms.open(at.clientId, opened)));

  expect([reply.status, sql.length, at.lms.keySetRequests - asked]).toEqual([303, 2, 0]);
  const api = tenant.anonymous.as(new URL(String(reply.headers.location)).searchParams.get('token') ?? '');
  expect(await download(api, file.id)).toBe(200);
});

test('a warm request costs one statement in the session of a placed link, and none in that of another launch', async () => {
  const { course, file, custom } = await courseWithLink();
  const learner = await learns(course, custom);
  const other = await launched(tenant, at, { user: { id: 'other' }, course });
  const own = await fileOf(other.api);
  const warm = async (api: Api, id: string): Promise<unknown[]> => {
    await api.get(`/files/${id}`);
    const { reply, sql } = await tenant.counting(() => api.get(`/files/${id}`));
    return [reply.status, sql.length];
  };

  expect([await warm(learner.api, file.id), await warm(other.api, own.id)]).toEqual([
    [200, 1],
    [200, 0],
  ]);
});

test('a viewer of another person’s launch sees what their link gives, and the file if the viewer may read it', async () => {
  const { course, teacher, file, custom } = await courseWithLink();
  const learner = await learns(course, custom);

  const [ofTeacher, ofAdministrator] = [teacher.api, tenant.admin].map((api) => api.get(`/lti/launches/${learner.launchId}`));

  expect((await ofTeacher)?.body.resource_link).toMatchObject({ file: { id: file.id }, problem: null });
  expect((await ofAdministrator)?.body.resource_link).toMatchObject({ file: null, problem: null });
});
