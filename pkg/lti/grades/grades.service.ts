import type { Actor } from '../../api/actor.ts';
import type { Page } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Executor, Tx } from '../../store/postgres/database.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import { mayGrade } from '../launch/launch.policy.ts';
import { listGrades } from './grade-list.sql.ts';
import { type GradeQuery, type GradeView, type NewGrade, SCORE_SCOPE } from './grades.schema.ts';
import { findGrade, findGradedLaunch, type GradedLaunch, type GradeRow, insertGrade } from './grades.sql.ts';
import { presentGrade } from './grades.view.ts';
import { SUBMIT_GRADE } from './grades.jobs.ts';

/**
 * Grades that are given in Carrel and sent to the LMS (docs/design/lti.md, Grades).
 *
 * Invariants:
 * - A grade and the job that sends it are inserted together or not at all.
 * - Its timestamp is a whole second and unique within one cell of the grade book (line item and user): a later correction is newer by at least
 *   a second, however many race and however the servers' clocks differ. (Moodle compares whole seconds and refuses what is not newer.)
 * - Administrators and the instructors of the launch's course give and see grades. Other members get 403; to anybody else the launch does not exist.
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
      const launch = await requireGradable(tx, actor, launchId);
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
    await requireGradable(this.#db.tables, actor, launchId);
    return listGrades(this.#db, launchId, query);
  }

  /** Two statements. Throws Problem not_found, forbidden. */
  async get(actor: Actor, launchId: string, id: string): Promise<GradeView> {
    await requireGradable(this.#db.tables, actor, launchId);
    const grade = await findGrade(this.#db.tables, launchId, id);
    if (!grade) throw new Problem('not_found');
    return presentGrade(grade);
  }

  async #insert(tx: Tx, launchId: string, lineItem: string, input: NewGrade): Promise<GradeRow> {
    const { user_id: userId, score, score_maximum: maximum, comment = null } = input;
    const cell = sha256Hex(JSON.stringify([lineItem, userId]));
    const [uuid, now] = [this.#random.uuid(), this.#clock.now()];
    const row = { uuid, launchId, userId, score, maximum, comment, lineItem, cell, now };
    for (;;) {
      const written = await insertGrade(tx, row);
      if (written) return written;
      // Another transaction has just committed this timestamp: in each round one of those that race succeeds.
    }
  }
}

/** The launch as this actor may grade it. One statement. Throws Problem not_found, forbidden. */
async function requireGradable(sql: Executor, actor: Actor, launchId: string): Promise<GradedLaunch> {
  const launch = await findGradedLaunch(sql, launchId, actor.userId);
  if (launch && mayGrade(actor, launch.courseRole)) return launch;
  if (launch?.courseRole == null) throw new Problem('not_found');
  throw new Problem('forbidden', 'Only administrators and instructors of the course can grade.');
}
