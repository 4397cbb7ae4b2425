import { beforeEach, expect, test } from '@jest/globals';
import type { GradeView } from '../../../pkg/lti/grades/grades.schema.ts';
import { insertJob } from '../../../pkg/store/postgres/job-store.ts';
import { newKey } from '../../../pkg/store/s3/objects.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { inParallel, range, waitFor } from '../../support/wait.ts';
import { writtenEvents } from '../../support/clients/webhooks.ts';
import { objectCount } from '../content/tenant-state.ts';
import { ROTATIONS, rotated } from '../../support/lms/registration.ts';
import { type Graded, SETTINGS, startGrading } from '../../support/clients/grading.ts';
import { gradingSuite } from '../../support/suites/worker-suite.ts';

const { worker, platform, grading, lms } = gradingSuite(SETTINGS);
let course: Graded;
beforeEach(async () => {
  course = await grading.launch();
});

async function killed(): Promise<void> {
  await worker.end('SIGKILL');
  await worker.start();
}

const requestsOf = (userId: string) => lms.scores.received.filter(({ body }) => body.includes(`"userId":"${userId}"`));
const isEnded = ({ status }: GradeView): boolean => status !== 'pending';

/**
 * Each is in the grade book, entered once, sent with the same bytes at each try; and for each there is one event, which arrives.
 */
async function allCountedOnce(grades: readonly GradeView[]): Promise<void> {
  await Promise.all(grades.map((grade) => course.submitted(grade)));
  const events = await writtenEvents(grading.tenant);
  for (const { id, user_id, score, timestamp } of grades) {
    expect(lms.scores.cell(user_id)).toMatchObject({ scoreGiven: score, timestamp, times: 1 });
    expect(new Set(requestsOf(user_id).map(({ body }) => body)).size).toBe(1);
    expect(events.filter(({ data }) => data.id === id)).toHaveLength(1);
  }
  const arrived = (): Set<unknown> => new Set(grading.receiver.received.filter(({ taken }) => taken).map(({ data }) => data.id));
  await waitFor('grade.submitted of each', () => grades.every(({ id }) => arrived().has(id)));
}

test('an LMS that is gone for a while gets each grade once when it is back', async () => {
  await lms.stop();
  const grades = await Promise.all(range(5).map((at) => course.grade(`gone-${at}`)));
  for (const grade of grades) await course.becomes(grade, ({ attempts }) => attempts > 1, 'a second attempt');

  await lms.resume();

  await allCountedOnce(grades);
});

test('a worker killed before it sends: the next one sends', async () => {
  lms.tokens.manner.set('slow');
  const before = lms.tokens.requests;
  const grade = await course.grade('unsent');
  await waitFor('the request of a token', () => lms.tokens.requests > before);

  lms.tokens.manner.set('well');
  await killed();

  await allCountedOnce([grade]);
  expect(requestsOf('unsent')).toHaveLength(1);
});

test('after a worker is killed between LMS and commit, the resend changes nothing, and there is one event', async () => {
  lms.scores.manner.set('held', 1);
  const grade = await course.grade('accepted');
  await waitFor('the LMS to accept', () => lms.scores.cell('accepted') !== undefined);
  expect((await course.show(grade)).status).toBe('pending');

  await killed();

  await allCountedOnce([grade]);
  expect(requestsOf('accepted').map(({ counted }) => counted)).toEqual([true, false]);
  expect((await course.show(grade)).reason).toBe('the LMS already had it');
});

test('workers killed at any moment lose no grade and count none twice', async () => {
  const grades = await Promise.all(range(60).map((at) => course.grade(`killed-${at}`, at)));
  for (const share of [5, 20, 40]) {
    const done = (): number => lms.scores.book.filter(({ userId }) => userId.startsWith('killed-')).length;
    await waitFor(`${share} grades`, () => done() >= share);
    await killed();
  }

  await allCountedOnce(grades);
});

