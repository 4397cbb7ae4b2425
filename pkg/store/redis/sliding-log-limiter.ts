import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { defineFunction } from './functions.ts';
import type { Decision, Limit, LimitState } from './rate-limit.ts';
import type { Redis } from './redis.ts';

/**
 * Exact rate limits over a sliding window: a log has each call. For guesses, which are undone or counted by member; requests are
 * counted in groups (grouped-window-limiter.ts).
 *
 * Invariants:
 * - Several limits are decided at once: a call counts against all of them or, if one refuses it, against none.
 * - This process also counts the calls that it accepts. So a Redis that does not answer, was killed or dropped a log gives no
 *   caller a second start here.
 */
export interface LoggedLimit extends Limit {
  /** Above LOG_MAX there is no limit. The count still states the number of calls, up to LOG_MAX. */
  readonly max: number;
  /**
   * Calls of one member count once, from the first of them on, and are accepted while that one counts. Default: every call
   * counts.
   */
  readonly member?: string;
}

interface LoggedState extends LimitState {
  readonly limit: LoggedLimit;
  /** Calls or members in the window, including this one if it is accepted. */
  readonly count: number;
  /** True if this call was counted; `undo` reverts that. */
  readonly isNew: boolean;
}

export interface LoggedDecision extends Decision<LoggedState> {
  /** One for each limit, in the order of the limits. */
  readonly states: readonly LoggedState[];
  /** Undoes the call, as if it had not been made. */
  undo(): Promise<void>;
}

/** The most calls of one log; the oldest are dropped. More than any limit accepts, and more than delays grow with. */
const LOG_MAX = 500;
/** The size of a log: a time of 9 bytes and a name of up to some 50 for each call. */
const LOG_BYTES_MAX = 32 * 1024;
/** The most limits of one call. */
const KEYS_MAX = 8;

// A log is a list of the calls, {time in ms, name, time, name, …}, stored for two windows from its last change. KEYS: the logs.
// ARGV: now in ms, the call's name, then for each limit its max, its window in ms and its member ('': the call itself). The reply
// has for each limit {count, wait, newest, whether the member was already counted}; the newest call of an accepted call is that
// call.
export const TAKE = defineFunction(
  'take',
  KEYS_MAX,
  `local now, logs, refused = tonumber(ARGV[1]), {}, false
   local stored = get(KEYS, ${LOG_BYTES_MAX})
   for i = 1, #KEYS do
     local log = {max = tonumber(ARGV[3 * i]), window = tonumber(ARGV[3 * i + 1]), counted = 0}
     local member = ARGV[3 * i + 2]
     log.name = member == '' and ARGV[2] or member
     local calls = stored[i] and cmsgpack.unpack(stored[i]) or {}
     for j = 1, #calls - 1, 2 do
       if calls[j] > now - log.window then
         log[#log + 1], log[#log + 2] = calls[j], calls[j + 1]
         if member ~= '' and calls[j + 1] == member then log.counted = 1 end
       end
     end
     log.count = #log / 2
     refused = refused or log.counted == 0 and log.count >= log.max
     logs[i] = log
   end
   local states = {}
   for i, log in ipairs(logs) do
     if not refused then
       if log.counted == 0 then
         log[#log + 1], log[#log + 2] = now, log.name
         local calls = {unpack(log, math.max(1, #log - ${2 * LOG_MAX - 1}))}
         redis.call('SET', KEYS[i], cmsgpack.pack(calls), 'PX', 2 * log.window)
       end
       states[i] = {log.count + 1 - log.counted, 0, now, log.counted}
     else
       local wait = 0
       if log.counted == 0 and log.count >= log.max then
         wait = math.max(1, (log[2 * (log.count - log.max) + 1] or now) + log.window - now)
       end
       states[i] = {log.count, wait, log[#log - 1] or now, log.counted}
     end
   end
   return states`,
);

// KEYS: the logs. ARGV: for each its window in ms and the name of the call to undo.
export const UNDO = defineFunction(
  'undo',
  KEYS_MAX,
  `local stored = get(KEYS, ${LOG_BYTES_MAX})
   for i = 1, #KEYS do
     local calls, others = stored[i] and cmsgpack.unpack(stored[i]) or {}, {}
     for j = 1, #calls - 1, 2 do
       if calls[j + 1] ~= ARGV[2 * i] then others[#others + 1], others[#others + 2] = calls[j], calls[j + 1] end
     end
     if #others < #calls then redis.call('SET', KEYS[i], cmsgpack.pack(others), 'PX', 2 * ARGV[2 * i - 1]) end
   end
   return 1`,
);

const logKey = (limit: LoggedLimit): string => `w:${limit.key}`;

