import { expect, test } from '@jest/globals';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { INSTRUCTOR, LEARNER, LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { offersNotices } from '../../../pkg/local/demo/lms/notices.ts';
import { opensLink, placedFor } from '../../support/lms/placed.ts';
import { registeredLms, type Registration } from '../../support/lms/registration.ts';
import { waitFor } from '../../support/wait.ts';
import { gradingSuite } from '../../support/suites/worker-suite.ts';
import { SETTINGS } from '../../support/clients/grading.ts';

const { grading, lms } = gradingSuite(SETTINGS);

const newCourse = () => {
  const id = `course-${systemRandom.hex(5)}`;
  return { id, title: id };
};

async function postsNotice(at: Registration, type: string, claims: Record<string, unknown> = {}): Promise<void> {
  const address = lms.notices.of(at.clientId)[type] ?? '';
  const notices = [{ jwt: lms.notice(at.clientId, type, claims) }];
  const { status, body } = await grading.tenant.anonymous.post(address, { notices });
  if (status !== 200) throw new Error(`the notice was refused: ${status} ${JSON.stringify(body)}`);
}

const copyOf = (copy: string, origin: string) => ({ [`${LTI}/context`]: { id: copy }, [`${LTI}/origin_contexts`]: [origin] });

/** A registration whose LMS has our address for notices. */
async function withNotices(): Promise<Registration> {
  const at = await registeredLms(grading.tenant, grading.at);
  await launched(grading.tenant, at, { user: { id: 'ada' } }, offersNotices(lms.issuer));
  await waitFor('the LMS to have the address for notices', () => Object.keys(lms.notices.of(at.clientId)).length === 2);
  return at;
}

const handlerOf = async (at: Registration) => {
  const [row] = await grading.tenant.db.query<{ registered: boolean; reason: string | null; hello: boolean }>(
    `SELECT registered_at IS NOT NULL AS registered, reason, hello_at IS NOT NULL AS hello FROM lti_notice_handlers
     WHERE tool_id = $1`,
    [at.toolId],
  );
  return row;
};

test('the address for notices is left with a strict LMS once, for each type, and its hello is noted', async () => {
  const at = await withNotices();
  await waitFor('the registration to be noted', async () => (await handlerOf(at))?.registered);

  const before = lms.notices.service.received.length;
  await launched(grading.tenant, at, { user: { id: 'ben' } }, offersNotices(lms.issuer));
  await postsNotice(at, 'LtiHelloWorldNotice');
  await waitFor('the hello to be noted', async () => (await handlerOf(at))?.hello);

  const address = `${grading.tenant.url}/notices`;
  expect(lms.notices.of(at.clientId)).toEqual({ LtiHelloWorldNotice: address, LtiContextCopyNotice: address });
  expect(lms.notices.service.received.length).toBe(before);
  expect(lms.tokens.refusals).toEqual([]);
});

test('a notice of a copied course has its links work at once, without an instructor of both', async () => {
  const at = await withNotices();
  const [origin, copy, copyOfCopy] = [newCourse(), newCourse(), newCourse()];
  const teacher = await launched(grading.tenant, at, { user: { id: `prof-${origin.id}` }, roles: [INSTRUCTOR], course: origin });
  const file = (await teacher.api.upload('/files', { name: `${origin.id}.txt`, file: Buffer.from('x') })).body;
  const custom = await placedFor(grading.tenant, at, teacher, file.id);
  const opens = (course: typeof copy) =>
    opensLink(grading.tenant, at, { user: { id: 'pupil' }, roles: [LEARNER], course, custom });

  const before = (await opens(copy)).link.problem?.code;
  // The notices may arrive in any order.
  await postsNotice(at, 'LtiContextCopyNotice', copyOf(copyOfCopy.id, copy.id));
  await postsNotice(at, 'LtiContextCopyNotice', copyOf(copy.id, origin.id));
  const known = () => grading.tenant.db.query('SELECT FROM lti_course_copies WHERE origin_id = $1', [origin.id]);
  await waitFor('both copies to be known', async () => (await known()).length === 2);
  const opened = [await opens(copy), await opens(copyOfCopy), await opens(newCourse())];

  expect(before).toBe('link_of_other_course');
  expect(opened.map(({ link }) => link.file?.id ?? link.problem?.code)).toEqual([file.id, file.id, 'link_of_other_course']);
});

test('an LMS that is busy is asked again, one that refuses the scope is left alone with the reason', async () => {
  const [busy, strict] = [await registeredLms(grading.tenant, grading.at), await registeredLms(grading.tenant, grading.at)];
  lms.notices.service.manner.set({ status: 404, text: 'no such deployment' });
  await launched(grading.tenant, strict, { user: { id: 'ada' } }, offersNotices(lms.issuer));
  const refused = await waitFor('the refusal', async () => {
    const row = await handlerOf(strict);
    return row?.reason ? row : undefined;
  });
  lms.notices.service.manner.set({ status: 503, headers: { 'retry-after': '0' }, text: 'busy' });
  await launched(grading.tenant, busy, { user: { id: 'ada' } }, offersNotices(lms.issuer));
  const waiting = await waitFor('the reason', async () => (await handlerOf(busy))?.reason ?? undefined);
  lms.notices.service.manner.set('well');
  const due = await grading.tenant.db.query(
    `SELECT FROM carrel.work WHERE tenant = current_user AND kind = 'lti.notice-handler' AND payload ->> 'tool' = $1
       AND due_at IS NOT NULL`,
    [String(busy.toolId)],
  );

  expect(refused).toMatchObject({ registered: false, reason: 'LtiHelloWorldNotice: the LMS answered 404: no such deployment' });
  expect([waiting, due.length]).toEqual(['LtiHelloWorldNotice: the LMS answered 503: busy', 1]);
});

test.each<[number, string, string, boolean]>([
  [503, '', 'answered 503', true],
  [500, 'oops', 'answered 500: oops', true],
  [408, '', 'answered 408', true],
  [425, '[]', 'answered 425', true],
  [429, '', 'answered 429', true],
  [302, '', 'answered 302; redirects are not followed', true],
  [400, '', 'answered 400', false],
])('an LMS that answers %i %j to the address for notices %s is asked again: %s', async (status, text, words, isAgain) => {
  const at = await registeredLms(grading.tenant, grading.at);
  lms.notices.service.manner.set({ status, text });
  await launched(grading.tenant, at, { user: { id: 'ada' } }, offersNotices(lms.issuer));
  const reason = await waitFor('the reason', async () => (await handlerOf(at))?.reason ?? undefined);
  lms.notices.service.manner.set('well');
  const ofTool = `tenant = current_user AND kind = 'lti.notice-handler' AND payload ->> 'tool' = $1`;
  await waitFor('the end of the attempt', async () => {
    const [job] = await grading.tenant.db.query<{ waits: boolean }>(
      `SELECT fence IS NULL AS waits FROM carrel.work WHERE ${ofTool}`,
      [String(at.toolId)],
    );
    return isAgain ? job?.waits : job === undefined;
  });

  expect(reason).toBe(`LtiHelloWorldNotice: the LMS ${words}`);
});
