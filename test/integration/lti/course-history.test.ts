import { expect, test } from '@jest/globals';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { type Claims, INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { brightspaceClaims } from '../../../pkg/local/demo/lms/faces.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { Browser, follow } from '../../support/lms/browser.ts';
import { placedFor } from '../../support/lms/placed.ts';
import { registeredLms } from '../../support/lms/registration.ts';

const { tenant, at } = lmsSuite();

const newCourse = () => {
  const id = `history-${systemRandom.hex(5)}`;
  return { id, title: id };
};
type Course = ReturnType<typeof newCourse>;

/** A course with a placed link for a file of its teacher's. */
async function courseWithLink() {
  const course = newCourse();
  const teacher = await launched(tenant, at, { user: { id: `prof-${course.id}` }, roles: [INSTRUCTOR], course });
  const file: string = (await teacher.api.upload('/files', { name: `${course.id}.txt`, file: Buffer.from('x') })).body.id;
  return { course, file, custom: await placedFor(tenant, at, teacher, file) };
}

/** Adds the history of a copied course, as Brightspace does in each launch. */
const copyOf = (history: unknown): Fault => ({
  claims: (claims: Claims) => void Object.assign(claims, brightspaceClaims(history)),
});

async function opens(course: Course, custom: Record<string, string>, fault: Fault = {}, role = LEARNER) {
  const opened = { user: { id: 'pupil' }, roles: [role], course, custom, resourceLinkId: `link-of-${course.id}` };
  const { api, launchId } = await launched(tenant, at, opened, fault);
  return { api, launchId, link: (await api.get(`/lti/launches/${launchId}`)).body.resource_link };
}

test('links of a course that Brightspace calls a copy work at once, without an instructor of both', async () => {
  const origin = await courseWithLink();

  const { link, api } = await opens(newCourse(), origin.custom, copyOf(origin.course.id));

  expect([link.file?.id, link.problem]).toEqual([origin.file, null]);
  expect((await api.get(`/files/${origin.file}/download`)).status).toBe(200);
});

test.each<[string, (origin: string) => unknown, boolean]>([
  ['a copy of a copy', (origin) => `another,${origin}`, true],
  ['a list with spaces in it', (origin) => `another, ${origin}`, true],
  ['URL-encoded ids', (origin) => `a%2Cb,${encodeURIComponent(origin)}`, true],
  ['no copy', () => '', false],
  ['a copy of another course', () => 'another', false],
  ['a copy of one whose id begins so', (origin) => `${origin}0`, false],
  ['the variable as it stands', () => '$Context.id.history', false],
  ['a list of JSON', (origin) => [origin], false],
  ['an id that cannot be stored', (origin) => `a%00,${'x'.repeat(300)},${origin}0`, false],
  ['null', () => null, false],
])('a course of which Brightspace says %s is taken so', async (_what, history, isCopy) => {
  const origin = await courseWithLink();

  const { link } = await opens(newCourse(), origin.custom, copyOf(history(origin.course.id)));

  expect([link.file?.id, link.problem?.code]).toEqual(isCopy ? [origin.file, undefined] : [undefined, 'link_of_other_course']);
});

test('a link that people of the copy opened before Brightspace said so works from the next launch on', async () => {
  const origin = await courseWithLink();
  const copy = newCourse();
  const before = await opens(copy, origin.custom);

  const after = await opens(copy, origin.custom, copyOf(origin.course.id));

  expect([before.link.problem?.code, after.link.problem]).toEqual(['link_of_other_course', null]);
});

test('a teacher who writes the history into the custom parameters makes nothing a copy', async () => {
  const origin = await courseWithLink();
  const written = { carrel_course_history: origin.course.id, 'http://www.brightspace.com': origin.course.id };

  const { link } = await opens(newCourse(), { ...origin.custom, ...written }, {}, INSTRUCTOR);

  expect(link.problem?.code).toBe('link_of_other_course');
});

test('the word of one LMS counts for its own courses alone', async () => {
  const [origin, other] = [await courseWithLink(), await registeredLms(tenant)];
  const opened = { roles: [LEARNER], course: newCourse(), custom: origin.custom };

  const { api, launchId } = await launched(tenant, other, opened, copyOf(origin.course.id));
  const { body } = await api.get(`/lti/launches/${launchId}`);
  await other.lms.stop();

  expect([body.resource_link.file, body.resource_link.problem === null]).toEqual([null, false]);
  expect(await tenant.db.query('SELECT FROM lti_course_copies WHERE origin_id = $1', [origin.course.id])).toEqual([]);
});

test('a warm launch of a link in such a copy costs two statements with the login, and so does one in no copy', async () => {
  const origin = await courseWithLink();
  for (const history of [origin.course.id, 'another']) {
    const opened = { user: { id: 'warm' }, roles: [LEARNER], course: newCourse(), custom: origin.custom };
    const launch = () => follow(new Browser(), at.lms.open(at.clientId, opened, copyOf(history)));
    await launch();

    const { reply, sql } = await tenant.counting(launch);

    expect([history, reply.status, sql.length]).toEqual([history, 303, 2]);
  }
});