export class SlidingLogLimiter {
  readonly #redis: Redis;
  readonly #clock: Clock;
  /** The process; together with a count, it names a call. */
  readonly #series: string;
  #calls = 0;
  readonly #local = new LocalSlidingLogLimiter();

  constructor(deps: { redis: Redis; clock: Clock; random: Random }) {
    this.#redis = deps.redis;
    this.#clock = deps.clock;
    this.#series = deps.random.base64url(9);
  }

  /** Takes one round trip. `limits` is not empty. */
  async take(limits: readonly LoggedLimit[]): Promise<LoggedDecision> {
    const now = this.#clock.now().getTime();
    this.#calls += 1;
    const name = `${this.#series}.${this.#calls}`;
    const args = [now, name, ...limits.flatMap(({ max, windowSeconds, member = '' }) => [max, windowSeconds * 1000, member])];
    let rows: [number, number, number, number][];
    try {
      rows = (await this.#redis.call(TAKE.call(limits.map(logKey), args))) as typeof rows;
    } catch {
      return this.#local.take(limits, now);
    }
    // A member that was already counted belongs to earlier calls.
    const states = rows.map(([count, waitMs, newest, isCounted], index) =>
      limitState(limits[index] as LoggedLimit, { count, waitMs, newest, isNew: isCounted === 0 }),
    );
    const made = states.filter(({ isNew }) => isNew).map(({ limit }) => limit);
    const undo = (): Promise<void> => this.#undo(made, name);
    const found = decide(states, undo);
    if (!found.allowed) return found;
    // Counted here after Redis answered: a call that this process refuses can then wait for those that it runs.
    const local = this.#local.take(limits, now);
    if (!local.allowed) {
      await undo();
      return local;
    }
    return decide(states.map(moreOf(local.states)), async () => {
      await local.undo();
      await undo();
    });
  }

  async #undo(limits: readonly LoggedLimit[], name: string): Promise<void> {
    if (limits.length === 0) return;
    const args = limits.flatMap(({ windowSeconds, member = name }) => [windowSeconds * 1000, member]);
    try {
      await this.#redis.call(UNDO.call(limits.map(logKey), args));
    } catch {
      // The call expires at the end of the window.
    }
  }
}

/** Redis may know fewer calls than this process, if it was killed or dropped a log. */
const moreOf =
  (local: readonly LoggedState[]) =>
  (state: LoggedState, index: number): LoggedState => {
    const own = local[index];
    return own === undefined || own.count <= state.count ? state : { ...state, count: own.count, remaining: own.remaining };
  };

const limitState = (
  limit: LoggedLimit,
  { newest, ...found }: { readonly count: number; readonly waitMs: number; readonly newest: number; readonly isNew: boolean },
): LoggedState => ({
  limit,
  ...found,
  remaining: Math.max(0, limit.max - found.count),
  freeAt: newest + limit.windowSeconds * 1000,
});

function decide(states: readonly LoggedState[], undo: () => Promise<void>): LoggedDecision {
  const allowed = states.every(({ waitMs }) => waitMs === 0);
  const [tightest] = allowed
    ? states.toSorted((a, b) => a.remaining - b.remaining)
    : states.toSorted((a, b) => b.waitMs - a.waitMs);
  return { allowed, tightest: tightest as LoggedState, states, undo };
}

const LOCAL_KEYS_MAX = 20_000;

interface Call {
  readonly at: number;
  readonly member: string | undefined;
}

/** The same limits in this process's memory; the oldest keys are dropped first. */
export class LocalSlidingLogLimiter {
  readonly #calls = new Map<string, Call[]>();

  take(limits: readonly LoggedLimit[], now: number): LoggedDecision {
    const logs = limits.map((limit) => {
      const log = this.#live(limit, now);
      return { limit, log, call: { at: now, member: limit.member }, isCounted: log.some(isOf(limit.member)) };
    });
    const refused = logs.some(({ limit, log, isCounted }) => !isCounted && log.length >= limit.max);
    const states = logs.map(({ limit, log, call, isCounted }) => {
      if (!refused && !isCounted) log.push(call);
      if (log.length > LOG_MAX) log.shift();
      const first = log[log.length - limit.max]?.at ?? now;
      const waitMs = refused && !isCounted && log.length >= limit.max ? Math.max(1, first + limit.windowSeconds * 1000 - now) : 0;
      return limitState(limit, { count: log.length, waitMs, newest: log.at(-1)?.at ?? now, isNew: !isCounted });
    });
    return decide(states, () => {
      for (const { log, call } of logs) if (log.includes(call)) log.splice(log.indexOf(call), 1);
      return Promise.resolve();
    });
  }

  #live(limit: LoggedLimit, now: number): Call[] {
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
