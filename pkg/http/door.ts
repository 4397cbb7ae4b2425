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

/** What a request without a valid token asks: to sign in, to stay signed in, a page of the LTI protocol, or anything else of the API. */
export type Anonymous = 'api' | 'login' | 'refresh' | 'page';

/** Who asks; `ticketOf`: somebody with a ticket of this person's. */
export type Asker = AccessClaims | Anonymous | { readonly ticketOf: string };

/**
 * What all requests of a kind may have together, beside the tenant's limit and as a part of it. Each has its own, so that none starves another.
 * Those that whole classes send at once have as much as the tenant.
 */
const ANONYMOUS: Readonly<Record<Anonymous, { readonly key: string; readonly share: number }>> = {
  api: { key: 'anonymous', share: 1 / 5 },
  login: { key: 'login', share: 1 / 5 },
  refresh: { key: 'refresh', share: 1 },
  page: { key: 'pages', share: 1 },
};

/** Of each of them, what one network may have: two of them leave a third to everybody else. */
const NETWORK_SHARE = 1 / 3;

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
 * - Nobody without a valid token or ticket spends what signed-in people have: the tenant's limit counts verified ones alone.
 * - No one network spends what all have who come without a token.
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

  async enter(from: { readonly address: string; readonly network: string }, by: Asker, replyEntry?: CacheEntry): Promise<Entrance> {
    const claims = typeof by === 'string' || 'ticketOf' in by ? undefined : by;
    const windows = this.#windows.command([
      ...this.#limitsOf(from.network, by),
      { key: `address:${from.address}`, max: this.#limits.addressPerHour, windowSeconds: 3600 },
    ]);
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

  #limitsOf(network: string, by: Asker): Limit[] {
    const { tenantPerMinute, userPerMinute } = this.#limits;
    if (typeof by === 'string') {
      const { key, share } = ANONYMOUS[by];
      const max = Math.ceil(tenantPerMinute * share);
      return [
        { key, max, windowSeconds: 60 },
        { key: `${key}:${network}`, max: Math.ceil(max * NETWORK_SHARE), windowSeconds: 60 },
      ];
    }
    const userUuid = 'ticketOf' in by ? by.ticketOf : by.userUuid;
    return [
      { key: `user:${userUuid}`, max: userPerMinute, windowSeconds: 60 },
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
