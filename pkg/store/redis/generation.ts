import { type Clock, systemClock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Tx } from '../postgres/database.ts';
import { requestWork } from '../postgres/work.ts';
import { defineScript, type Redis, type Reply, type ScriptCall } from './redis.ts';

/**
 * The cache that every cached thing of a tenant goes through (design: Caches).
 *
 * A cached value rests on subjects (`user:<uuid>`, `folders` …). Each subject has a generation in Redis, a random text. Invariants:
 * - A value is served only while every subject has the generation it had before the value was loaded.
 * - Between just before a write's commit and just after it, the subjects it touches are `pending`: readers pass by the cache and keep nothing.
 *   Every writer has its own mark, so that one that ends does not lift another's; a mark of a writer that died lapses after PENDING_SECONDS.
 * - After the commit the subjects have new generations. A missing generation means new.
 * - When Redis does not answer the mark, the commit goes on and clearing is work in the same transaction.
 * - When the outcome of a commit is not known, the mark stays until it lapses.
 */
export interface CacheEntry {
  readonly key: string;
  readonly restsOn: readonly string[];
  /** Each hit makes the value live so many seconds more, and notes the time as its last activity. */
  readonly slideSeconds?: number;
}

export interface CacheLookup {
  readonly value: string | undefined;
  /** Of a sliding entry: ISO 8601 time of the hit before this one. */
  readonly lastActivity: string | undefined;
  /** Keeps what was loaded after this look-up. Does nothing when a write was under way or Redis does not answer. */
  keep(value: string, ttlSeconds: number): Promise<void>;
}

/** What cached values of the product rest on. */
export const subject = {
  /** Roles, e-mail address and state of a user. */
  user: (uuid: string): string => `user:${uuid}`,
  /** What is granted to a user, directly or through groups. */
  grants: (uuid: string): string => `grants:${uuid}`,
  session: (id: string): string => `session:${id}`,
  file: (uuid: string): string => `file:${uuid}`,
  /** Anything that a list of users shows, storage used included. */
  users: 'users',
  /** Display and user name of anybody. */
  profiles: 'profiles',
  /** Name, place and state of any folder. */
  folders: 'folders',
} as const;

/** The kind of work that clears what could not be cleared at once; its payload is `{ subjects: string[] }`. */
export const CLEAR_CACHES = 'cache.clear';

/** Longer than any value lives, so that a generation rarely ends before what rests on it; when it does, that is a miss. */
const GENERATION_TTL_SECONDS = 86_400;
/** Longer than any transaction may last (the role's statement and idle-in-transaction time-outs). */
const PENDING_SECONDS = 120;

// Several look-ups at once. KEYS: of each the value, then its generations. ARGV: a fresh generation, its lifetime, the time now,
// then of each how many generations it has and the seconds to slide (0: none).
const LOOKUP = defineScript(
  `local function lookup(first, count, slide)
     local generations = redis.call('MGET', unpack(KEYS, first + 1, first + count))
     for i = 1, count do
       if not generations[i] then
         generations[i] = ARGV[1]
         redis.call('SET', KEYS[first + i], ARGV[1], 'EX', ARGV[2])
       elseif string.sub(generations[i], 1, 7) == 'pending' then
         return {false, false, false}
       end
     end
     local present = table.concat(generations, ' ')
     local kept = redis.call('HMGET', KEYS[first], 'generations', 'value', 'last_activity')
     if kept[1] ~= present then return {present, false, false} end
     if slide ~= '0' then
       redis.call('HSET', KEYS[first], 'last_activity', ARGV[3])
       redis.call('EXPIRE', KEYS[first], slide)
     end
     return {present, kept[2], kept[3]}
   end
   local found, first = {}, 1
   for at = 4, #ARGV, 2 do
     local count = tonumber(ARGV[at])
     found[#found + 1] = lookup(first, count, ARGV[at + 1])
     first = first + count + 1
   end
   return found`,
);

// KEYS: the value. ARGV: its generations, itself, its lifetime, the time now.
const KEEP = defineScript(
  `redis.call('DEL', KEYS[1])
   redis.call('HSET', KEYS[1], 'generations', ARGV[1], 'value', ARGV[2], 'last_activity', ARGV[4])
   redis.call('EXPIRE', KEYS[1], ARGV[3])
   return 1`,
);

/** A pending generation is `pending mark:deadline mark:deadline …`; what has lapsed is dropped whenever it is written. */
const LIVE_MARKS = `
   local function live(generation, without, now)
     local marks = {}
     if generation and string.sub(generation, 1, 7) == 'pending' then
       for mark, deadline in string.gmatch(generation, '(%S+):(%d+)') do
         if mark ~= without and tonumber(deadline) > now then marks[#marks + 1] = mark .. ':' .. deadline end
       end
     end
     return marks
   end`;

// KEYS: generations. ARGV: the writer's mark, seconds until it lapses, now in seconds.
const MARK = defineScript(
  `${LIVE_MARKS}
   for i = 1, #KEYS do
     local now = tonumber(ARGV[3])
     local marks = live(redis.call('GET', KEYS[i]), ARGV[1], now)
     marks[#marks + 1] = ARGV[1] .. ':' .. (now + tonumber(ARGV[2]))
     redis.call('SET', KEYS[i], 'pending ' .. table.concat(marks, ' '), 'EX', ARGV[2])
   end
   return 1`,
);

