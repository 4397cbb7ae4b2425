import { expect, test } from '@jest/globals';
import { fixture } from '../../support/suites/fixture.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { opensLink, placedFor } from '../../support/lms/placed.ts';
import { Browser, follow } from '../../support/lms/browser.ts';

const { tenant, at } = lmsSuite();

interface Course {
  readonly id: string;
  readonly title: string;
}

const newCourse = (): Course => {
  const id = `course-${systemRandom.hex(5)}`;
  return { id, title: id };
};

/** A course with two placed links: for a file of the teacher's own, and for one that a colleague put into the course's folder. */
async function courseWithLinks() {
  const course = newCourse();
  const teacher = await launched(tenant, at, { user: { id: `prof-${course.id}` }, roles: [INSTRUCTOR], course });
  const colleague = await launched(tenant, at, { user: { id: `colleague-${course.id}` }, roles: [INSTRUCTOR], course });
  const { body: launch } = await teacher.api.get(`/lti/launches/${teacher.launchId}`);
  const upload = async (by: typeof teacher, fields: Record<string, string>): Promise<string> =>
    (await by.api.upload('/files', { name: `${systemRandom.hex(5)}.txt`, file: Buffer.from('x'), fields })).body.id;
  const own = await upload(teacher, {});
  const shared = await upload(colleague, { folder_id: launch.folder.id });
  return {
    course,
    teacher,
    folder: launch.folder.id as string,
    files: { own, shared },
    own: await placedFor(tenant, at, teacher, own),
    shared: await placedFor(tenant, at, teacher, shared),
  };
}

/** A course with links, for those who do not make another one its copy. */
const guarded = fixture(
  () => courseWithLinks(),
  async () => {},
);

const opens = (course: Course, custom: Record<string, string>, id: string, role = LEARNER) =>
  opensLink(tenant, at, {
    user: { id },
    roles: [role],
    course,
    custom,
    resourceLinkId: `${course.id}-${custom['carrel_target']?.slice(-8)}`,
  });

const NOT_YET = {
  file: null,
  problem: { code: 'link_of_other_course', message: expect.stringContaining('an instructor of both courses') },
};

test('links of a copied course work for its people once an instructor of both courses has opened one of them', async () => {
  const origin = await courseWithLinks();
  const copy = newCourse();

  const early = await opens(copy, origin.own, 'pupil');
  const adopted = await opens(copy, origin.own, `prof-${origin.course.id}`, INSTRUCTOR);
  const [own, shared] = [await opens(copy, origin.own, 'pupil'), await opens(copy, origin.shared, 'pupil')];
  const downloads = [
    await own.api.get(`/files/${origin.files.own}/download`),
    await shared.api.get(`/files/${origin.files.shared}/download`),
  ];

  expect(early.link).toMatchObject(NOT_YET);
  expect([adopted, own, shared].map(({ link }) => [link.file?.id, link.problem])).toEqual([
    [origin.files.own, null],
    [origin.files.own, null],
    [origin.files.shared, null],
  ]);
  expect(downloads.map(({ status }) => status)).toEqual([200, 200]);
});

test('learners in the copy see nothing else of the old course, and the old course loses nothing', async () => {
  const origin = await courseWithLinks();
  const copy = newCourse();
  await opens(copy, origin.shared, `prof-${origin.course.id}`, INSTRUCTOR);

  const learner = await opens(copy, origin.shared, 'curious');
  const [folder, members, own, changed] = [
    await learner.api.get(`/folders/${origin.folder}`),
    await learner.api.get('/groups'),
    await learner.api.get(`/files/${origin.files.own}`),
    await learner.api.patch(`/files/${origin.files.shared}`, { name: 'mine.txt' }),
  ];
  const before = await opens(origin.course, origin.shared, 'pupil of the old course');

  expect([folder.status, own.status, changed.status]).toEqual([404, 404, 403]);
  expect(JSON.stringify(members.body)).not.toContain(origin.course.title);
  expect((await learner.api.get(`/files/${origin.files.shared}`)).body.folder).toBeNull();
  expect(before.link).toMatchObject({ file: { id: origin.files.shared }, problem: null });
  expect((await before.api.get(`/folders/${origin.folder}`)).status).toBe(200);
});

