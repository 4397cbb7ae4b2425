import type { Actor } from '../../api/actor.ts';
import type { Page } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Executor, Tx } from '../../store/postgres/database.ts';
import { UniqueViolation } from '../../store/postgres/errors.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import { requireTaught } from '../contexts/contexts.service.ts';
import type { ContextRow } from '../contexts/contexts.sql.ts';
import { mayGrade } from '../launch/launch.policy.ts';
import type { WhichLineItem } from '../line-items/line-items.service.ts';
import { findLineItem } from '../line-items/line-items.sql.ts';
import { serviceMissing } from '../services/lms-problems.policy.ts';
import { findServiceRegistration } from '../services/service-client.ts';
import { listAllGrades, listGrades } from './grade-list.sql.ts';
import { type AllGradesQuery, type GradeQuery, type GradeView, type NewGrade, SCORE_SCOPE } from './grades.schema.ts';
import {
  findGrade,
  findGradedLaunch,
  gradeAgain,
  type GradedLaunch,
  type GradeRow,
  insertGrade,
  lastLaunchOf,
  lockGrade,
} from './grades.sql.ts';
import { presentGrade } from './grades.view.ts';
import { SUBMIT_GRADE } from './grades.jobs.ts';

/**
 * Grades that people give in Carrel and that are sent to the LMS (docs/design/lti.md, Grades).
 *
 * Invariants:
 * - A grade and the job that sends it are inserted together or not at all.
 * - Its timestamp is a whole second and unique within one cell of the grade book (line item and user). A later correction is
 *   newer by at least a second, even if several race and the servers' clocks differ. (Moodle compares whole seconds and refuses a
 *   timestamp that is not newer.)
 * - Administrators and the instructors of the launch's course give and see grades. Other members get 403; for everyone else the
 *   launch does not exist.
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

  /**
   * Takes three statements. Throws Problem not_found, forbidden, line_item_missing, score_scope_missing, registration_inactive.
   */
  async create(actor: Actor, launchId: string, input: NewGrade): Promise<GradeView> {
    const grade = await this.#db.transaction(async (tx) => {
      const launch = await requireGradable(tx, actor, launchId);
      if (launch.lineItem === null) throw new Problem('line_item_missing');
      if (!launch.scopes.includes(SCORE_SCOPE)) throw new Problem('score_scope_missing');
      if (!launch.isActive) throw new Problem('registration_inactive');
      const written = await this.#insert(tx, { launchId, lineItem: launch.lineItem, lineItemId: null }, input);
      await this.#jobs.request(tx, SUBMIT_GRADE, { grade: written.uuid });
      return written;
    });
    return presentGrade(grade);
  }

  /**
   * Gives a grade for a line item instead of a launch. Six statements. Throws Problem not_found, forbidden,
   * registration_inactive, lms_service_missing.
   */
  async createForLineItem(actor: Actor, { context: contextId, id }: WhichLineItem, input: NewGrade): Promise<GradeView> {
    const grade = await this.#db.transaction(async (tx) => {
      const context = await requireTaught(tx, actor, contextId);
      const item = await findLineItem(tx, context.groupId, id);
      if (!item) throw new Problem('not_found');
      await requireScores(tx, context, item.toolId);
      const launchId = await lastLaunchOf(tx, context.groupId, item.toolId);
      if (launchId === undefined) throw serviceMissing(SCORES, 'Nobody has launched from this course in the last 90 days');
      const written = await this.#insert(tx, { launchId, lineItem: item.url, lineItemId: item.uuid }, input);
      await this.#jobs.request(tx, SUBMIT_GRADE, { grade: written.uuid });
      return written;
    });
    return presentGrade(grade);
  }

  /**
   * Sends a grade again. A failed grade becomes pending, with a timestamp later than any other of its cell, since the LMS does
   * not have what it refused. A pending grade is sent within seconds. Three statements. Throws Problem not_found, forbidden,
   * conflict, registration_inactive.
   */
  async retry(actor: Actor, id: string): Promise<GradeView> {
    for (;;) {
      const grade = await this.#db.transaction((tx) => this.#retry(tx, actor, id)).catch(undefinedAtRace);
      if (grade) return presentGrade(grade);
    }
  }

  async #retry(tx: Tx, actor: Actor, id: string): Promise<GradeRow> {
    const grade = await lockGrade(tx, id, actor.userId);
    requireGrader(actor, grade);
    if (grade.status === 'submitted') throw new Problem('conflict', 'The LMS already has this grade.');
    if (grade.isSuperseded) throw new Problem('conflict', 'This person has a newer grade for this line item.');
    if (!grade.isActive) throw new Problem('registration_inactive');
    const now = this.#clock.now();
    if (grade.status === 'failed') {
      const again = await gradeAgain(tx, id, now);
      await this.#jobs.request(tx, SUBMIT_GRADE, { grade: id });
      return again;
    }
    // The first of its jobs to run sends it; the others find nothing to do.
    await this.#jobs.schedule(tx, SUBMIT_GRADE, { grade: id }, new Date(now.getTime() + RETRY_MS), { unlessSooner: true });
    return grade;
  }

  /** Takes one statement. */
  listAll(actor: Actor, query: AllGradesQuery): Promise<Page<GradeView>> {
    return listAllGrades(this.#db, actor, query);
  }

  /** Takes two statements. Throws Problem not_found, forbidden. */
  async list(actor: Actor, launchId: string, query: GradeQuery): Promise<Page<GradeView>> {
    await requireGradable(this.#db.tables, actor, launchId);
    return listGrades(this.#db, launchId, query);
  }

  /** Takes two statements. Throws Problem not_found, forbidden. */
  async get(actor: Actor, launchId: string, id: string): Promise<GradeView> {
    await requireGradable(this.#db.tables, actor, launchId);
    const grade = await findGrade(this.#db.tables, launchId, id);
    if (!grade) throw new Problem('not_found');
    return presentGrade(grade);
  }

  async #insert(
    tx: Tx,
    of: Pick<GradeRow, 'launchId' | 'lineItemId'> & { readonly lineItem: string },
    input: NewGrade,
  ): Promise<GradeRow> {
    const { user_id: userId, score, score_maximum: maximum, comment = null } = input;
    const cell = sha256Hex(JSON.stringify([of.lineItem, userId]));
    const [uuid, now] = [this.#random.uuid(), this.#clock.now()];
    const row = { ...of, uuid, userId, score, maximum, comment, cell, now };
    for (;;) {
      const written = await insertGrade(tx, row);
      if (written) return written;
      // Another transaction has just committed this timestamp. In each round, one of the racing transactions succeeds.
    }
  }
}

/** Delay before a pending grade is sent again: not zero, so that several such requests cause one sending. */
const RETRY_MS = 1_000;

const SCORES = { name: 'scores', scope: SCORE_SCOPE } as const;

/** Takes one statement. Throws Problem registration_inactive, lms_service_missing. */
async function requireScores(tx: Tx, { scopes, platformId }: ContextRow, toolId: number): Promise<void> {
  const registration = await findServiceRegistration(tx, toolId, { platformId });
  if (!registration?.isActive) throw new Problem('registration_inactive');
  if (!scopes.includes(SCORE_SCOPE)) throw serviceMissing(SCORES, 'The last launch of this course did not allow it');
}

/** Returns the launch if this actor may grade it. One statement. Throws Problem not_found, forbidden. */
async function requireGradable(sql: Executor, actor: Actor, launchId: string): Promise<GradedLaunch> {
  const launch = await findGradedLaunch(sql, launchId, actor.userId);
  requireGrader(actor, launch);
  return launch;
}

/** Throws Problem not_found, forbidden. */
function requireGrader<Found extends Pick<GradedLaunch, 'courseRole'>>(
  actor: Actor,
  found: Found | undefined,
): asserts found is Found {
  if (found && mayGrade(actor, found.courseRole)) return;
  if (found?.courseRole == null) throw new Problem('not_found');
  throw new Problem('forbidden', 'Only administrators and instructors of the course can grade.');
}

/** Another transaction has just committed this timestamp. */
function undefinedAtRace(error: unknown): undefined {
  if (!(error instanceof UniqueViolation)) throw error;
  return undefined;
}
