import { Counter } from 'prom-client';
import type { Actor } from '../api/actor.ts';
import type { PermissionSets } from '../identity/permission-sets.ts';
import type { Sessions } from '../identity/sessions.service.ts';
import type { AccessClaims } from '../identity/tokens.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { type CacheEntry, type CacheLookup, type GenerationCache, NO_CACHE } from '../store/redis/generation.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { Limit, SlidingWindows, Verdict } from '../store/redis/window.ts';

/** specification: Limits. */
export interface Limits {
  readonly userPerMinute: number;
  readonly tenantPerMinute: number;
  readonly addressPerHour: number;
}

/** Of a tenant's limit, what requests without a valid token have together, beside it. */
const ANONYMOUS_SHARE = 1 / 5;

/** What a request without a valid token asks: the API, or a page of the LTI protocol, which an LMS sends many browsers to at once. */
export type Anonymous = 'api' | 'page';

/** In the order in which they are looked up. */
const CACHES = ['session', 'permissions', 'reply'];

/** What a request finds at the door. */
export interface Entrance {
  readonly verdict: Verdict;
  /** The kept reply, for a request that may have one. */
  readonly reply: CacheLookup;
  /** Who asks, once it may go in. Throws Problem `unauthenticated`. No round trip when the session's copy was there, else one SQL statement. */
  admit(): Promise<Actor | undefined>;
}

/**
 * The first and, for what is warm, often the only round trip of a request: rate limits, session, permission set and kept reply at once.
 *
 * Invariants:
 * - Nobody without a valid token spends what signed-in people have: the tenant's limit counts verified tokens alone.
 * - With Redis away the request goes on – limits are counted by this process, the session comes from its row.
 */
export class Door {
  readonly #redis: Redis;
  readonly #windows: SlidingWindows;
  readonly #cache: GenerationCache;
  readonly #sessions: Sessions;
  readonly #permissionSets: PermissionSets;
  readonly #limits: Limits;
  readonly #withoutRedis: Counter;
  readonly #lookups: Counter<'cache' | 'result'>;

  constructor(deps: {
    redis: Redis;
    windows: SlidingWindows;
    cache: GenerationCache;
    sessions: Sessions;
    permissionSets: PermissionSets;
    limits: Limits;
    metrics: Metrics;
  }) {
    this.#redis = deps.redis;
    this.#windows = deps.windows;
    this.#cache = deps.cache;
    this.#sessions = deps.sessions;
    this.#permissionSets = deps.permissionSets;
    this.#limits = deps.limits;
    this.#withoutRedis = new Counter({
      name: 'http_requests_without_redis_total',
      help: 'Requests that were let in while Redis did not answer',
      registers: [deps.metrics],
    });
    this.#lookups = new Counter({
      name: 'cache_lookups_total',
      help: 'Look-ups at the door, by what was looked up',
      labelNames: ['cache', 'result'],
      registers: [deps.metrics],
    });
  }

  async enter(address: string, by: AccessClaims | Anonymous, replyEntry?: CacheEntry): Promise<Entrance> {
    const claims = typeof by === 'string' ? undefined : by;
    const windows = this.#windows.command(this.#limitsOf(address, by));
    const entries = claims ? [this.#sessions.entry(claims), this.#permissionSets.entry(claims), ...(replyEntry ? [replyEntry] : [])] : [];
    const lookups = entries.length > 0 ? this.#cache.command(entries) : undefined;
    let verdict: Verdict;
    let found: CacheLookup[] = [];
    try {
      const [standing = null, looked = null] = await this.#redis.run([windows.call, ...(lookups ? [lookups.call] : [])]);
      verdict = windows.read(standing);
      if (lookups) found = lookups.read(looked);
      found.forEach((lookup, index) =>
        this.#lookups.inc({ cache: CACHES[index] as string, result: lookup.value === undefined ? 'miss' : 'hit' }),
      );
    } catch {
      this.#withoutRedis.inc();
      verdict = windows.without();
    }
    const [session = NO_CACHE, permissions = NO_CACHE, reply = NO_CACHE] = found;
    return { verdict, reply, admit: async () => (claims ? this.#admit(claims, session, permissions) : undefined) };
  }

  async #admit(claims: AccessClaims, session: CacheLookup, permissions: CacheLookup): Promise<Actor> {
    const actor = await this.#sessions.actor(claims, session);
    if (permissions !== NO_CACHE) this.#permissionSets.prefetched(actor, permissions);
    return actor;
  }

  #limitsOf(address: string, by: AccessClaims | Anonymous): Limit[] {
    return [...this.#limitsBy(by), { key: `address:${address}`, max: this.#limits.addressPerHour, windowSeconds: 3600 }];
  }

  #limitsBy(by: AccessClaims | Anonymous): Limit[] {
    const { tenantPerMinute, userPerMinute } = this.#limits;
    if (by === 'page') return [{ key: 'pages', max: tenantPerMinute, windowSeconds: 60 }];
    if (by === 'api') return [{ key: 'anonymous', max: Math.ceil(tenantPerMinute * ANONYMOUS_SHARE), windowSeconds: 60 }];
    return [
      { key: `user:${by.userUuid}`, max: userPerMinute, windowSeconds: 60 },
      { key: 'tenant', max: tenantPerMinute, windowSeconds: 60 },
    ];
  }
}

/** The headers of every API reply (specification: Limits): from the tightest limit, the reset in Unix seconds. */
export const limitHeaders = ({ tightest }: Verdict): Record<string, string> => ({
  'X-RateLimit-Limit': String(tightest.limit.max),
  'X-RateLimit-Remaining': String(tightest.remaining),
  'X-RateLimit-Reset': String(Math.ceil(tightest.freeAt / 1000)),
});
