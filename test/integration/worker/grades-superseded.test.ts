import { expect, test } from '@jest/globals';
import { findSubmission, markSent, renewTimestamp } from '../../../pkg/lti/grades/submission.sql.ts';
import type { GradeView } from '../../../pkg/lti/grades/grades.schema.ts';
import type { Tx } from '../../../pkg/store/postgres/database.ts';
import { waitFor } from '../../support/wait.ts';
import { gradingSuite } from '../../support/suites/worker-suite.ts';

const { platform, grading } = gradingSuite();

test('an older grade that was looked up before a newer one was accepted is not sent after it', async () => {
  const course = await grading.launch();
  const { db } = grading.tenant;
  const [older, newer] = [await course.grade('overtaken', 1), await course.grade('overtaken', 2)];
  const lease = `UPDATE carrel.work SET fence = gen_random_uuid() WHERE payload->>'grade' = $1 RETURNING id, fence`;
  const [held] = await platform.pool.query<{ id: number; fence: string }>(lease, [older.id]);
  const send = async () => (await db.transaction((tx) => markSent(tx, older.id, held ?? { id: 0, fence: '' }))) !== undefined;
  const lookedUp = await db.transaction((tx) => findSubmission(tx, older.id));

  const before = await send();
  await db.query(`UPDATE lti_grades SET status = 'submitted' WHERE uuid = $1`, [newer.id]);
  const after = await send();

  expect([lookedUp?.isSuperseded, before, after]).toEqual([false, true, false]);
  expect((await db.transaction((tx) => findSubmission(tx, older.id)))?.isSuperseded).toBe(true);
});

/** The lease of a worker that has just taken the grade. */
async function leaseOf({ id }: GradeView): Promise<{ id: number; fence: string }> {
  const [held] = await platform.pool.query<{ id: number; fence: string }>(
    `UPDATE carrel.work SET fence = gen_random_uuid(), leased_until = now() + interval '1 hour' WHERE payload->>'grade' = $1
     RETURNING id, fence`,
    [id],
  );
  return held ?? { id: 0, fence: '' };
}

test('a correction that is given while the timestamp of what it corrects moves on is newer all the same', async () => {
  const course = await grading.launch();
  const { db } = grading.tenant;
  const older = await course.grade('moving', 1);
  const lease = await leaseOf(older);
  const ahead = new Date(Date.parse(older.timestamp) + 60_000);

  const { renewed, given } = await db.transaction(async (tx) => {
    const at = await renewTimestamp(tx, older.id, lease, ahead);
    const correction = course.grade('moving', 2);
    const [{ pid } = { pid: 0 }] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await waitFor('the correction to wait', async () => {
      const blocked = await db.query('SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))', [pid]);
      return blocked.length > 0;
    });
    return { renewed: at, given: { correction } };
  });

  expect(renewed).toEqual(ahead);
  expect(Date.parse((await given.correction).timestamp)).toBe(ahead.getTime() + 1000);
});

/** Returns the number of connections that wait, directly or indirectly, for the connection with this id. */
async function waitingFor(pid: number): Promise<number> {
  const blocked = await platform.pool.query(
    `WITH RECURSIVE behind AS (
       SELECT pid FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))
       UNION SELECT a.pid FROM pg_stat_activity a JOIN behind b ON b.pid = ANY (pg_blocking_pids(a.pid)))
     SELECT FROM behind`,
    [pid],
  );
  return blocked.length;
}
const untilBlocked = (what: string, pid: number, count: number): Promise<unknown> =>
  waitFor(what, async () => (await waitingFor(pid)) >= count);

async function pidOf(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return row?.pid ?? 0;
}

test.each([
  ['older', 0, 1],
  ['newer', 1, 0],
])('two grades of one cell are not sent at once, where the %s comes first', async (which, first, second) => {
  const course = await grading.launch();
  const { db } = grading.tenant;
  const grades = [await course.grade(`at once, ${which}`, 1), await course.grade(`at once, ${which}`, 2)];
  const leases = await Promise.all(grades.map(async (grade) => ({ grade: grade.id, held: await leaseOf(grade) })));
  const [ahead, behind] = [leases[first], leases[second]];
  if (!ahead || !behind) throw new Error('there are two');
  const send = async (tx: Tx, { grade, held }: (typeof leases)[number]) => (await markSent(tx, grade, held)) !== undefined;
  const sendBehind = () => db.transaction((tx) => send(tx, behind));

  const { isSent, race } = await db.transaction(async (tx) => {
    const isMarked = await send(tx, ahead);
    const pid = await pidOf(tx);
    let isAnswered = false;
    const answer = sendBehind().finally(() => (isAnswered = true));
    await waitFor('the other to wait', async () => isAnswered || (await waitingFor(pid)) > 0);
    return { isSent: isMarked, race: { answer } };
  });
  const atOnce = await race.answer;
  await platform.pool.query('UPDATE carrel.work SET fence = NULL, leased_until = NULL WHERE id = $1', [ahead.held.id]);

  expect([isSent, atOnce, await sendBehind()]).toEqual([true, false, true]);
});

