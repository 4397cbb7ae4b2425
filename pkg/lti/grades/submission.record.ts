import type { Sql } from '../../store/postgres/pool.ts';
import type { Score } from './scores.ts';

/** A pending grade as the worker needs it, with the registration that tells the LMS of it. */
export interface Submission extends Score {
  readonly uuid: string;
  readonly launchId: string;
  readonly attempts: number;
  /** Since when the LMS may have it. */
  readonly sentAt: Date | null;
  /** A newer score of the same cell has been submitted. */
  readonly isSuperseded: boolean;
  readonly isActive: boolean;
  readonly clientId: string;
  readonly tokenEndpoint: string;
  readonly tokenAudience: string | null;
  readonly keyId: string | null;
  /** Sealed. */
  readonly privateKey: string | null;
  readonly managedRef: string | null;
}

/** The lease of the work item under which something is written. */
export interface HeldBy {
  readonly id: number;
  readonly fence: string;
}

/** A newer score of the cell of grade `g` has been submitted. */
const SUPERSEDED = `EXISTS (SELECT FROM lti_grades n WHERE n.cell = g.cell AND n.timestamp > g.timestamp AND n.status = 'submitted')`;

/** In the tenant's role, as all here. Undefined: it is submitted, failed, or gone with its launch. */
export async function findSubmission(tx: Sql, uuid: string): Promise<Submission | undefined> {
  const [grade] = await tx.query<Submission>(
    `SELECT g.uuid, g.launch_id AS "launchId", g.user_id AS "userId", g.score, g.score_maximum AS "scoreMaximum", g.comment, g.timestamp,
       g.line_item AS "lineItem", g.attempts, g.sent_at AS "sentAt",
       ${SUPERSEDED} AS "isSuperseded",
       t.is_active AND p.is_active AND t.platform_id = p.id AS "isActive", t.client_id AS "clientId", p.token_endpoint AS "tokenEndpoint",
       p.token_audience AS "tokenAudience", t.key_id AS "keyId", t.private_key AS "privateKey", t.managed_ref AS "managedRef"
     FROM lti_grades g JOIN lti_launches l ON l.launch_id = g.launch_id JOIN lti_tools t ON t.id = l.tool_id JOIN lti_platforms p ON p.id = l.platform_id
     WHERE g.uuid = $1 AND g.status = 'pending'`,
    [uuid],
  );
  return grade;
}

/**
 * Who has lost the lease knows too little to write anything but a yes: the LMS may refuse his score because the next one has just sent it.
 * The next one takes the lease before it sends, so this sees it.
 */
const HELD = `status = 'pending' AND EXISTS (SELECT FROM carrel.work w WHERE w.tenant = current_user AND w.id = $2 AND w.fence = $3)`;

/** Another score of the cell of grade `g` is on its way just now. */
const UNDER_WAY = `EXISTS (
  SELECT FROM lti_grades o JOIN carrel.work w ON w.tenant = current_user AND w.line = 'grades' AND w.payload->>'grade' = o.uuid::text
  WHERE o.cell = g.cell AND o.id <> g.id AND o.status = 'pending' AND o.sent_at IS NOT NULL AND w.fence IS NOT NULL AND w.leased_until > now())`;

/**
 * Before each sending: from now on the LMS may have it. Undefined: the lease was lost, a newer score overtook it while a token was asked for,
 * or another of the same cell is on its way: not every LMS compares their times, so that the order in which they arrive decides.
 * Gives what the row said before: who had the lease before may have committed a sending or another timestamp after the grade was looked up.
 */
export async function markSent(tx: Sql, uuid: string, by: HeldBy): Promise<Pick<Submission, 'sentAt' | 'timestamp'> | undefined> {
  // Both lock the same rows: of two that ask at once the second sees what the first has written. In one order, so that they do not deadlock.
  const pending = await tx.query<Pick<Submission, 'uuid' | 'sentAt' | 'timestamp'>>(
    `SELECT uuid, sent_at AS "sentAt", timestamp FROM lti_grades WHERE cell = (SELECT cell FROM lti_grades WHERE uuid = $1) AND status = 'pending'
     ORDER BY id FOR NO KEY UPDATE`,
    [uuid],
  );
  const before = pending.find((grade) => grade.uuid === uuid);
  const isMarked = await changed(
    tx,
    `UPDATE lti_grades g SET sent_at = coalesce(sent_at, now()) WHERE uuid = $1 AND ${HELD} AND NOT ${SUPERSEDED} AND NOT ${UNDER_WAY} RETURNING id`,
    [uuid, by.id, by.fence],
  );
  return isMarked && before ? { sentAt: before.sentAt, timestamp: before.timestamp } : undefined;
}

/**
 * After the LMS refused the timestamp as not newer: the second that the next sending, again a first one, carries. `superseded`: a newer grade
 * of the cell was submitted; `waits`: one is pending, and its end decides. Undefined: the lease was lost.
 */
export async function renewTimestamp(tx: Sql, uuid: string, by: HeldBy, now: Date): Promise<Date | 'superseded' | 'waits' | undefined> {
  // Whoever inserts a newer one has locked this row too until it was there: the second statement sees it.
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

/** An attempt came to nothing; the next one follows. `sentAt`: what is known of it now. */
export const noteAttempt = (tx: Sql, uuid: string, by: HeldBy, note: { reason: string; sentAt: Date | null }): Promise<boolean> =>
  changed(
    tx,
    `UPDATE lti_grades SET attempts = attempts + 1, reason = left($4, 500), sent_at = $5 WHERE uuid = $1 AND ${HELD} RETURNING id`,
    [uuid, by.id, by.fence, note.reason, note.sentAt],
  );

/** The LMS does not get it. */
export const markFailed = (tx: Sql, uuid: string, by: HeldBy, reason: string): Promise<boolean> =>
  changed(
    tx,
    `UPDATE lti_grades SET status = 'failed', attempts = attempts + 1, reason = left($4, 500) WHERE uuid = $1 AND ${HELD} RETURNING id`,
    [uuid, by.id, by.fence, reason],
  );

/** The LMS has it, which is so whoever holds the lease. True once for each grade: whoever gets it emits the event. */
export const markSubmitted = (tx: Sql, uuid: string, at: Date, note: string | null): Promise<boolean> =>
  changed(
    tx,
    `UPDATE lti_grades SET status = 'submitted', submitted_at = $2, reason = $3 WHERE uuid = $1 AND status = 'pending' RETURNING id`,
    [uuid, at, note],
  );

const changed = async (tx: Sql, sql: string, params: readonly unknown[]): Promise<boolean> => (await tx.query(sql, params)).length > 0;
