import { expect, test } from '@jest/globals';
import { LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { SETTINGS } from '../../support/clients/grading.ts';
import { range } from '../../support/wait.ts';
import { gradingSuite } from '../../support/suites/worker-suite.ts';

const { grading, lms } = gradingSuite(SETTINGS);
const retry = (id: string, by = grading.tenant.admin) => by.post(`/lti/grades/${id}/retry`);
const scoresOf = (userId: string) => lms.scores.received.filter(({ body }) => JSON.parse(body).userId === userId);

test('a grade that the LMS refused is sent again by hand, as a newer one', async () => {
  const { grade, failed, submitted } = await grading.launch();
  lms.scores.manner.set({ status: 400, text: 'user is not gradable' });
  const refused = await failed(await grade('refused'));
  lms.scores.manner.set('well');

  const { status, body, headers } = await retry(refused.id);
  const sent = await submitted(body);

  expect([status, body, headers.etag]).toEqual([
    202,
    {
      ...refused,
      status: 'pending',
      reason: null,
      attempts: 0,
      timestamp: expect.any(String),
      updated_at: expect.any(String),
      etag: expect.any(String),
    },
    `"${body.etag}"`,
  ]);
  expect(Date.parse(body.timestamp)).toBeGreaterThan(Date.parse(refused.timestamp));
  expect(sent.timestamp).toBe(body.timestamp);
  expect(lms.scores.cell('refused')).toMatchObject({ scoreGiven: 8.5, times: 1 });
  const { data } = (
    await grading.tenant.admin.get('/audit', { query: { target_id: refused.id, action: 'grade.update', sort: 'at' } })
  ).body;
  expect(data.map(({ changes }: { changes: { status: object } }) => changes.status)).toEqual([
    { from: 'pending', to: 'failed' },
    { from: 'failed', to: 'pending' },
    { from: 'pending', to: 'submitted' },
  ]);
});

test('one of many requests to resend a grade is heeded, and the LMS counts it once', async () => {
  const { grade, failed, submitted } = await grading.launch();
  lms.scores.manner.set({ status: 400 });
  const refused = await failed(await grade('often'));
  lms.scores.manner.set('well');

  const replies = await Promise.all(range(8).map(() => retry(refused.id)));
  await submitted(refused);

  const heeded = replies.filter(({ status }) => status === 202);
  expect(new Set(heeded.map(({ body }) => body.timestamp)).size).toBe(1);
  // Requests after the LMS has the grade get a conflict.
  for (const { status, body } of replies)
    expect([status, body.error]).toEqual(status === 202 ? [202, undefined] : [409, 'conflict']);
  expect(scoresOf('often').filter(({ counted }) => counted)).toHaveLength(1);
});

test('a grade that the LMS has, and one that a newer one stands for, are not sent again', async () => {
  const { grade, failed, submitted } = await grading.launch();
  lms.scores.manner.set({ status: 400 });
  const old = await failed(await grade('superseded', 1));
  lms.scores.manner.set('well');
  const newer = await submitted(await grade('superseded', 2));

  const [ofOld, ofNewer] = [await retry(old.id), await retry(newer.id)];

  expect([ofOld.status, ofOld.body.error, ofNewer.status, ofNewer.body.error]).toEqual([409, 'conflict', 409, 'conflict']);
  expect((await retry('00000000-0000-4000-8000-000000000000')).status).toBe(404);
});

test('instructors of the course have its grades sent again, learners and strangers do not', async () => {
  const { grade, failed, at } = await grading.launch();
  lms.scores.manner.set({ status: 400 });
  const refused = await failed(await grade('whose'));
  const by = async (user: string, more: object) => (await launched(grading.tenant, at, { user: { id: user }, ...more })).api;
  const learner = await by('learner', { roles: [LEARNER] });
  const stranger = await by('stranger', { course: { id: 'another', title: 'Another' } });
  const teacher = await by('teacher', {});

  const statuses = [];
  for (const api of [learner, stranger, teacher]) statuses.push((await retry(refused.id, api)).status);
  expect(statuses).toEqual([403, 404, 202]);
});
