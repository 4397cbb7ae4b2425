import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { defineScript, type Redis } from './redis.ts';

/**
 * Rate limits over a sliding window: in any span of `windowSeconds` at most `max` calls are taken. Those of guesses, which are taken back or counted by
 * member, are exact logs; requests are counted by request-limiter.ts.
 *
 * Invariants:
 * - Several limits are decided at once: a call counts against all of them or, when one refuses it, against none.
 * - When Redis does not answer, this process counts by itself; it never stops counting.
 */
export interface Limit {
  readonly key: string;
  readonly max: number;
  readonly windowSeconds: number;
  /** Calls of one member count once, from the first of them on, and are taken while that one counts. Left out: every call counts. */
  readonly member?: string;
}

/** A limit after a call. */
export interface LimitState {
  readonly limit: Limit;
  /** Calls or members in the window, this one included when it is taken. */
  readonly count: number;
  readonly remaining: number;
  /** Whether this call was counted; `undo` reverts that. */
  readonly isNew: boolean;
  /** Until one call is taken again; 0 when one is now. */
  readonly waitMs: number;
  /** When the whole limit is free again, in ms since the epoch. */
  readonly freeAt: number;
}

export interface RateLimitDecision {
  readonly allowed: boolean;
  /** When refused, the limit that refuses longest; else the one with the fewest calls left. */
  readonly tightest: LimitState;
  /** One for each limit, in the order of the limits. */
  readonly states: readonly LimitState[];
  /** Takes the call back, as if it had not been made. */
  undo(): Promise<void>;
}

// KEYS: the logs. ARGV: now in ms, the call's name, then of each limit its max, its window in ms and its member ('': the call itself).
// Replies with {count, wait, newest, whether the member was counted already} of each; the newest of a call that is taken is that call.
// A log's TTL becomes two windows whenever it begins, a call leaves it, or one is taken back, so it ends after the newest call's window: a call that comes
// more than a window after that finds that all calls of then have left, which makes the TTL two windows again.
const TAKE = defineScript(
  `local now, counts, counted, refused = tonumber(ARGV[1]), {}, {}, false
   for i = 1, #KEYS do
     local left = redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now - ARGV[3 * i + 1])
     counts[i] = redis.call('ZCARD', KEYS[i])
     if left > 0 and counts[i] > 0 then redis.call('PEXPIRE', KEYS[i], 2 * ARGV[3 * i + 1]) end
     counted[i] = ARGV[3 * i + 2] ~= '' and redis.call('ZSCORE', KEYS[i], ARGV[3 * i + 2]) and 1 or 0
     refused = refused or counted[i] == 0 and counts[i] >= tonumber(ARGV[3 * i])
   end
   local states = {}
   for i = 1, #KEYS do
     local max, window, member = tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1]), ARGV[3 * i + 2]
     if not refused then
       if counted[i] == 0 then
         redis.call('ZADD', KEYS[i], ARGV[1], member == '' and ARGV[2] or member)
         if counts[i] == 0 then redis.call('PEXPIRE', KEYS[i], 2 * ARGV[3 * i + 1]) end
       end
       states[i] = {counts[i] + 1 - counted[i], 0, now, counted[i]}
     else
       local wait = 0
       if counted[i] == 0 and counts[i] >= max then
         local first = redis.call('ZRANGE', KEYS[i], counts[i] - max, counts[i] - max, 'WITHSCORES')
         wait = math.max(1, tonumber(first[2] or now) + window - now)
       end
       local last = redis.call('ZRANGE', KEYS[i], -1, -1, 'WITHSCORES')
       states[i] = {counts[i], wait, tonumber(last[2] or now), counted[i]}
     end
   end
   return states`,
);

const logKey = (limit: Limit): string => `w:${limit.key}`;

export class RateLimiter {
  readonly #redis: Redis;
  readonly #clock: Clock;
  /** The process; with a count, it names a call. */
  readonly #series: string;
  #calls = 0;
  readonly #local = new LocalRateLimiter();

