import type { Sql } from '../../store/postgres/pool.ts';
import { serviceRegistration, type ServiceRegistration } from '../services/service-client.ts';
import type { Score } from './post-score.ts';

/** A pending grade with the registration that sends it, for the worker. */
export interface Submission extends Score, ServiceRegistration {
  readonly uuid: string;
  readonly launchId: string;
  /** Null: the grade was given for the launch. */
  readonly lineItemId: string | null;
  readonly attempts: number;
  /** Time of the first sending: from then on the LMS may have it. */
  readonly sentAt: Date | null;
  /** A newer score of the same cell has been submitted. */
  readonly isSuperseded: boolean;
}

/** The lease of the job under which a statement writes. */
export interface Lease {
  readonly id: number;
  readonly fence: string;
}

/** A newer score of the cell of grade `g` has been submitted. */
const SUPERSEDED = `EXISTS (SELECT FROM lti_grades n WHERE n.cell = g.cell AND n.timestamp > g.timestamp
  AND n.status = 'submitted')`;

/**
 * Runs in the tenant's role, like all statements here. Undefined: the grade was submitted, has failed, or was deleted with its
 * launch.
 */
export async function findSubmission(tx: Sql, uuid: string): Promise<Submission | undefined> {
  const [grade] = await tx.query<Submission>(
    `SELECT g.uuid, g.launch_id AS "launchId", g.line_item_id AS "lineItemId", g.user_id AS "userId", g.score,
       g.score_maximum AS "scoreMaximum", g.comment, g.timestamp,
       g.line_item AS "lineItem", g.attempts, g.sent_at AS "sentAt",
       ${SUPERSEDED} AS "isSuperseded",
       ${serviceRegistration('l.deployment_id')}
     FROM lti_grades g JOIN lti_launches l ON l.launch_id = g.launch_id JOIN lti_tools t ON t.id = l.tool_id
       JOIN lti_platforms p ON p.id = l.platform_id
     WHERE g.uuid = $1 AND g.status = 'pending'`,
    [uuid],
  );
  return grade;
}

/**
 * A worker that lost its lease may record only that the LMS accepted the grade: a refusal may result from the next worker's
 * sending. The next worker takes the lease before it sends, so this condition detects it.
 */
const HELD = `status = 'pending' AND EXISTS (SELECT FROM carrel.work w WHERE w.tenant = current_user AND w.id = $2
  AND w.fence = $3)`;

/** Another score of the cell of grade `g` is being sent. */
const UNDER_WAY = `EXISTS (
  SELECT FROM lti_grades o JOIN carrel.work w ON w.tenant = current_user AND w.queue = 'grades'
    AND w.payload->>'grade' = o.uuid::text
  WHERE o.cell = g.cell AND o.id <> g.id AND o.status = 'pending' AND o.sent_at IS NOT NULL AND w.fence IS NOT NULL
    AND w.leased_until > now())`;

/**
 * Records, before each sending, that the LMS may have the grade from now on. Returns undefined if the lease was lost, if a newer
 * score was submitted while the token was requested, or if another score of the same cell is being sent: some LMSs do not compare
 * timestamps, so the order of arrival decides. Returns the row's former values otherwise: the previous holder of the lease may
 * have committed a sending or another timestamp after the grade was read.
 */
export async function markSent(tx: Sql, uuid: string, by: Lease): Promise<Pick<Submission, 'sentAt' | 'timestamp'> | undefined> {
  // Two racing workers lock the same rows, in one order so that they do not deadlock; the second sees what the first wrote.
  const pending = await tx.query<Pick<Submission, 'uuid' | 'sentAt' | 'timestamp'>>(
    `SELECT uuid, sent_at AS "sentAt", timestamp FROM lti_grades WHERE cell = (SELECT cell FROM lti_grades WHERE uuid = $1)
       AND status = 'pending'
     ORDER BY id FOR NO KEY UPDATE`,
    [uuid],
  );
  const before = pending.find((grade) => grade.uuid === uuid);
  const isMarked = await changed(
    tx,
    `UPDATE lti_grades g SET sent_at = coalesce(sent_at, now()) WHERE uuid = $1 AND ${HELD} AND NOT ${SUPERSEDED}
       AND NOT ${UNDER_WAY} RETURNING id`,
    [uuid, by.id, by.fence],
  );
  return isMarked && before ? { sentAt: before.sentAt, timestamp: before.timestamp } : undefined;
}

/**
 * Returns the timestamp of the next sending after the LMS refused the last one as not newer; the next sending counts as a first
 * one. `superseded`: a newer grade of the cell was submitted. `waits`: a newer one is pending, and its result decides. Undefined:
 * the lease was lost.
 */
export async function renewTimestamp(
  tx: Sql,
  uuid: string,
  by: Lease,
  now: Date,
): Promise<Date | 'superseded' | 'waits' | undefined> {
  // The insert of a newer grade holds this row's lock until it commits, so the second statement sees it.
  await tx.query('SELECT FROM lti_grades WHERE uuid = $1 FOR NO KEY UPDATE', [uuid]);
  const [newer] = await tx.query<{ status: string }>(
    `SELECT n.status FROM lti_grades g JOIN lti_grades n ON n.cell = g.cell AND n.timestamp > g.timestamp
     WHERE g.uuid = $1 AND n.status <> 'failed' ORDER BY n.status = 'submitted' DESC LIMIT 1`,
    [uuid],
  );
  if (newer) return newer.status === 'submitted' ? 'superseded' : 'waits';
  const [renewed] = await tx.query<{ timestamp: Date }>(
    `UPDATE lti_grades g SET sent_at = NULL, timestamp = greatest(date_trunc('second', $4::timestamptz),
       (SELECT date_trunc('second', max(f.timestamp)) + interval '1 second' FROM lti_grades f WHERE f.cell = g.cell))
     WHERE uuid = $1 AND ${HELD} RETURNING timestamp`,
    [uuid, by.id, by.fence, now],
  );
  return renewed?.timestamp;
}

/** Records an attempt that failed and will be retried. `sentAt`: as known after the attempt. */
export const noteAttempt = (tx: Sql, uuid: string, by: Lease, note: { reason: string; sentAt: Date | null }): Promise<boolean> =>
  changed(
    tx,
    `UPDATE lti_grades SET attempts = attempts + 1, reason = left($4, 500), sent_at = $5 WHERE uuid = $1 AND ${HELD}
       RETURNING id`,
    [uuid, by.id, by.fence, note.reason, note.sentAt],
  );

/** Records that the grade will not be sent again. */
export const markFailed = (tx: Sql, uuid: string, by: Lease, reason: string): Promise<boolean> =>
  changed(
    tx,
    `UPDATE lti_grades SET status = 'failed', attempts = attempts + 1, reason = left($4, 500) WHERE uuid = $1 AND ${HELD}
       RETURNING id`,
    [uuid, by.id, by.fence, reason],
  );

/**
 * Records that the LMS has the grade; does not need the lease. Returns true once for each grade: the caller then emits the event.
 */
export const markSubmitted = (tx: Sql, uuid: string, at: Date, note: string | null): Promise<boolean> =>
  changed(
    tx,
    `UPDATE lti_grades SET status = 'submitted', submitted_at = $2, reason = $3 WHERE uuid = $1 AND status = 'pending'
       RETURNING id`,
    [uuid, at, note],
  );

const changed = async (tx: Sql, sql: string, params: readonly unknown[]): Promise<boolean> =>
  (await tx.query(sql, params)).length > 0;