test.each<[string, string | undefined, string, Record<string, string>]>([
  ['an instructor of the new course alone', undefined, INSTRUCTOR, {}],
  ['an instructor of the new course who learns in the old one', LEARNER, INSTRUCTOR, {}],
  ['an instructor of the old course who learns in the new one', INSTRUCTOR, LEARNER, {}],
  [
    'an instructor of the new course who writes the history into the link themselves',
    undefined,
    INSTRUCTOR,
    { forged: 'history' },
  ],
])('%s does not make the new course a copy', async (_who, inOld, inNew, forged) => {
  const origin = guarded;
  const copy = newCourse();
  const id = `person-${copy.id}`;
  if (inOld !== undefined) await launched(tenant, at, { user: { id }, roles: [inOld], course: origin.course });
  const history =
    forged['forged'] === undefined ? {} : { carrel_course_history: origin.course.id, carrel_link_history: 'link-1' };

  const opened = await opens(copy, { ...origin.shared, ...history }, id, inNew);
  const pupil = await opens(copy, { ...origin.shared, ...history }, 'pupil');

  expect(opened.link.problem === null).toBe(inOld !== undefined); // who is in the old course reads its folder anyway
  expect(pupil.link).toMatchObject(NOT_YET);
  expect((await pupil.api.get(`/files/${origin.files.shared}`)).status).toBe(404);
});

test('a copy of a copy works by an instructor of the copy and of its copy', async () => {
  const origin = await courseWithLinks();
  const [copy, copyOfCopy] = [newCourse(), newCourse()];
  await opens(copy, origin.own, `prof-${origin.course.id}`, INSTRUCTOR);
  const successor = `successor-${copy.id}`;
  await opens(copy, origin.own, successor, INSTRUCTOR);

  const before = await opens(copyOfCopy, origin.own, 'pupil');
  await opens(copyOfCopy, origin.own, successor, INSTRUCTOR);
  const after = await opens(copyOfCopy, origin.own, 'pupil');

  expect(before.link).toMatchObject(NOT_YET);
  expect(after.link).toMatchObject({ file: { id: origin.files.own }, problem: null });
});

test('a link that learners of the copy opened first is given to them by the first instructor of both courses', async () => {
  const origin = await courseWithLinks();
  const copy = newCourse();
  const both = `prof-${origin.course.id}`;
  await launched(tenant, at, { user: { id: both }, roles: [INSTRUCTOR], course: copy });
  await opens(copy, origin.own, 'pupil');
  await opens(copy, origin.own, 'another pupil');

  await opens(copy, origin.own, both, INSTRUCTOR);

  expect((await opens(copy, origin.own, 'pupil')).link.problem).toBeNull();
});

test('in the copy a link ends as in the old course: with the right of whoever placed it', async () => {
  const origin = await courseWithLinks();
  const copy = newCourse();
  const both = `colleague-${origin.course.id}`;
  await opens(copy, origin.shared, both, INSTRUCTOR);
  const learner = await opens(copy, origin.shared, 'pupil');

  await launched(tenant, at, { user: { id: `prof-${origin.course.id}` }, roles: [LEARNER], course: origin.course });

  const { body } = await learner.api.get(`/lti/launches/${learner.launchId}`);
  expect([learner.link.problem, body.resource_link.problem?.code]).toEqual([null, 'link_maker_lost_right']);
  expect((await learner.api.get(`/files/${origin.files.shared}`)).status).toBe(404);
});

test('warm, a link in a copied course costs an instructor two statements with the login', async () => {
  const origin = await courseWithLinks();
  const copy = newCourse();
  const opened = { user: { id: `prof-${origin.course.id}` }, roles: [INSTRUCTOR], course: copy, custom: origin.own };
  await follow(new Browser(), at.lms.open(at.clientId, opened));

  const { reply, sql } = await tenant.counting(() => follow(new Browser(), at.lms.open(at.clientId, opened)));

  expect([reply.status, sql.length]).toEqual([303, 2]);
});