test.each(ROTATIONS)(
  'a key of ours that is replaced %s while the LMS looks at a token’s request: the grade is counted once',
  async (how) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    lms.tokens.pause = promise;
    const before = lms.tokens.requests;
    const grade = await course.grade(`asked, ${how}`);
    await waitFor('the request of a token', () => lms.tokens.requests > before);

    const { keyId } = await rotated(grading.tenant, course.at, how);
    lms.tokens.pause = undefined;
    resolve();

    await allCountedOnce([grade]);
    expect([keyId === course.at.keyId, lms.tokens.refusals]).toEqual([false, []]);
  },
);

test.each(ROTATIONS)(
  'a key of ours that is replaced %s between two attempts signs for the next one: the LMS reads it',
  async (how) => {
    lms.tokens.keepsKeys = true;
    lms.scores.manner.set({ status: 503 });
    const grade = await course.grade(`tried, ${how}`);
    await course.becomes(grade, ({ attempts }) => attempts > 1, 'a second attempt');
    // An attempt that is under way has read the former key, and would sign with it once its token is taken back.
    const due = (after: string) =>
      platform.pool.query(
        `UPDATE carrel.work SET due_at = now() + $2::interval WHERE payload->>'grade' = $1 AND leased_until IS NULL RETURNING id`,
        [grade.id, after],
      );
    await waitFor('the grade to rest', async () => (await due('1 hour')).length > 0);

    const { keyId } = await rotated(grading.tenant, course.at, how);
    lms.tokens.revokeAll();
    lms.scores.manner.set('well');
    await due('0');

    await allCountedOnce([grade]);
    expect([lms.tokens.signers.slice(-1), lms.tokens.refusals]).toEqual([[keyId], []]);
  },
);

test('a Redis that loses everything loses no grade', async () => {
  const grades = await Promise.all(range(30).map((at) => course.grade(`forgotten-${at}`, at)));
  await waitFor('the first ones', () => lms.scores.cell('forgotten-0') !== undefined);

  await Promise.all([platform.stores.kill('valkey'), platform.stores.kill('valkey-queue')]);

  await allCountedOnce(grades);
});

test('the newest of 50 racing grades of a person is in the book at the end', async () => {
  const grades = await Promise.all(range(50).map((score) => course.grade('raced', score)));
  const ended = await Promise.all(grades.map((grade) => course.becomes(grade, isEnded, 'the end of each')));

  const newest = ended.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp)).at(-1);
  const submitted = ended.filter(({ status }) => status === 'submitted');
  expect(lms.scores.cell('raced')).toMatchObject({
    scoreGiven: newest?.score,
    timestamp: newest?.timestamp,
    times: submitted.length,
  });
  expect(newest?.status).toBe('submitted');
  for (const { status, reason } of ended) if (status === 'failed') expect(reason).toMatch(/a newer score/);
  const events = (await writtenEvents(grading.tenant))
    .filter(({ data }) => data.user_id === 'raced')
    .map(({ data }) => String(data.id));
  expect(events.toSorted()).toEqual(submitted.map(({ id }) => id).toSorted());
});

test('an LMS that hangs holds up neither the grades of other tenants nor purges', async () => {
  const other = await startGrading(platform);
  const quiet = await other.launch();
  const key = newKey(systemRandom);
  await other.tenant.objects.put(key, Buffer.from('x'));
  lms.scores.manner.set('slow');
  const before = lms.scores.received.length;
  await inParallel(range(200), 8, (at) => course.grade(`hanging-${at}`));
  await waitFor('the LMS to hang', () => lms.scores.received.length - before >= 4);

  await quiet.submitted(await quiet.grade('quiet'));
  await other.tenant.db.transaction((tx) => insertJob(tx, { kind: 'objects.purge', payload: { keys: [key] } }));
  await waitFor('the purge', async () => (await objectCount(other.tenant)) === 0);
  await other.stop();

  // Four at a time, each held for the time-out: who waits behind them all sees 200.
  expect(lms.scores.received.length - before).toBeLessThan(100);
});
