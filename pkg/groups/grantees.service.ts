import type { Actor } from '../api/actor.ts';
import type { Page } from '../api/paging.ts';
import { Problem } from '../api/problem.ts';
import type { Sql } from '../store/postgres/pool.ts';
import type { SlidingLogLimiter } from '../store/redis/sliding-log-limiter.ts';
import type { Grantee, GranteeQuery } from './grantees.schema.ts';
import { isAddress, listGrantees } from './grantees.sql.ts';
import { seesAddresses } from './groups.policy.ts';

/** So many addresses somebody may look up who may not list users. */
const ADDRESSES_A_DAY = 100;

/**
 * The people and groups to whom somebody can grant access.
 *
 * Invariants:
 * - Administrators find everybody. Others find their groups, the members of those by name, and anybody whose whole e-mail address
 *   they know, ADDRESSES_A_DAY of them a day.
 */
export class Grantees {
  readonly #sql: Sql;
  readonly #rateLimiter: SlidingLogLimiter;

  constructor(deps: { db: Sql; rateLimiter: SlidingLogLimiter }) {
    this.#sql = deps.db;
    this.#rateLimiter = deps.rateLimiter;
  }

  /** Runs one statement. Throws `rate_limit_exceeded`. */
  async list(actor: Actor, query: GranteeQuery): Promise<Page<Grantee>> {
    if (isAddress(query.q) && !seesAddresses(actor)) await this.#countAddress(actor);
    return listGrantees(this.#sql, actor, query);
  }

  async #countAddress(actor: Actor): Promise<void> {
    const limit = { key: `addresses:${actor.userUuid}`, max: ADDRESSES_A_DAY, windowSeconds: 86_400 };
    const { allowed, tightest } = await this.#rateLimiter.take([limit]);
    if (!allowed)
      throw new Problem('rate_limit_exceeded', `You may look for at most ${ADDRESSES_A_DAY} e-mail addresses a day.`, {
        retryAfter: Math.ceil(tightest.waitMs / 1000),
      });
  }
}
