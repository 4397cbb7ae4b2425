import type { Executor, Tx } from '../../store/postgres/database.ts';
import type { CourseRole } from '../launch/launch-roles.policy.ts';
import type { GRADE_STATUS } from './grades.schema.ts';

/** A grade as the API shows it; the columns are GRADE_COLUMNS. */
export interface GradeRow {
  readonly id: number;
  readonly uuid: string;
  readonly launchId: string;
  /** Null: the grade was given for the launch. */
  readonly lineItemId: string | null;
  readonly userId: string;
  readonly score: number;
  readonly scoreMaximum: number;
  readonly comment: string | null;
  readonly timestamp: Date;
  readonly status: (typeof GRADE_STATUS)[number];
  readonly reason: string | null;
  readonly attempts: number;
  readonly submittedAt: Date | null;
  readonly revision: number;
  readonly updatedAt: Date;
}

export const GRADE_COLUMNS = `g.id, g.uuid, g.launch_id AS "launchId", g.line_item_id AS "lineItemId", g.user_id AS "userId",
  g.score, g.score_maximum AS "scoreMaximum", g.comment,
  g.timestamp, g.status, g.reason, g.attempts, g.submitted_at AS "submittedAt", g.revision, g.updated_at AS "updatedAt"`;

export interface GradedLaunch {
  readonly lineItem: string | null;
  readonly scopes: readonly string[];
  readonly isActive: boolean;
  /** The actor's role in the launch's course; null: not a member. */
  readonly courseRole: CourseRole | 'member' | null;
}

const LAUNCH = `
  SELECT l.ags_lineitem_url AS "lineItem", l.ags_scopes AS scopes, t.is_active AND p.is_active
    AND t.platform_id = p.id AS "isActive", m.role AS "courseRole"
  FROM lti_launches l JOIN lti_tools t ON t.id = l.tool_id JOIN lti_platforms p ON p.id = l.platform_id
  LEFT JOIN groups g ON g.platform_id = l.platform_id AND g.context_id = l.context_id
  LEFT JOIN group_members m ON m.group_id = g.id AND m.user_id = $2
  WHERE l.launch_id = $1`;

/**
 * A launch that has grades outlives its retention; its token is no longer needed (docs/design/lti.md, Grades).
 *
 * Locks every pending grade of the cell, in the order in which a worker locks them, since a worker moves a timestamp only under
 * that lock (`renewTimestamp`). So this statement sees a timestamp that has moved (Postgres reads a row again after waiting for
 * it), and none moves until this transaction is committed. `id IN` also includes a row whose status has changed meanwhile.
 */
const INSERT = `
  WITH moving AS (SELECT timestamp FROM lti_grades
    WHERE id IN (SELECT id FROM lti_grades WHERE cell = $8::text AND status = 'pending') ORDER BY id FOR NO KEY UPDATE),
  newest AS (SELECT max(timestamp) AS timestamp FROM (SELECT timestamp FROM moving UNION ALL SELECT timestamp FROM lti_grades
    WHERE cell = $8::text) AS grades),
  written AS (
    INSERT INTO lti_grades AS g (uuid, launch_id, user_id, score, score_maximum, comment, line_item, line_item_id,
      cell, timestamp)
    SELECT $1::uuid, $2, $3::text, $4::numeric, $5::numeric, $6::text, $7::text, $10::uuid, $8::text,
      greatest(date_trunc('second', $9::timestamptz), (SELECT date_trunc('second', timestamp) + interval '1 second' FROM newest))
    ON CONFLICT (cell, timestamp) DO NOTHING
    RETURNING ${GRADE_COLUMNS}),
  token AS (UPDATE lti_launches SET launch_token = NULL WHERE launch_id = $2 AND launch_token IS NOT NULL
    AND EXISTS (SELECT FROM written))
  SELECT * FROM written`;

const LAUNCH_OF_COURSE = `SELECT l.launch_id AS "launchId" FROM lti_launches l JOIN groups g ON g.platform_id = l.platform_id
  AND g.context_id = l.context_id
  WHERE g.id = $1 AND l.tool_id = $2 ORDER BY l.resource_link_id IS NULL, l.id DESC LIMIT 1 FOR KEY SHARE OF l`;

/**
 * Returns the last launch of a course by this registration; preferably of a link, since a request for content needs its token
 * until it is answered. The launch is not deleted before the end of the transaction. One statement.
 */
