import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findSubmission, markSent } from '../../../pkg/lti/grades/submission.record.ts';
import { type Grading, startGrading } from './grading.ts';
import { startPlatform, type TestPlatform } from './platform.ts';

let platform: TestPlatform;
let grading: Grading;
beforeAll(async () => {
  platform = await startPlatform();
  grading = await startGrading(platform);
});
afterAll(async () => {
  await grading?.stop();
  await platform?.stop();
});

test('an older grade that was looked up before a newer one was accepted is not sent after it', async () => {
  const course = await grading.launch();
  const { db } = grading.tenant;
  const [older, newer] = [await course.grade('overtaken', 1), await course.grade('overtaken', 2)];
  const lease = `UPDATE carrel.work SET fence = gen_random_uuid() WHERE payload->>'grade' = $1 RETURNING id, fence`;
  const [held] = await platform.pool.query<{ id: number; fence: string }>(lease, [older.id]);
  const send = () => db.transaction((tx) => markSent(tx, older.id, held ?? { id: 0, fence: '' }));
  const lookedUp = await db.transaction((tx) => findSubmission(tx, older.id));

  const before = await send();
  await db.query(`UPDATE lti_grades SET status = 'submitted' WHERE uuid = $1`, [newer.id]);
  const after = await send();

  expect([lookedUp?.isSuperseded, before, after]).toEqual([false, true, false]);
  expect((await db.transaction((tx) => findSubmission(tx, older.id)))?.isSuperseded).toBe(true);
});

test('two grades of one cell are not sent at once, whichever comes first', async () => {
  const course = await grading.launch();
  const { db } = grading.tenant;
  const grades = [await course.grade('at once', 1), await course.grade('at once', 2)];
  const leases = await Promise.all(
    grades.map(async ({ id }) => {
      const [held] = await platform.pool.query<{ id: number; fence: string }>(
        `UPDATE carrel.work SET fence = gen_random_uuid(), leased_until = now() + interval '1 hour' WHERE payload->>'grade' = $1 RETURNING id, fence`,
        [id],
      );
      return { grade: id, held: held ?? { id: 0, fence: '' } };
    }),
  );
  const send = ({ grade, held }: (typeof leases)[number]) => db.transaction((tx) => markSent(tx, grade, held));

  const sent = await Promise.all(leases.map(send));
  const [first, second] = sent[0] ? leases : leases.toReversed();
  if (!first || !second) throw new Error('there are two');
  await platform.pool.query('UPDATE carrel.work SET fence = NULL, leased_until = NULL WHERE id = $1', [first.held.id]);
  const after = await send(second);

  expect([sent.filter(Boolean).length, after]).toEqual([1, true]);
});
