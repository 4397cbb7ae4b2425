import type { Clock } from '../../runtime/clock.ts';
import type { Decision, Limit, LimitState } from './rate-limit.ts';
import { LocalSlidingLogLimiter } from './sliding-log-limiter.ts';
import { defineFunction, type FunctionCall } from './functions.ts';
import type { Reply } from './redis.ts';

const GROUPS_OF_WINDOW = 20;
/** The stored size of a limit: at most GROUPS_OF_WINDOW + 2 groups of two numbers, of 9 bytes each. */
const STORED_BYTES_MAX = 512;
const KEYS_MAX = 400;

// KEYS: the limits. ARGV: now in ms; then the max and the window in ms of each limit; then, for each request, its number of
// limits and their positions. Stored for each limit: {all calls, the time when the last group began, then for each group the time
// of its last call and its number of calls}. The reply has the time of the last call of each limit, then for each request, in
// order, {calls, wait} of each of its limits.
export const COUNT = defineFunction(
  'count',
  KEYS_MAX,
  `local now, limits, replies = tonumber(ARGV[1]), {}, {}
   local stored = get(KEYS, ${STORED_BYTES_MAX})
   for i = 1, #KEYS do
     local calls, window = stored[i] and cmsgpack.unpack(stored[i]) or {0, 0}, tonumber(ARGV[2 * i + 1])
     local first, last = 3, #calls
     while first < last and calls[first] <= now - window do
       calls[1] = calls[1] - calls[first + 1]
       first = first + 2
     end
     if first > 3 then
       for j = 3, last do calls[j] = calls[j + first - 3] end
     end
     limits[i] = {calls = calls, max = tonumber(ARGV[2 * i]), window = window}
   end
   local function wait(limit)
     local calls, ms, group = limit.calls, 0, 3
     local left = calls[1]
     while left >= limit.max and calls[group] do
       ms = math.max(1, calls[group] + limit.window - now)
       left, group = left - calls[group + 1], group + 2
     end
     return ms
   end
   local function count(limit)
     local calls, last = limit.calls, #limit.calls
     if last > 2 and now - calls[2] < limit.window / ${GROUPS_OF_WINDOW} then
       calls[last - 1], calls[last] = math.max(now, calls[last - 1]), calls[last] + 1
     else
       calls[2], calls[last + 1], calls[last + 2] = now, now, 1
     end
     calls[1], limit.counted = calls[1] + 1, true
   end
   local at = 2 + 2 * #KEYS
   while at <= #ARGV do
     local size = tonumber(ARGV[at])
     if not (size >= 1) then error('a request has no limit') end
     local first, last, refused = at + 1, at + size, false
     for j = first, last do
       local limit = limits[tonumber(ARGV[j])]
       refused = refused or limit.calls[1] >= limit.max
     end
     for j = first, last do
       local limit = limits[tonumber(ARGV[j])]
       if not refused then count(limit) end
       replies[#replies + 1], replies[#replies + 2] = limit.calls[1], refused and wait(limit) or 0
     end
     at = last + 1
   end
   local newest = {}
   for i = 1, #KEYS do
     local calls = limits[i].calls
     if limits[i].counted then redis.call('SET', KEYS[i], cmsgpack.pack(calls), 'PX', 2 * limits[i].window) end
     newest[i] = calls[#calls - 1]
   end
   return {newest, replies}`,
);

/**
 * Rate limits of requests over a sliding window, made to cost little: Redis counts calls that come close together as one group.
 *
 * Invariants:
 * - In any span of `windowSeconds` at most `max` calls are accepted. A call counts until the last call of its group leaves the
 *   window: at most a twentieth of the window longer than it would alone, and no longer if calls are further apart.
 * - Several limits are decided at once: a call counts against all of them or, if one refuses it, against none.
 * - If Redis does not answer, this process counts on its own; it never stops counting.
 */
export class GroupedWindowLimiter {
  readonly #clock: Clock;
  readonly #local = new LocalSlidingLogLimiter();

  constructor(deps: { clock: Clock }) {
    this.#clock = deps.clock;
  }

  /**
   * Counts requests, each against its limits, one after the other, in one call. `read` returns their decisions in the same order.
   */
  command(requests: readonly (readonly Limit[])[]): { call: FunctionCall; read: (reply: Reply) => Decision[] } {
    const positions = new Map<string, number>();
    const limits: Limit[] = [];
    const taken: number[] = [];
    for (const wanted of requests) {
      taken.push(wanted.length);
      for (const limit of wanted) {
        let position = positions.get(limit.key);
        if (position === undefined) positions.set(limit.key, (position = limits.push(limit)));
        taken.push(position);
      }
    }
    const args = limits.flatMap(({ max, windowSeconds }) => [max, windowSeconds * 1000]);
    return {
      call: COUNT.call(
        limits.map(({ key }) => `n:${key}`),
        [this.#now(), ...args, ...taken],
      ),
      read: (reply) => {
        const [newest, replies] = reply as readonly [number[], number[]];
        let at = 0;
        return requests.map((wanted) =>
          decisionOf(
            wanted.map((limit) => {
              const [calls = 0, waitMs = 0] = [replies[at++], replies[at++]];
              return stateOf(limit, calls, waitMs, newest[(positions.get(limit.key) ?? 0) - 1] ?? 0);
            }),
          ),
        );
      },
    };
  }

  /** Returns the decision on one request while Redis does not answer. */
  takeLocally(limits: readonly Limit[]): Decision {
    return this.#local.take(limits, this.#now());
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}

const stateOf = (limit: Limit, calls: number, waitMs: number, newest: number): LimitState => ({
  limit,
  remaining: Math.max(0, limit.max - calls),
  waitMs,
  freeAt: newest + limit.windowSeconds * 1000,
});

function decisionOf(states: readonly LimitState[]): Decision {
  const isTighter = (one: LimitState, other: LimitState): boolean =>
    one.waitMs === other.waitMs ? one.remaining < other.remaining : one.waitMs > other.waitMs;
  const tightest = states.reduce((one, other) => (isTighter(other, one) ? other : one));
  return { allowed: tightest.waitMs === 0, tightest };
}
