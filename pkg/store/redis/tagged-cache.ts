import { type Clock, systemClock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import type { Database, Tx } from '../postgres/database.ts';
import { insertJob } from '../postgres/job-store.ts';
import { defineFunction, type FunctionCall } from './functions.ts';
import type { Redis, Reply } from './redis.ts';

/**
 * The cache of everything that a tenant's server caches (docs/design/api-conventions.md, Caches).
 *
 * A cached value has tags, and each tag has a version in Redis, a random text. A feature declares its tags beside it
 * (`<feature>.tags.ts`). Invariants:
 * - A value is served only while every tag has the version that it had before the value was loaded.
 * - From just before a write's commit until just after it, the versions of the tags that it invalidates are `pending`: readers
 *   bypass the cache and put nothing into it. Each writer has its own mark, so that one writer's end does not remove another's
 *   mark. The mark of a writer that died expires after PENDING_SECONDS.
 * - After the commit the tags have new versions. A tag without a version gets a new one.
 * - If Redis does not answer the mark, the commit proceeds, and the same transaction requests a job that clears the cache.
 * - If the outcome of a commit is unknown, the mark stays until it expires.
 */
export interface CacheEntry {
  readonly key: string;
  readonly tags: readonly string[];
  /** The first hit in each second extends the value's TTL to this many seconds, and stores the time as its last activity. */
  readonly slideSeconds?: number;
}

export interface CacheLookup {
  readonly value: string | undefined;
  /** Caches a value loaded after this look-up. Does nothing if a write was running or Redis does not answer. */
  put(value: string, ttlSeconds: number): Promise<void>;
}

/**
 * The kind of job that invalidates tags when Redis could not. Its payload is `{ subjects: string[] }`: the tags, under the name
 * in stored rows.
 */
export const CLEAR_CACHES = 'cache.clear';
/** The most tags of one such job. */
export const CLEARED_MAX = 1_000;

/** Longer than any value lives, so that a tag's version rarely expires before its values; if it does, they are misses. */
const VERSION_TTL_SECONDS = 86_400;
/** Longer than any transaction may last (the role's statement and idle-in-transaction time-outs). */
const PENDING_SECONDS = 120;
/** Enough for the marks of some 150 concurrent writers. */
const VERSION_BYTES_MAX = 4 * 1024;
/** The most tags of one call: however many marks they have, Redis works on them for at most some 50 ms. */
const TAGS_AT_ONCE = 250;
const LOOKUP_KEYS_MAX = 1_000;
/**
 * Redis ends the connection of a client that sends 1 MiB (`proto-max-bulk-len`, docs/operate/install.md). A longer value is not
 * cached.
 */
const VALUE_BYTES_MAX = 512 * 1024;

// A stored value is `<time of its last activity> <versions of its tags>\n<value>`; the time is an ISO string, 24 characters. This
// looks up several values at once. KEYS: the values, then the versions of the tags of each. ARGV: a fresh version, its lifetime,
// the current time, then for each value its number of tags and the seconds to slide (0: none). The reply has for each value the
// stored text (a hit), {versions} (a miss), or nil while a tag is pending. Values are never stored under a pending version, so a
// hit needs no such check.
export const LOOKUP = defineFunction(
  'lookup',
  LOOKUP_KEYS_MAX,
  `local count = (#ARGV - 3) / 2
   local stored = get(KEYS, math.huge)
   local function lookup(i, first, last, slide)
     for j = first, last do
       if not stored[j] then
         stored[j] = ARGV[1]
         redis.call('SET', KEYS[j], ARGV[1], 'EX', ARGV[2])
       end
     end
     local versions, value = table.concat(stored, ' ', first, last), stored[i]
     if not value or string.sub(value, 26, 26 + #versions) ~= versions .. '\\n' then
       for j = first, last do
         if string.sub(stored[j], 1, 7) == 'pending' then return false end
       end
       return {versions}
     end
     if slide ~= '0' and string.sub(value, 1, 19) ~= string.sub(ARGV[3], 1, 19) then
       value = ARGV[3] .. string.sub(value, 25)
       redis.call('SET', KEYS[i], value, 'EX', slide)
     end
     return value
   end
   local found, first = {}, count + 1
   for i = 1, count do
     local tags = tonumber(ARGV[2 + 2 * i])
     if not (tags >= 0) then error('a value has no number of tags') end
     local last = first + tags - 1
     found[i] = lookup(i, first, last, ARGV[3 + 2 * i])
     first = last + 1
   end
   return found`,
);

const TIME_CHARACTERS = 24;

/** A pending version is `pending mark:deadline mark:deadline …`; expired marks are dropped whenever it is written. */
const LIVE_MARKS = `
   local function live(version, without, now)
     local marks = {}
     if version and string.sub(version, 1, 7) == 'pending' then
       for part in string.gmatch(version, '%S+') do
         local mark, deadline = string.match(part, '^([^:]+):(%d+)$')
         if mark and mark ~= without and tonumber(deadline) > now then marks[#marks + 1] = part end
       end
     end
     return marks
   end`;

// KEYS: versions. ARGV: the writer's mark, seconds until it expires, now in seconds.
export const MARK = defineFunction(
  'mark',
  TAGS_AT_ONCE,
  `${LIVE_MARKS}
   local stored, now = get(KEYS, ${VERSION_BYTES_MAX}), tonumber(ARGV[3])
   for i = 1, #KEYS do
     local marks = live(stored[i], ARGV[1], now)
     marks[#marks + 1] = ARGV[1] .. ':' .. (now + tonumber(ARGV[2]))
     local version = 'pending ' .. table.concat(marks, ' ')
     if #version > ${VERSION_BYTES_MAX} then error('too many writers') end
     redis.call('SET', KEYS[i], version, 'EX', ARGV[2])
   end
   return 1`,
);

// KEYS: versions. ARGV: the writer's mark ('-': none), a fresh version, its lifetime, now in seconds.
export const RENEW = defineFunction(
  'renew',
  TAGS_AT_ONCE,
  `${LIVE_MARKS}
   local stored = get(KEYS, ${VERSION_BYTES_MAX})
   for i = 1, #KEYS do
     local marks = live(stored[i], ARGV[1], tonumber(ARGV[4]))
     if #marks > 0 then
       redis.call('SET', KEYS[i], 'pending ' .. table.concat(marks, ' '), 'KEEPTTL')
     else
       redis.call('SET', KEYS[i], ARGV[2], 'EX', ARGV[3])
     end
   end
   return 1`,
);

const versionKey = (tag: string): string => `g:${tag}`;
const seconds = (clock: Clock): number => Math.floor(clock.now().getTime() / 1000);
const valueKey = (key: string): string => `v:${key}`;

const inPieces = (all: readonly string[], size = TAGS_AT_ONCE): string[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

/** LOOKUP's reply for one entry. */
type Found = string | readonly [versions: string] | null;

export class TaggedCache {
  readonly #redis: Redis;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #keyPrefix: string;
  readonly #invalidated = new WeakMap<Tx, Set<string>>();
  /** The name of this process; together with a count, it is a version. */
  readonly #series: string;
  #made = 0;

  /** `keyPrefix` is the tenant's, for a client without a prefix. */
  constructor(deps: { redis: Redis; random: Random; log: Logger; clock?: Clock; keyPrefix?: string }) {
    this.#redis = deps.redis;
    this.#random = deps.random;
    this.#series = deps.random.base64url(12);
    this.#log = deps.log;
    this.#clock = deps.clock ?? systemClock;
    this.#keyPrefix = deps.keyPrefix ?? '';
  }

  /**
   * Runs a transaction that may `invalidate`. If it invalidated anything, it costs one Redis round trip before the commit and one
   * after it. A nested transaction (`Database.within`) invalidates at the commit of the outer one.
   */
  async transaction<T>(db: Database, fn: (tx: Tx) => Promise<T>): Promise<T> {
    let marked: { mark: string; keys: string[] } | undefined;
    const result = await db.transaction(async (tx) => {
      if (this.#invalidated.has(tx)) return fn(tx);
      // Otherwise it would release the tags before the commit.
      if (db.isWithin) throw new TypeError('a transaction within another needs that to be one of TaggedCache.transaction()');
      const tags = new Set<string>();
      this.#invalidated.set(tx, tags);
      const value = await fn(tx);
      if (tags.size > 0) marked = await this.#mark(tx, [...tags]);
      return value;
    });
    if (marked) await this.#release(marked);
    return result;
  }

  /**
   * Runs a statement that is a transaction of its own, not a nested one, and changes values with these tags. One Redis round trip
   * before it and one after it. Returns undefined if Redis does not answer: the statement was not run, and `transaction` has the
   * caches cleared later.
   */
  async statement<T>(tags: readonly string[], run: () => Promise<T>): Promise<T | undefined> {
    const marked = await this.#markOf(tags);
    if (!marked) return undefined;
    let isUnknown = false;
    try {
      return await run();
    } catch (error) {
      isUnknown = error instanceof StoreUnavailableError;
      throw error;
    } finally {
      if (!isUnknown) await this.#release(marked);
    }
  }

  /** Declares that this transaction changes values with these tags. */
  invalidate(tx: Tx, ...tags: readonly string[]): void {
    const invalidated = this.#invalidated.get(tx);
    if (!invalidated) throw new TypeError('invalidate() needs a transaction of TaggedCache.transaction()');
    for (const tag of tags) invalidated.add(tag);
  }

  /**
   * Invalidates after the commit the tags that `transaction` could not, because Redis did not answer. Throws
   * StoreUnavailableError.
   */
  async clear(tags: readonly string[]): Promise<void> {
    const keys = tags.map((tag) => this.#versionKey(tag));
    for (const some of inPieces(keys))
      await this.#redis.call(RENEW.call(some, ['-', this.#fresh(), VERSION_TTL_SECONDS, seconds(this.#clock)]));
  }

  /** Takes one round trip. Never throws: without Redis, or with a full one, nothing is cached. */
  async lookup(entry: CacheEntry): Promise<CacheLookup> {
    const [found = NO_CACHE] = await this.lookups([entry]);
    return found;
  }

  /** Looks up several entries in one round trip; results are in their order. */
  async lookups(entries: readonly CacheEntry[]): Promise<CacheLookup[]> {
    const { call, read } = this.command(entries);
    try {
      return read(await this.#redis.call(call));
    } catch {
      return entries.map(() => NO_CACHE);
    }
  }

  /**
   * Returns the time when each value was put or, if hits extend it, last hit; undefined if it is not cached. One round trip.
   * Never throws.
   */
  async lastActivities(entries: readonly Pick<CacheEntry, 'key'>[]): Promise<(Date | undefined)[]> {
    try {
      const stored = await this.#redis.mget(entries.map(({ key }) => this.#valueKey(key)));
      return stored.map((text) => (text === null ? undefined : new Date(text.slice(0, TIME_CHARACTERS))));
    } catch {
      return entries.map(() => undefined);
    }
  }

  /** Returns look-ups as one call, to be combined with another; `read` converts the reply to the look-ups in the same order. */
  command(entries: readonly CacheEntry[]): { call: FunctionCall; read: (reply: Reply) => CacheLookup[] } {
    const keys = [
      ...entries.map(({ key }) => this.#valueKey(key)),
      ...entries.flatMap(({ tags }) => tags.map((tag) => this.#versionKey(tag))),
    ];
    const sizes = entries.flatMap((entry) => [entry.tags.length, entry.slideSeconds ?? 0]);
    const now = this.#clock.now().toISOString();
    return {
      call: LOOKUP.call(keys, [this.#fresh(), VERSION_TTL_SECONDS, now, ...sizes]),
      read: (reply) => entries.map((entry, index) => this.#found(entry, (reply as Reply[])[index] as Found)),
    };
  }

  #found({ key }: CacheEntry, found: Found): CacheLookup {
    if (found === null) return NO_CACHE;
    if (typeof found !== 'string')
      return { value: undefined, put: (loaded, ttlSeconds) => this.#put(key, found[0], loaded, ttlSeconds) };
    const end = found.indexOf('\n');
    const versions = (): string => found.slice(TIME_CHARACTERS + 1, end);
    return { value: found.slice(end + 1), put: (loaded, ttlSeconds) => this.#put(key, versions(), loaded, ttlSeconds) };
  }

  #valueKey(key: string): string {
    return this.#keyPrefix + valueKey(key);
  }

  #versionKey(tag: string): string {
    return this.#keyPrefix + versionKey(tag);
  }

  /** A version is not secret: it need only be unique. */
  #fresh(): string {
    this.#made += 1;
    return `${this.#series}.${this.#made}`;
  }

  async #put(key: string, versions: string, value: string, ttlSeconds: number): Promise<void> {
    if (ttlSeconds < 1 || Buffer.byteLength(value) > VALUE_BYTES_MAX) return;
    try {
      const stored = `${this.#clock.now().toISOString()} ${versions}\n${value}`;
      await this.#redis.set(this.#valueKey(key), stored, { ttlSeconds: Math.floor(ttlSeconds) });
    } catch {
      // The value is loaded again next time.
    }
  }

  async #mark(tx: Tx, tags: readonly string[]): Promise<{ mark: string; keys: string[] } | undefined> {
    const marked = await this.#markOf(tags);
    if (!marked)
      for (const subjects of inPieces(tags, CLEARED_MAX)) await insertJob(tx, { kind: CLEAR_CACHES, payload: { subjects } });
    return marked;
  }

  async #markOf(tags: readonly string[]): Promise<{ mark: string; keys: string[] } | undefined> {
    const mark = this.#random.base64url(9);
    const keys = tags.map((tag) => this.#versionKey(tag));
    try {
      for (const some of inPieces(keys)) await this.#redis.call(MARK.call(some, [mark, PENDING_SECONDS, seconds(this.#clock)]));
      return { mark, keys };
    } catch (error) {
      this.#log.warn({ err: error }, 'Redis does not answer; the worker clears the caches later');
      return undefined;
    }
  }

  async #release(marked: { mark: string; keys: string[] }): Promise<void> {
    try {
      for (const some of inPieces(marked.keys))
        await this.#redis.call(RENEW.call(some, [marked.mark, this.#fresh(), VERSION_TTL_SECONDS, seconds(this.#clock)]));
    } catch (error) {
      this.#log.warn(
        { err: error },
        'Redis does not answer after a commit; values that it changed are not cached until its mark expires',
      );
    }
  }
}

/** Used while Redis is unavailable, or a tag is being written. */
export const NO_CACHE: CacheLookup = { value: undefined, put: () => Promise.resolve() };
