import type { Sessions } from '../../access/sessions.ts';
import { sessionTag } from '../../access/tags.ts';
import type { Actor } from '../../api/actor.ts';
import { page, type Page, pageRequest } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type Parameters, selectPage } from '../../store/postgres/keyset.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { SessionQuery, SessionView } from './sessions.schema.ts';
import { endOwn, ownLive, SESSION_COLUMNS, type SessionRow, SESSIONS } from './sessions.sql.ts';

/**
 * The caller's own sessions.
 *
 * Invariants:
 * - Nobody sees or ends another user's session (404).
 * - An ended session authenticates no request after the commit, its copy in Redis included, and its refresh token renews nothing.
 * - A launch's session sees and ends only sessions of launches. So whoever controls the LMS neither learns where the person
 *   signed in nor signs them out.
 */
export class OwnSessions {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #sessions: Sessions;
  readonly #clock: Clock;

  constructor(deps: { db: Database; cache: TaggedCache; sessions: Sessions; clock: Clock }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#sessions = deps.sessions;
    this.#clock = deps.clock;
  }

  /**
   * Lists active sessions. Runs one statement, and makes a round trip to Redis for the last activity, since a row only has that
   * of the last refresh.
   */
  async list(actor: Actor, query: SessionQuery): Promise<Page<SessionView>> {
    const request = pageRequest(query, SESSIONS.order);
    const where = (params: Parameters): string[] => ownLive(actor, this.#clock.now(), params);
    const { sql, params } = selectPage(SESSIONS, request, { columns: SESSION_COLUMNS, from: 'sessions s', where });
    const rows = await this.#db.query<SessionRow>(sql, params);
    const entries = rows.map(({ id }) => this.#sessions.entries({ userUuid: actor.userUuid, sessionId: id })[0]);
    const active = await this.#cache.lastActivities(entries);
    return page(
      request,
      rows,
      (row, at) => present(row, active[at], actor),
      (row) => SESSIONS.valuesOf(request, row),
    );
  }

  /** Runs one statement. Throws `not_found`, even for a session that has ended. */
  async end(actor: Actor, id: Uuid): Promise<void> {
    const ended = await this.#end(actor, { id });
    if (ended === 0) throw new Problem('not_found');
  }

  /** Ends all sessions except that of the request. Runs one statement. */
  async endOthers(actor: Actor): Promise<void> {
    await this.#end(actor, 'others');
  }

  #end(actor: Actor, which: { readonly id: Uuid } | 'others'): Promise<number> {
    return this.#cache.transaction(this.#db, async (tx) => {
      const { sql, params } = endOwn(actor, which, this.#clock.now());
      const ended = await tx.query<{ id: string }>(sql, params);
      this.#cache.invalidate(tx, ...ended.map(({ id }) => sessionTag(id)));
      return ended.length;
    });
  }
}

const present = (row: SessionRow, active: Date | undefined, actor: Actor): SessionView => ({
  id: row.id,
  created_at: row.createdAt.toISOString(),
  last_activity: (active !== undefined && active > row.lastActivity ? active : row.lastActivity).toISOString(),
  ip: row.ip,
  user_agent: row.userAgent,
  current: row.id === actor.sessionId,
  launch_id: row.launchId,
});
