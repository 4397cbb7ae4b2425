import type { Actor } from '../../api/actor.ts';
import type { Page } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Executor, Tx } from '../../store/postgres/database.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import { mayGrade } from '../launch/launch.policy.ts';
import type { CourseRole } from '../launch/roles.policy.ts';
import { listGrades } from './grades.sql.ts';
import {
  GRADE_COLUMNS,
  type GradeQuery,
  type GradeRow,
  type GradeView,
  type NewGrade,
  presentGrade,
  SCORE_SCOPE,
} from './grades.schema.ts';
import { SUBMIT_GRADE } from './grades.jobs.ts';

interface GradedLaunch {
  readonly lineItem: string | null;
  readonly scopes: readonly string[];
  readonly isActive: boolean;
  /** What the actor is in the launch's course; null: nothing. */
  readonly courseRole: CourseRole | 'member' | null;
}

const LAUNCH = `
  SELECT l.ags_lineitem_url AS "lineItem", l.ags_scopes AS scopes, t.is_active AND p.is_active AND t.platform_id = p.id AS "isActive", m.role AS "courseRole"
  FROM lti_launches l JOIN lti_tools t ON t.id = l.tool_id JOIN lti_platforms p ON p.id = l.platform_id
  LEFT JOIN groups g ON g.platform_id = l.platform_id AND g.context_id = l.context_id
  LEFT JOIN group_members m ON m.group_id = g.id AND m.user_id = $2
  WHERE l.launch_id = $1`;

/**
 * A launch that has grades is kept for them; its token has served its turn (docs/design/lti.md, Grades).
 *
 * Every pending grade of the cell is locked, in the order in which a worker locks them, since a worker moves the timestamp of its own only under
 * that lock (`renewTimestamp`). So a timestamp that moved before shows here (a row that was waited for is read anew), and none moves until this
 * is committed and the worker sees it. `id IN`: a row whose status changed meanwhile counts too.
 */
const INSERT = `
  WITH moving AS (SELECT timestamp FROM lti_grades WHERE id IN (SELECT id FROM lti_grades WHERE cell = $8::text AND status = 'pending') ORDER BY id FOR NO KEY UPDATE),
  newest AS (SELECT max(timestamp) AS timestamp FROM (SELECT timestamp FROM moving UNION ALL SELECT timestamp FROM lti_grades WHERE cell = $8::text) AS grades),
  written AS (
    INSERT INTO lti_grades AS g (uuid, launch_id, user_id, score, score_maximum, comment, line_item, cell, timestamp)
    SELECT $1::uuid, $2, $3::text, $4::numeric, $5::numeric, $6::text, $7::text, $8::text,
      greatest(date_trunc('second', $9::timestamptz), (SELECT date_trunc('second', timestamp) + interval '1 second' FROM newest))
    ON CONFLICT (cell, timestamp) DO NOTHING
    RETURNING ${GRADE_COLUMNS}),
  token AS (UPDATE lti_launches SET launch_token = NULL WHERE launch_id = $2 AND launch_token IS NOT NULL AND EXISTS (SELECT FROM written))
  SELECT * FROM written`;

/**
 * Grades that people here give and the LMS is told of (docs/design/lti.md, Grades).
 *
 * Invariants:
 * - A grade and the request to send it are there together or not at all.
 * - Its timestamp is a whole second, and within one cell of the grade book (line item and person) no two are the same:
 *   a later correction is newer by a second at least, however many race and however the clocks of servers differ.
 *   (Moodle compares whole seconds and refuses what is not newer.)
 * - Administrators and the instructors of the launch's course grade and see grades; to anybody of no standing in the course it does not exist.
 */
export class Grades {
  readonly #db: Database;
  readonly #jobs: JobRequests;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: { db: Database; jobs: JobRequests; clock: Clock; random: Random }) {
    this.#db = deps.db;
    this.#jobs = deps.jobs;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /** Three statements. Throws Problem not_found, forbidden, line_item_missing, score_scope_missing, registration_inactive. */
  async create(actor: Actor, launchId: string, input: NewGrade): Promise<GradeView> {
    const grade = await this.#db.transaction(async (tx) => {
      const launch = await gradedLaunch(tx, actor, launchId);
      if (launch.lineItem === null) throw new Problem('line_item_missing');
      if (!launch.scopes.includes(SCORE_SCOPE)) throw new Problem('score_scope_missing');
      if (!launch.isActive) throw new Problem('registration_inactive');
      const written = await this.#insert(tx, launchId, launch.lineItem, input);
      await this.#jobs.request(tx, SUBMIT_GRADE, { grade: written.uuid });
      return written;
    });
    return presentGrade(grade);
  }

  /** Two statements. Throws Problem not_found, forbidden. */
  async list(actor: Actor, launchId: string, query: GradeQuery): Promise<Page<GradeView>> {
    await gradedLaunch(this.#db.tables, actor, launchId);
    return listGrades(this.#db, launchId, query);
  }

  /** Two statements. Throws Problem not_found, forbidden. */
  async get(actor: Actor, launchId: string, id: string): Promise<GradeView> {
    await gradedLaunch(this.#db.tables, actor, launchId);
    const sql = `SELECT ${GRADE_COLUMNS} FROM lti_grades g WHERE g.uuid = $1 AND g.launch_id = $2`;
    const [grade] = await this.#db.prepared<GradeRow>('lti-grade', sql, [id, launchId]);
    if (!grade) throw new Problem('not_found');
    return presentGrade(grade);
  }

  async #insert(tx: Tx, launchId: string, lineItem: string, input: NewGrade): Promise<GradeRow> {
    const { user_id: userId, score, score_maximum: maximum, comment = null } = input;
    const cell = sha256Hex(JSON.stringify([lineItem, userId]));
    const row = [this.#random.uuid(), launchId, userId, score, maximum, comment, lineItem, cell, this.#clock.now()];
    for (;;) {
      const [written] = await tx.prepared<GradeRow>('lti-grade-insert', INSERT, row);
      if (written) return written;
      // Somebody else has just committed this very timestamp: one of those who race gets on at each turn.
    }
  }
}

/** The launch as this actor may grade it. One statement. Throws Problem not_found, forbidden. */
async function gradedLaunch(sql: Executor, actor: Actor, launchId: string): Promise<GradedLaunch> {
  const [launch] = await sql.prepared<GradedLaunch>('lti-graded-launch', LAUNCH, [launchId, actor.userId]);
  if (launch && mayGrade(actor, launch.courseRole)) return launch;
  if (launch?.courseRole == null) throw new Problem('not_found');
  throw new Problem('forbidden', 'Only administrators and instructors of the course can grade.');
}