export async function lastLaunchOf(tx: Tx, groupId: number, toolId: number): Promise<string | undefined> {
  const [launch] = await tx.prepared<{ launchId: string }>('lti-last-launch', LAUNCH_OF_COURSE, [groupId, toolId]);
  return launch?.launchId;
}

/** Returns the launch with the actor's role in its course. One statement. */
export async function findGradedLaunch(sql: Executor, launchId: string, userId: number): Promise<GradedLaunch | undefined> {
  const [launch] = await sql.prepared<GradedLaunch>('lti-graded-launch', LAUNCH, [launchId, userId]);
  return launch;
}

export async function findGrade(sql: Executor, launchId: string, uuid: string): Promise<GradeRow | undefined> {
  const statement = `SELECT ${GRADE_COLUMNS} FROM lti_grades g WHERE g.uuid = $1 AND g.launch_id = $2 AND g.line_item_id IS NULL`;
  const [grade] = await sql.prepared<GradeRow>('lti-grade', statement, [uuid, launchId]);
  return grade;
}

/** A grade that may be sent again. */
export interface LockedGrade extends GradeRow, Pick<GradedLaunch, 'isActive' | 'courseRole'> {
  /** A newer grade of its cell was sent or is pending. */
  readonly isSuperseded: boolean;
}

const LOCKED = `
  SELECT ${GRADE_COLUMNS}, t.is_active AND p.is_active AND t.platform_id = p.id AS "isActive", m.role AS "courseRole",
    EXISTS (SELECT FROM lti_grades n WHERE n.cell = g.cell AND n.timestamp > g.timestamp
      AND n.status <> 'failed') AS "isSuperseded"
  FROM lti_grades g JOIN lti_launches l ON l.launch_id = g.launch_id JOIN lti_tools t ON t.id = l.tool_id
    JOIN lti_platforms p ON p.id = l.platform_id
  LEFT JOIN groups c ON c.platform_id = l.platform_id AND c.context_id = l.context_id
  LEFT JOIN group_members m ON m.group_id = c.id AND m.user_id = $2
  WHERE g.uuid = $1 FOR NO KEY UPDATE OF g`;

/** Locks the grade: workers wait for the end of the transaction before they send it. One statement. */
export async function lockGrade(tx: Tx, uuid: string, userId: number): Promise<LockedGrade | undefined> {
  const [grade] = await tx.prepared<LockedGrade>('lti-grade-lock', LOCKED, [uuid, userId]);
  return grade;
}

const AGAIN = `
  UPDATE lti_grades g SET status = 'pending', reason = NULL, attempts = 0, sent_at = NULL,
    timestamp = greatest(date_trunc('second', $2::timestamptz),
    (SELECT date_trunc('second', max(f.timestamp)) + interval '1 second' FROM lti_grades f WHERE f.cell = g.cell))
  WHERE g.uuid = $1 RETURNING ${GRADE_COLUMNS}`;

/**
 * Resets a locked failed grade to the state of a new one. One statement. Throws UniqueViolation if another transaction has just
 * used the timestamp.
 */
export async function gradeAgain(tx: Tx, uuid: string, now: Date): Promise<GradeRow> {
  const [grade] = await tx.prepared<GradeRow>('lti-grade-again', AGAIN, [uuid, now]);
  if (!grade) throw new Error('a grade was deleted while it was locked');
  return grade;
}

export interface NewGradeRow {
  readonly uuid: string;
  readonly launchId: string;
  readonly userId: string;
  readonly score: number;
  readonly maximum: number;
  readonly comment: string | null;
  readonly lineItem: string;
  readonly lineItemId: string | null;
  /** SHA-256 of line item and user. */
  readonly cell: string;
  readonly now: Date;
}

/** Returns undefined if another transaction has just used the timestamp: try again. */
export async function insertGrade(tx: Tx, row: NewGradeRow): Promise<GradeRow | undefined> {
  const { uuid, launchId, userId, score, maximum, comment, lineItem, lineItemId, cell, now } = row;
  const values = [uuid, launchId, userId, score, maximum, comment, lineItem, cell, now, lineItemId];
  const [written] = await tx.prepared<GradeRow>('lti-grade-insert', INSERT, values);
  return written;
}
