import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { defineScript, type Redis, type Reply, type ScriptCall } from './redis.ts';

/**
 * Limits over a sliding window: in any span of `windowSeconds` at most `max` calls are taken.
 *
 * Invariants:
 * - Several limits are decided at once: a call is counted against all of them or, refused by one, against none.
 * - When Redis does not answer, this process counts by itself; it never stops counting.
 */
export interface Limit {
  readonly key: string;
  readonly max: number;
  readonly windowSeconds: number;
}

/** How a limit stands after a call. */
export interface Standing {
  readonly limit: Limit;
  readonly remaining: number;
  /** Until one call is taken again; 0 when one is now. */
  readonly waitMs: number;
  /** When the whole limit is free again, in ms since the epoch. */
  readonly freeAt: number;
}

export interface Verdict {
  readonly allowed: boolean;
  /** Of a refusal: the limit that refuses longest. Else the one with the fewest calls left. */
  readonly tightest: Standing;
  /** Takes the call back, as if it had not been made. */
  undo(): Promise<void>;
}

// KEYS: the logs. ARGV: now in ms, the call's name, then max and window in ms of each. Replies with {count, wait, newest} of each;
// the newest of a call that is taken is that call.
const TAKE = defineScript(
  `local now, counts, refused = tonumber(ARGV[1]), {}, false
   for i = 1, #KEYS do
     redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now - ARGV[2 * i + 2])
     counts[i] = redis.call('ZCARD', KEYS[i])
     refused = refused or counts[i] >= tonumber(ARGV[2 * i + 1])
   end
   local standings = {}
   for i = 1, #KEYS do
     local max, window = tonumber(ARGV[2 * i + 1]), tonumber(ARGV[2 * i + 2])
     if not refused then
       redis.call('ZADD', KEYS[i], now, ARGV[2])
       redis.call('PEXPIRE', KEYS[i], window)
       standings[i] = {counts[i] + 1, 0, now}
     else
       local wait = 0
       if counts[i] >= max then
         local first = redis.call('ZRANGE', KEYS[i], counts[i] - max, counts[i] - max, 'WITHSCORES')
         wait = math.max(1, tonumber(first[2] or now) + window - now)
       end
       local last = redis.call('ZRANGE', KEYS[i], -1, -1, 'WITHSCORES')
       standings[i] = {counts[i], wait, tonumber(last[2] or now)}
     end
   end
   return standings`,
);

const logKey = (limit: Limit): string => `w:${limit.key}`;

export class SlidingWindows {
  readonly #redis: Redis;
  readonly #clock: Clock;
  /** Calls are told apart by the process and a count. */
  readonly #series: string;
  #calls = 0;
  readonly #local = new LocalWindows();

  constructor(deps: { redis: Redis; clock: Clock; random: Random }) {
    this.#redis = deps.redis;
    this.#clock = deps.clock;
    this.#series = deps.random.base64url(9);
  }

  /** One round trip. `limits` is not empty. */
  async take(limits: readonly Limit[]): Promise<Verdict> {
    const { call, read, without } = this.command(limits);
    try {
      return read(await this.#redis.eval(call));
    } catch {
      return without();
    }
  }

  /** The same as one command of `redis.run`, to share a round trip: `read` takes its reply, `without` decides when there is none. */
  command(limits: readonly Limit[]): { call: ScriptCall; read: (reply: Reply) => Verdict; without: () => Verdict } {
    const now = this.#clock.now().getTime();
    this.#calls += 1;
    const name = `${this.#series}.${this.#calls}`;
    const args = [now, name, ...limits.flatMap((limit) => [limit.max, limit.windowSeconds * 1000])];
    return {
      call: TAKE.call(limits.map(logKey), args),
      read: (reply) => {
        const standings = (reply as [number, number, number][]).map(([count, waitMs, newest], index) =>
          standing(limits[index] as Limit, count, waitMs, newest),
        );
        return verdict(standings, () => this.#undo(limits, name));
      },
      without: () => this.#local.take(limits, now),
    };
  }

  /** Forgets what was counted under a key. */
  async clear(key: string): Promise<void> {
    this.#local.clear(key);
    try {
      await this.#redis.delete(`w:${key}`);
    } catch {
      // it lapses by itself at the window's end
    }
  }

  async #undo(limits: readonly Limit[], name: string): Promise<void> {
    try {
      await this.#redis.run(limits.map((limit) => ['zrem', logKey(limit), name]));
    } catch {
      // it lapses by itself at the window's end
    }
  }
}

const standing = (limit: Limit, count: number, waitMs: number, newest: number): Standing => ({
  limit,
  remaining: Math.max(0, limit.max - count),
  waitMs,
  freeAt: newest + limit.windowSeconds * 1000,
});

function verdict(standings: readonly Standing[], undo: () => Promise<void>): Verdict {
  const allowed = standings.every(({ waitMs }) => waitMs === 0);
  const [tightest] = allowed ? standings.toSorted((a, b) => a.remaining - b.remaining) : standings.toSorted((a, b) => b.waitMs - a.waitMs);
  return { allowed, tightest: tightest as Standing, undo };
}

const LOCAL_KEYS_MAX = 20_000;

/** The same windows in this process's memory, oldest keys forgotten first. */
export class LocalWindows {
  readonly #calls = new Map<string, number[]>();

  take(limits: readonly Limit[], now: number): Verdict {
    const logs = limits.map((limit) => this.#live(limit, now));
    const refused = limits.some((limit, index) => (logs[index] as number[]).length >= limit.max);
    const standings = limits.map((limit, index) => {
      const log = logs[index] as number[];
      if (!refused) log.push(now);
      const first = log[log.length - limit.max] ?? now;
      const waitMs = refused && log.length >= limit.max ? Math.max(1, first + limit.windowSeconds * 1000 - now) : 0;
      return standing(limit, log.length, waitMs, log.at(-1) ?? now);
    });
    return verdict(standings, () => {
      if (!refused) for (const log of logs) remove(log, now);
      return Promise.resolve();
    });
  }

  clear(key: string): void {
    this.#calls.delete(key);
  }

  #live(limit: Limit, now: number): number[] {
    const log = this.#calls.get(limit.key) ?? [];
    const first = log.findIndex((at) => at > now - limit.windowSeconds * 1000);
    log.splice(0, first < 0 ? log.length : first);
    this.#calls.delete(limit.key);
    this.#calls.set(limit.key, log);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > LOCAL_KEYS_MAX && oldest !== undefined) this.#calls.delete(oldest);
    return log;
  }
}

function remove(log: number[], at: number): void {
  const index = log.indexOf(at);
  if (index >= 0) log.splice(index, 1);
}
