import type { Clock } from '../runtime/clock.ts';
import type { FunctionCall } from '../store/redis/functions.ts';
import { countAndLookup } from '../store/redis/library.ts';
import type { Redis, Reply } from '../store/redis/redis.ts';
import type { Decision, Limit } from '../store/redis/rate-limit.ts';
import { GroupedWindowLimiter } from '../store/redis/grouped-window-limiter.ts';
import { type CacheEntry, type CacheLookup, NO_CACHE, type TaggedCache } from '../store/redis/tagged-cache.ts';

/**
 * The most requests in one call: the functions receive the keys and arguments of all of them, and no other tenant may wait long
 * for one call.
 */
const REQUESTS_MAX = 64;

export interface Answer {
  readonly decision: Decision;
  /** Lookups of the entries, in their order. */
  readonly lookups: readonly CacheLookup[];
}

/** Requests that ask Redis together. */
interface Batch {
  readonly requests: (readonly Limit[])[];
  /** By key: an entry that several requests need is looked up once. */
  readonly entries: Map<string, CacheEntry>;
  readonly answers: Promise<Answers>;
}

/**
 * Counts requests against their limits and looks up the entries that they need: one call for all requests that arrived since the
 * last call was sent.
 *
 * Invariant: only a call that was sent after a request arrived answers it, so anything that ended before the request arrived is
 * not served.
 */
export class AdmissionBatches {
  readonly #redis: Redis;
  readonly #limiter: GroupedWindowLimiter;
  readonly #cache: TaggedCache;
  #gathering: Batch | undefined;

  constructor(deps: { redis: Redis; cache: TaggedCache; clock: Clock }) {
    this.#redis = deps.redis;
    this.#limiter = new GroupedWindowLimiter(deps);
    this.#cache = deps.cache;
  }

  /** Returns undefined while Redis does not answer; `takeLocally` then decides. */
  async ask(limits: readonly Limit[], entries: readonly CacheEntry[]): Promise<Answer | undefined> {
    if (this.#gathering?.requests.length === REQUESTS_MAX) this.#gathering = undefined;
    const batch = (this.#gathering ??= this.#newBatch());
    const position = batch.requests.push(limits) - 1;
    for (const entry of entries) batch.entries.set(entry.key, entry);
    try {
      const { decisions, lookups } = await batch.answers;
      return { decision: decisions[position] as Decision, lookups: entries.map(({ key }) => lookups.get(key) ?? NO_CACHE) };
    } catch {
      return undefined;
    }
  }

  takeLocally(limits: readonly Limit[]): Decision {
    return this.#limiter.takeLocally(limits);
  }

  #newBatch(): Batch {
    const requests: (readonly Limit[])[] = [];
    const entries = new Map<string, CacheEntry>();
    let command: BatchCommand | undefined;
    const reply = this.#redis.call(() => {
      if (this.#gathering?.requests === requests) this.#gathering = undefined;
      command = this.#command(requests, [...entries.values()]);
      return command.call;
    });
    return { requests, entries, answers: reply.then((found) => (command as BatchCommand).read(found)) };
  }

  #command(requests: Batch['requests'], entries: readonly CacheEntry[]): BatchCommand {
    const limits = this.#limiter.command(requests);
    if (entries.length === 0)
      return { call: limits.call, read: (reply) => ({ decisions: limits.read(reply), lookups: new Map() }) };
    const lookups = this.#cache.command(entries);
    return {
      call: countAndLookup(limits.call, lookups.call),
      read: (reply) => {
        const [counted = null, cached = null] = reply as readonly Reply[];
        const found = lookups.read(cached);
        return { decisions: limits.read(counted), lookups: new Map(entries.map(({ key }, at) => [key, found[at] ?? NO_CACHE])) };
      },
    };
  }
}

interface Answers {
  readonly decisions: readonly Decision[];
  readonly lookups: ReadonlyMap<string, CacheLookup>;
}
interface BatchCommand {
  readonly call: FunctionCall;
  readonly read: (reply: Reply) => Answers;
}