  constructor(deps: { redis: Redis; clock: Clock; random: Random }) {
    this.#redis = deps.redis;
    this.#clock = deps.clock;
    this.#series = deps.random.base64url(9);
  }

  /** One round trip. `limits` is not empty. */
  async take(limits: readonly Limit[]): Promise<RateLimitDecision> {
    const now = this.#clock.now().getTime();
    this.#calls += 1;
    const name = `${this.#series}.${this.#calls}`;
    const args = [now, name, ...limits.flatMap(({ max, windowSeconds, member = '' }) => [max, windowSeconds * 1000, member])];
    try {
      const rows = (await this.#redis.eval(TAKE.call(limits.map(logKey), args))) as [number, number, number, number][];
      // A member that was counted already belongs to earlier calls.
      const states = rows.map(([count, waitMs, newest, isCounted], index) =>
        limitState(limits[index] as Limit, { count, waitMs, newest, isNew: isCounted === 0 }),
      );
      const made = states.filter(({ isNew }) => isNew).map(({ limit }) => limit);
      return decide(states, () => this.#undo(made, name));
    } catch {
      return this.#local.take(limits, now);
    }
  }

  async #undo(limits: readonly Limit[], name: string): Promise<void> {
    try {
      if (limits.length === 0) return;
      await this.#redis.run(
        limits.flatMap((limit) => [
          ['zrem', logKey(limit), limit.member ?? name],
          ['pexpire', logKey(limit), 2 * limit.windowSeconds * 1000],
        ]),
      );
    } catch {
      // it expires at the end of the window
    }
  }
}

const limitState = (
  limit: Limit,
  { newest, ...found }: { readonly count: number; readonly waitMs: number; readonly newest: number; readonly isNew: boolean },
): LimitState => ({
  limit,
  ...found,
  remaining: Math.max(0, limit.max - found.count),
  freeAt: newest + limit.windowSeconds * 1000,
});

function decide(states: readonly LimitState[], undo: () => Promise<void>): RateLimitDecision {
  const allowed = states.every(({ waitMs }) => waitMs === 0);
  const [tightest] = allowed ? states.toSorted((a, b) => a.remaining - b.remaining) : states.toSorted((a, b) => b.waitMs - a.waitMs);
  return { allowed, tightest: tightest as LimitState, states, undo };
}

const LOCAL_KEYS_MAX = 20_000;

interface Call {
  readonly at: number;
  readonly member: string | undefined;
}

/** The same in this process's memory; the oldest keys are dropped first. */
export class LocalRateLimiter {
  readonly #calls = new Map<string, Call[]>();

  take(limits: readonly Limit[], now: number): RateLimitDecision {
    const logs = limits.map((limit) => {
      const log = this.#live(limit, now);
      return { limit, log, call: { at: now, member: limit.member }, isCounted: log.some(isOf(limit.member)) };
    });
    const refused = logs.some(({ limit, log, isCounted }) => !isCounted && log.length >= limit.max);
    const states = logs.map(({ limit, log, call, isCounted }) => {
      if (!refused && !isCounted) log.push(call);
      const first = log[log.length - limit.max]?.at ?? now;
      const waitMs = refused && !isCounted && log.length >= limit.max ? Math.max(1, first + limit.windowSeconds * 1000 - now) : 0;
      return limitState(limit, { count: log.length, waitMs, newest: log.at(-1)?.at ?? now, isNew: !isCounted });
    });
    return decide(states, () => {
      for (const { log, call } of logs) if (log.includes(call)) log.splice(log.indexOf(call), 1);
      return Promise.resolve();
    });
  }

  #live(limit: Limit, now: number): Call[] {
    const log = this.#calls.get(limit.key) ?? [];
    const first = log.findIndex(({ at }) => at > now - limit.windowSeconds * 1000);
    log.splice(0, first < 0 ? log.length : first);
    this.#calls.delete(limit.key);
    this.#calls.set(limit.key, log);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > LOCAL_KEYS_MAX && oldest !== undefined) this.#calls.delete(oldest);
    return log;
  }
}

const isOf =
  (member: string | undefined) =>
  (call: Call): boolean =>
    member !== undefined && call.member === member;
