import type { Actor } from '../../api/actor.ts';
import type { Page } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Database, Executor } from '../../store/postgres/database.ts';
import { mayGrade } from '../launch/launch.policy.ts';
import type { ContextQuery, ContextView } from './contexts.schema.ts';
import { findContext, listContexts, type OwnContextRow, presentContext } from './contexts.sql.ts';

/**
 * Lists and shows the courses of LMSs.
 *
 * Invariants:
 * - Administrators see all courses, instructors those they teach. Other members get 403; for everyone else the course does not
 *   exist.
 */
export class Contexts {
  readonly #db: Database;

  constructor(deps: { db: Database }) {
    this.#db = deps.db;
  }

  /** Takes one statement. */
  list(actor: Actor, query: ContextQuery): Promise<Page<ContextView>> {
    return listContexts(this.#db, actor, query);
  }

  /** Takes one statement. Throws Problem not_found, forbidden. */
  async get(actor: Actor, id: string): Promise<ContextView> {
    return presentContext(await requireTaught(this.#db.tables, actor, id));
  }
}

/** Returns the course for its administrators and instructors. One statement. Throws Problem not_found, forbidden. */
export async function requireTaught(sql: Executor, actor: Pick<Actor, 'userId' | 'roles'>, id: string): Promise<OwnContextRow> {
  const context = await findContext(sql, id, actor.userId);
  if (context && mayGrade(actor, context.courseRole)) return context;
  if (context?.courseRole == null) throw new Problem('not_found');
  throw new Problem('forbidden', 'Only administrators and instructors of the course see it here.');
}
