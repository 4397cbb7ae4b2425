import { expect, test } from '@jest/globals';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { Api } from '../../support/clients/api.ts';
import { Browser, follow } from '../../support/lms/browser.ts';
import { AGS, INSTRUCTOR, LEARNER, LTI } from '../../../pkg/local/demo/lms/claims.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { type Launched, launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';

const { tenant, at } = lmsSuite();

interface Course {
  readonly id: string;
  readonly title: string;
}

const newCourse = (): Course => {
  const id = `course-${systemRandom.hex(5)}`;
  return { id, title: id };
};

/** A launch that reviews what somebody has handed in; `change`: to its claims. */
const review = (id: string | undefined, change: (claims: Record<string, unknown>) => void = () => {}): Fault => ({
  claims: (claims) => {
    claims[`${LTI}/message_type`] = 'LtiSubmissionReviewRequest';
    if (id !== undefined) claims[`${LTI}/for_user`] = { user_id: id, roles: [LEARNER] };
    change(claims);
  },
});

const opens = (course: Course, id: string, role: string, fault: Fault = {}): Promise<Launched> =>
  launched(
    tenant,
    at,
    { user: { id, name: `Name of ${id}` }, roles: [role], course, resourceLinkId: `essay-of-${course.id}` },
    fault,
  );

const handIn = ({ api, launchId }: Launched, fileId: string, headers: Record<string, string> = {}) =>
  api.post(`/lti/launches/${launchId}/hand-in`, { file_id: fileId }, { headers });
const shown = ({ api, launchId }: Launched) => api.get(`/lti/launches/${launchId}/hand-in`);
const essay = async (api: Api): Promise<string> =>
  (await api.upload('/files', { name: `${systemRandom.hex(4)}.txt`, file: Buffer.from('first draft') })).body.id;

/** A learner of a course who has handed in their essay. */
async function handedIn() {
  const course = newCourse();
  const learner = await opens(course, `pupil-${course.id}`, LEARNER);
  const file = await essay(learner.api);
  const { status, body } = await handIn(learner, file);
  if (status !== 201) throw new Error(`the hand-in was refused: ${status} ${JSON.stringify(body)}`);
  return { course, learner, person: `pupil-${course.id}`, file, handIn: body };
}

test('a review opens exactly the version that was handed in, whatever became of the file, and nothing else of it', async () => {
  const { course, learner, person, file, handIn: made } = await handedIn();
  await learner.api.upload(`/files/${file}`, { method: 'PUT', name: 'essay.txt', file: Buffer.from('secret second draft') });
  await learner.api.patch(`/files/${file}`, { name: `renamed-${course.id}.txt` });

  const teacher = await opens(course, 'teacher', INSTRUCTOR, review(person));
  const { body } = await shown(teacher);
  const content = await tenant.anonymous.raw('GET', body.download_url);

  expect((await teacher.api.get(`/lti/launches/${teacher.launchId}`)).body.reviews).toBe(true);
  expect(body).toEqual({
    ...made,
    user: { id: made.user.id, name: `Name of ${person}` },
    file: { id: file, name: `renamed-${course.id}.txt` },
    version: 1,
    download_url: expect.stringContaining('/tickets/'),
  });
  expect([content.status, content.bytes.toString()]).toEqual([200, 'first draft']);
  const other = await Promise.all(
    [`/files/${file}`, `/files/${file}/download`, `/files/${file}/versions/2/download`].map((path) => teacher.api.get(path)),
  );
  expect(other.map(({ status }) => status)).toEqual([404, 404, 404]);
});

test('the last hand-in counts, a learner sees their own, and a key gives the first reply again', async () => {
  const { learner, file, course, person } = await handedIn();
  const second = await essay(learner.api);

  const again = await handIn(learner, second, { 'idempotency-key': 'second' });
  const replayed = await handIn(learner, second, { 'idempotency-key': 'second' });
  const own = await shown(learner);
  const reviewed = await shown(await opens(course, person, LEARNER, review(person)));

  expect([again.status, replayed.body]).toEqual([201, again.body]);
  expect([own.body.file.id, reviewed.body.file.id]).toEqual([second, second]);
  expect(second).not.toBe(file);
});