// KEYS: generations. ARGV: the writer's mark ('-': none), a fresh generation, its lifetime, now in seconds.
const RENEW = defineScript(
  `${LIVE_MARKS}
   for i = 1, #KEYS do
     local marks = live(redis.call('GET', KEYS[i]), ARGV[1], tonumber(ARGV[4]))
     if #marks > 0 then
       redis.call('SET', KEYS[i], 'pending ' .. table.concat(marks, ' '), 'KEEPTTL')
     else
       redis.call('SET', KEYS[i], ARGV[2], 'EX', ARGV[3])
     end
   end
   return 1`,
);

const generationKey = (name: string): string => `g:${name}`;
const seconds = (clock: Clock): number => Math.floor(clock.now().getTime() / 1000);
const valueKey = (key: string): string => `c:${key}`;

/** Gives subjects new generations, so that nothing kept under the old ones is served again. `keyPrefix` is the tenant's, for a client without one. */
export async function renewGenerations(redis: Redis, random: Random, subjects: readonly string[], keyPrefix = ''): Promise<void> {
  if (subjects.length === 0) return;
  const keys = subjects.map((name) => `${keyPrefix}${generationKey(name)}`);
  await redis.eval(RENEW.call(keys, ['-', random.base64url(12), GENERATION_TTL_SECONDS, seconds(systemClock)]));
}

export class GenerationCache {
  readonly #redis: Redis;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #touched = new WeakMap<Tx, Set<string>>();
  /** Of this process, and what it has made so far. */
  readonly #series: string;
  #made = 0;

  constructor(deps: { redis: Redis; random: Random; log: Logger; clock?: Clock }) {
    this.#redis = deps.redis;
    this.#random = deps.random;
    this.#series = deps.random.base64url(12);
    this.#log = deps.log;
    this.#clock = deps.clock ?? systemClock;
  }

  /** A transaction that may `touch`. Costs one Redis round trip before the commit and one after it when it touched anything. */
  async transaction<T>(db: Database, fn: (tx: Tx) => Promise<T>): Promise<T> {
    let marked: { mark: string; keys: string[] } | undefined;
    const result = await db.transaction(async (tx) => {
      const touched = new Set<string>();
      this.#touched.set(tx, touched);
      const value = await fn(tx);
      if (touched.size > 0) marked = await this.#mark(tx, [...touched]);
      return value;
    });
    if (marked) await this.#release(marked);
    return result;
  }

  /** Says that this transaction changes what rests on these subjects. */
  touch(tx: Tx, ...subjects: readonly string[]): void {
    const touched = this.#touched.get(tx);
    if (!touched) throw new TypeError('touch() wants a transaction of GenerationCache.transaction()');
    for (const name of subjects) touched.add(name);
  }

  /** One round trip. Never throws: a Redis that is away or full means no cache. */
  async lookup(entry: CacheEntry): Promise<CacheLookup> {
    const { call, read } = this.command([entry]);
    try {
      return read(await this.#redis.eval(call))[0] ?? NO_CACHE;
    } catch {
      return NO_CACHE;
    }
  }

  /** Look-ups as one command of `redis.run`, to share a round trip; `read` takes its reply and gives them in the same order. */
  command(entries: readonly CacheEntry[]): { call: ScriptCall; read: (reply: Reply) => CacheLookup[] } {
    const keys = entries.flatMap((entry) => [valueKey(entry.key), ...entry.restsOn.map(generationKey)]);
    const sizes = entries.flatMap((entry) => [entry.restsOn.length, entry.slideSeconds ?? 0]);
    const now = this.#clock.now().toISOString();
    return {
      call: LOOKUP.call(keys, [this.#fresh(), GENERATION_TTL_SECONDS, now, ...sizes]),
      read: (reply) => entries.map((entry, index) => this.#found(entry, (reply as Reply[])[index] as (string | null)[])),
    };
  }

  #found(entry: CacheEntry, [generations, value, lastActivity]: readonly (string | null)[]): CacheLookup {
    if (typeof generations !== 'string') return NO_CACHE;
    return {
      value: value ?? undefined,
      lastActivity: lastActivity ?? undefined,
      keep: (loaded, ttlSeconds) => this.#keep(entry.key, generations, loaded, ttlSeconds),
    };
  }

  /** A generation is no secret: it need only never come again. */
  #fresh(): string {
    this.#made += 1;
    return `${this.#series}.${this.#made}`;
  }

  async #keep(key: string, generations: string, value: string, ttlSeconds: number): Promise<void> {
    if (ttlSeconds < 1) return;
    try {
      await this.#redis.eval(KEEP.call([valueKey(key)], [generations, value, Math.floor(ttlSeconds), this.#clock.now().toISOString()]));
    } catch {
      // the value is loaded again next time
    }
  }

  async #mark(tx: Tx, subjects: readonly string[]): Promise<{ mark: string; keys: string[] } | undefined> {
    const mark = this.#random.base64url(9);
    const keys = subjects.map(generationKey);
    try {
      await this.#redis.eval(MARK.call(keys, [mark, PENDING_SECONDS, seconds(this.#clock)]));
      return { mark, keys };
    } catch (error) {
      this.#log.warn({ err: error }, 'Redis does not answer: clearing its caches is left to the worker');
      await requestWork(tx, CLEAR_CACHES, { subjects: [...subjects] });
      return undefined;
    }
  }

  async #release(marked: { mark: string; keys: string[] }): Promise<void> {
    try {
      await this.#redis.eval(RENEW.call(marked.keys, [marked.mark, this.#fresh(), GENERATION_TTL_SECONDS, seconds(this.#clock)]));
    } catch (error) {
      this.#log.warn({ err: error }, 'Redis went away after a commit: what it touched is not cached until the mark lapses');
    }
  }
}

/** Of a Redis that is away, or of a subject that is being written. */
export const NO_CACHE: CacheLookup = { value: undefined, lastActivity: undefined, keep: () => Promise.resolve() };
