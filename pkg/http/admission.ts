import type { ServerResponse } from 'node:http';
import { Counter } from 'prom-client';
import { AdmissionBatches } from './admission-batches.ts';
import { ANONYMOUS_SHARES, NETWORK_SHARE, type AnonymousKind } from './rate-limits.ts';
import type { Actor } from '../api/actor.ts';
import { Problem } from '../api/problem.ts';
import type { Sessions } from '../access/sessions.ts';
import type { AccessClaims } from '../access/tokens.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { type CacheEntry, type CacheLookup, NO_CACHE, type TaggedCache } from '../store/redis/tagged-cache.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { Decision, Limit } from '../store/redis/rate-limit.ts';
import type { Context } from './request-state.ts';

/** docs/design/api-conventions.md, Rate limits. */
export interface Limits {
  readonly userPerMinute: number;
  readonly tenantPerMinute: number;
  readonly addressPerHour: number;
}

/**
 * The sender of a request: the claims of a verified token, an anonymous caller, or the bearer of a download link of the user
 * `linkOf`.
 */
export type Requester = AccessClaims | AnonymousKind | { readonly linkOf: string };

/** The cache entry that a request needs besides session and permission set; `cache` names it in the metric. */
export interface Wanted {
  readonly cache: 'reply' | 'record';
  readonly entry: CacheEntry;
}

/** The caches that are looked up for each token, in this order. */
const CACHES = ['session', 'permissions'];

/** A request that was admitted. */
interface Admission {
  /** The entry that was requested, if it was looked up: for callers with a token, while Redis answers. */
  readonly found: CacheLookup;
  /**
   * Returns the caller of the token; undefined without one. Throws Problem `unauthenticated`. No round trip if the session's copy
   * was cached, otherwise one SQL statement.
   */
  authenticate(): Promise<Actor | undefined>;
}

/**
 * Admits requests: one Redis round trip decides the rate limits and looks up session, permission set, and the cached reply or
 * record.
 *
 * Invariants:
 * - The tenant's limit counts only requests with a verified token or a valid download link, so requests without one cannot use it
 *   up.
 * - No network alone can use up the limit of requests without a token.
 * - While Redis is unavailable, requests are still admitted: this process counts the limits, and the session is read from its
 *   row.
 */
export class RequestAdmission {
  readonly #batches: AdmissionBatches;
  readonly #sessions: Sessions;
  readonly #limits: Limits;
  readonly #withoutRedis: Counter;
  readonly #lookups: Counter<'cache' | 'result'>;
  /** The children of `#lookups` by cache and result: finding one by its labels costs more than counting. */
  readonly #counters = new Map<string, Counter.Internal>();

  constructor(deps: { redis: Redis; cache: TaggedCache; clock: Clock; sessions: Sessions; limits: Limits; metrics: Metrics }) {
    this.#batches = new AdmissionBatches(deps);
    this.#sessions = deps.sessions;
    this.#limits = deps.limits;
    this.#withoutRedis = new Counter({
      name: 'http_requests_without_redis_total',
      help: 'Requests that were admitted while Redis did not answer',
      registers: [deps.metrics],
    });
    this.#lookups = new Counter({
      name: 'cache_lookups_total',
      help: 'Cache look-ups of request admission, by cache',
      labelNames: ['cache', 'result'],
      registers: [deps.metrics],
    });
  }

  /**
   * Counts the request against its limits, sets the headers that state them, and looks up the requested entry.
   * Throws Problem `rate_limit_exceeded`.
   */
  async admit(ctx: Context, by: Requester, wanted?: Wanted): Promise<Admission> {
    const admission = await this.#decide(ctx.state, by, wanted);
    const { decision } = admission;
    setLimitHeaders(ctx.res, decision);
    if (decision.allowed) return admission;
    const seconds = Math.max(1, Math.ceil(decision.tightest.waitMs / 1000));
    throw new Problem('rate_limit_exceeded', `Too many requests. Try again in ${seconds} s.`, { retryAfter: seconds });
  }

  async #decide(
    from: { readonly address: string; readonly network: string },
    by: Requester,
    wanted?: Wanted,
  ): Promise<Admission & { decision: Decision }> {
    const claims = typeof by === 'string' || 'linkOf' in by ? undefined : by;
    const limits = this.#limitsOf(from, by);
    const entries = claims ? [...this.#sessions.entries(claims), ...(wanted ? [wanted.entry] : [])] : [];
    const answer = await this.#batches.ask(limits, entries);
    if (!answer) this.#withoutRedis.inc();
    const { decision, lookups } = answer ?? { decision: this.#batches.takeLocally(limits), lookups: [] };
    lookups.forEach((lookup, index) => this.#count(CACHES[index] ?? wanted?.cache ?? '', lookup));
    const [session = NO_CACHE, permissions = NO_CACHE, found = NO_CACHE] = lookups;
    return { decision, found, authenticate: async () => claims && this.#sessions.authenticate(claims, [session, permissions]) };
  }

  #count(cache: string, { value }: CacheLookup): void {
    const result = value === undefined ? 'miss' : 'hit';
    const key = `${cache} ${result}`;
    let counter = this.#counters.get(key);
    if (!counter) this.#counters.set(key, (counter = this.#lookups.labels(cache, result)));
    counter.inc();
  }

  #limitsOf({ address, network }: { readonly address: string; readonly network: string }, by: Requester): Limit[] {
    const { tenantPerMinute, userPerMinute, addressPerHour } = this.#limits;
    const addressLimit = { key: `address:${address}`, max: addressPerHour, windowSeconds: 3600 };
    if (typeof by === 'string') {
      const { key, share } = ANONYMOUS_SHARES[by];
      const max = Math.ceil(tenantPerMinute * share);
      return [
        { key, max, windowSeconds: 60 },
        { key: `${key}:${network}`, max: Math.ceil(max * NETWORK_SHARE), windowSeconds: 60 },
        addressLimit,
      ];
    }
    const userUuid = 'linkOf' in by ? by.linkOf : by.userUuid;
    return [
      { key: `user:${userUuid}`, max: userPerMinute, windowSeconds: 60 },
      { key: 'tenant', max: tenantPerMinute, windowSeconds: 60 },
      addressLimit,
    ];
  }
}

/**
 * Sets the headers of every API reply (docs/design/api-conventions.md, Rate limits) from the tightest limit; the reset is in Unix
 * seconds.
 */
function setLimitHeaders(res: ServerResponse, { tightest }: Decision): void {
  res.setHeader('X-RateLimit-Limit', String(tightest.limit.max));
  res.setHeader('X-RateLimit-Remaining', String(tightest.remaining));
  res.setHeader('X-RateLimit-Reset', String(Math.ceil(tightest.freeAt / 1000)));
}