test('a review that names the line item alone finds what was handed in at its link', async () => {
  const { course, person, file } = await handedIn();
  const byLineItem = review(person, (claims) => delete claims[`${LTI}/resource_link`]);

  const teacher = await opens(course, 'teacher', INSTRUCTOR, byLineItem);

  expect((await shown(teacher)).body.file.id).toBe(file);
});

test.each<[string, string, string, Fault, string]>([
  ['without for_user', 'teacher', INSTRUCTOR, review(undefined), 'for_user_missing'],
  ['for an empty user', 'teacher', INSTRUCTOR, review(''), 'for_user_missing'],
  ['of another by a learner', 'learner', LEARNER, review('somebody'), 'review_not_allowed'],
  [
    'of neither link nor line item',
    'teacher',
    INSTRUCTOR,
    review('somebody', (claims) => (delete claims[`${LTI}/resource_link`], delete claims[AGS])),
    'resource_link_missing',
  ],
])('a review %s is refused with its own code', async (_what, id, role, fault, code) => {
  const page = await follow(new Browser(), at.lms.open(at.clientId, { user: { id }, roles: [role] }, fault));

  expect([page.status >= 400, page.code]).toEqual([true, code]);
});

test.each<[string, (made: Awaited<ReturnType<typeof handedIn>>) => Promise<Launched>]>([
  ['of another course', ({ person }) => opens(newCourse(), 'teacher', INSTRUCTOR, review(person))],
  ['of somebody who has handed in nothing', ({ course }) => opens(course, 'teacher', INSTRUCTOR, review('nobody'))],
  [
    'that another person has launched',
    async ({ course, person }) => {
      const { launchId } = await opens(course, 'teacher', INSTRUCTOR, review(person));
      return { ...(await opens(course, 'curious', LEARNER)), launchId };
    },
  ],
  [
    'by who teaches the course no more',
    async ({ course, person }) => {
      const teacher = await opens(course, `former-${course.id}`, INSTRUCTOR, review(person));
      await opens(course, `former-${course.id}`, LEARNER);
      return teacher;
    },
  ],
])('a review %s shows nothing', async (_what, open) => {
  const reviewer = await open(await handedIn());

  const { status, body } = await shown(reviewer);

  expect([status, body.error]).toEqual([404, 'not_found']);
});

test('people hand in files of their own, by launches of their own', async () => {
  const { course, learner, file } = await handedIn();
  const other = await opens(course, 'other', LEARNER);
  const teacher = await opens(course, 'teacher', INSTRUCTOR);
  const { body: launch } = await teacher.api.get(`/lti/launches/${teacher.launchId}`);
  const shared = await teacher.api.upload('/files', {
    name: 'task.txt',
    file: Buffer.from('x'),
    fields: { folder_id: launch.folder.id },
  });

  const refused = [
    await handIn(other, file),
    await handIn(other, shared.body.id),
    await handIn({ ...other, launchId: learner.launchId }, await essay(other.api)),
    await handIn(await opens(course, `pupil-${course.id}`, LEARNER, review(`pupil-${course.id}`)), file),
  ];

  expect(refused.map(({ status, body }) => [status, body.error])).toEqual([
    [404, 'not_found'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [403, 'forbidden'],
  ]);
});

test('a hand-in whose file was deleted says so, and its address returns nothing', async () => {
  const { course, person, file, learner } = await handedIn();
  const teacher = await opens(course, 'teacher', INSTRUCTOR, review(person));
  const before = (await shown(teacher)).body.download_url;
  await learner.api.delete(`/files/${file}`);

  const { status, body } = await shown(teacher);

  expect([status, body.message]).toEqual([404, expect.stringContaining('has been deleted')]);
  expect((await tenant.anonymous.raw('GET', before)).status).toBe(404);
});