/** A pending grade that is about to move past a newer one, which failed. */
async function besideFailed(userId: string) {
  const course = await grading.launch();
  const [older, newer] = [await course.grade(userId, 1), await course.grade(userId, 2)];
  await grading.tenant.db.query(`UPDATE lti_grades SET status = 'failed' WHERE uuid = $1`, [newer.id]);
  return { course, older, newer, lease: await leaseOf(older) };
}

test('a correction is newer than a failed grade whose timestamp moves, though the worker’s clock is ahead', async () => {
  const { course, older, lease } = await besideFailed('past a failed one');
  const ahead = new Date(Date.parse(older.timestamp) + 60_000);

  const { renewed, given } = await grading.tenant.db.transaction(async (tx) => {
    const at = await renewTimestamp(tx, older.id, lease, ahead);
    const [{ pid } = { pid: 0 }] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const correction = course.grade('past a failed one', 3);
    await untilBlocked('the correction to wait', pid, 1);
    return { renewed: at, given: { correction } };
  });

  expect(renewed).toEqual(ahead);
  expect(Date.parse((await given.correction).timestamp)).toBe(ahead.getTime() + 1000);
});

test('a timestamp does not move past a failed grade while a correction is being given: it waits for the correction', async () => {
  const { course, older, newer, lease } = await besideFailed('given meanwhile');

  const given = await platform.pool.transaction(async (blocker) => {
    // The correction stands, not yet committed, before its request to be sent.
    await blocker.query('LOCK TABLE carrel.work IN SHARE MODE');
    const [{ pid } = { pid: 0 }] = await blocker.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const correction = course.grade('given meanwhile', 3);
    await untilBlocked('the correction to wait', pid, 1);
    const renewed = grading.tenant.db.transaction((tx) => renewTimestamp(tx, older.id, lease, new Date(0)));
    renewed.catch(() => undefined);
    await untilBlocked('the move to wait for the correction', pid, 2);
    return { correction, renewed };
  });

  expect(await given.renewed).toBe('waits');
  expect(Date.parse((await given.correction).timestamp)).toBeGreaterThan(Date.parse(newer.timestamp));
  expect((await course.show(older)).timestamp).toBe(older.timestamp);
});

test('the next holder of a lease sends what the former one committed: the timestamp and the LMS’s permission', async () => {
  const course = await grading.launch();
  const { db } = grading.tenant;
  const grade = await course.grade('taken over', 1);
  const before = await leaseOf(grade);
  const ahead = new Date(Date.parse(grade.timestamp) + 60_000);
  const mark = (by: typeof before) => db.transaction((tx) => markSent(tx, grade.id, by));

  const first = await mark(before);
  const taken = await db.transaction(async (tx) => {
    await renewTimestamp(tx, grade.id, before, ahead);
    const after = await leaseOf(grade);
    const lookedUp = await db.transaction((other) => findSubmission(other, grade.id));
    const [{ pid } = { pid: 0 }] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const marked = mark(after);
    marked.catch(() => undefined);
    await untilBlocked('the next sending to wait', pid, 1);
    return { lookedUp, marked, after };
  });

  expect(first).toEqual({ sentAt: null, timestamp: new Date(grade.timestamp) });
  expect([taken.lookedUp?.sentAt, taken.lookedUp?.timestamp]).toEqual([expect.any(Date), new Date(grade.timestamp)]);
  expect(await taken.marked).toEqual({ sentAt: null, timestamp: ahead });
  expect(await mark(taken.after)).toEqual({ sentAt: expect.any(Date), timestamp: ahead });
});

test('a timestamp waits for a pending newer grade, gives way to a submitted one, and passes a failed one', async () => {
  const course = await grading.launch();
  const { db } = grading.tenant;
  const [older, newer] = [await course.grade('crowded', 1), await course.grade('crowded', 2)];
  const lease = await leaseOf(older);
  const set = (status: string) => db.query('UPDATE lti_grades SET status = $2 WHERE uuid = $1', [newer.id, status]);
  const renew = (by = lease) => db.transaction((tx) => renewTimestamp(tx, older.id, by, new Date(0)));

  const pending = await renew();
  await set('submitted');
  const submitted = await renew();
  await set('failed');
  const lost = await renew({ ...lease, fence: '00000000-0000-4000-8000-000000000000' });
  const failed = await renew();

  expect([pending, submitted, lost]).toEqual(['waits', 'superseded', undefined]);
  expect(failed).toEqual(new Date(Date.parse(newer.timestamp) + 1000));
});
