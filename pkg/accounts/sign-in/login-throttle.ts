import { createHash } from 'node:crypto';
import { Problem } from '../../api/problem.ts';
import { abortable } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { LoggedLimit, SlidingLogLimiter, LoggedDecision } from '../../store/redis/sliding-log-limiter.ts';

const WINDOW_SECONDS = 900;
/**
 * Failures for one person from one network, or from one browser in which this person signed in before. Further attempts get 429.
 */
const FAILURES_PER_PERSON = 10;
/** People for whom one network may fail. A classroom behind one address signs in without failing. */
const PEOPLE_PER_NETWORK = 100;

/** Failures for one account from all networks after which each further attempt is delayed: others cannot lock a user out. */
const UNDELAYED_FAILURES = 20;
/** The first delay; it doubles with further failures. */
const FIRST_DELAY_MS = 250;
const DOUBLES_EVERY = 5;
const LONGEST_DELAY_MS = 4_000;
/**
 * Attempts for one person that wait in line in this process. The last waits 32 s, less than a client or a proxy waits for a
 * reply.
 */
const WAITING_PER_PERSON = 8;
/** Waiting attempts from one network, so that no network takes all the slots. */
const WAITING_PER_NETWORK = 2;

/** Longest time that an attempt waits for a slot that another running attempt holds. */
const LONGEST_WAIT_FOR_SLOT_MS = 10_000;

/** The limits that an attempt counts against, and the signal that ends it. */
export interface LoginAttempt {
  /** The first is the limit of the network, browser or account that the attempt comes from. */
  readonly limits: readonly [LoggedLimit, ...LoggedLimit[]];
  /** The key of the limit whose count delays attempts, one after another. */
  readonly delayedBy?: string;
  /** Failures after which attempts are delayed; default: UNDELAYED_FAILURES. */
  readonly undelayed?: number;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/**
 * Limits how often a password is guessed.
 *
 * Invariants:
 * - A network makes at most 10 guesses for a person in 15 minutes, however many race. An attempt takes a slot before it begins,
 *   and releases the slot when it succeeds.
 * - Guesses for a person from many networks slow each other down, however many race. After 20 failures a process makes one at a
 *   time, finally 4 s apart. At most eight wait at once, two of them from one network; a further attempt is refused for as long
 *   as these take.
 * - A browser in which a person signed in before has 10 guesses of its own for this person, whatever strangers do. Guesses from
 *   all browsers of a person slow each other down in the same way.
 * - People who know their password do not cause refusals for each other. An attempt that finds all slots taken waits for the
 *   running attempts of this process that hold one. It waits at most 10 s, and no longer than its client.
 * - While Redis is unavailable, this process counts on its own.
 */
export class LoginThrottle {
  readonly #rateLimiter: SlidingLogLimiter;
  readonly #clock: Clock;
  /** Running attempts of this process, by the key of each limit that they count against. */
  readonly #running = new Map<string, Set<Promise<unknown>>>();
  /** Attempts that wait in line, by the key of the limit that delays them. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(deps: { rateLimiter: SlidingLogLimiter; clock: Clock }) {
    this.#rateLimiter = deps.rateLimiter;
    this.#clock = deps.clock;
  }

  /** Runs `attempt`; undefined from it is a failure. Throws Problem `too_many_attempts`, or the signal's reason. */
  async guard<T>(login: LoginAttempt, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    const until = this.#clock.monotonic() + LONGEST_WAIT_FOR_SLOT_MS;
    for (;;) {
      login.signal.throwIfAborted();
      const decision = await this.#rateLimiter.take(login.limits);
      if (decision.allowed) return this.#run(login, decision, attempt);
      const others = this.#running.get(decision.tightest.limit.key);
      const leftMs = until - this.#clock.monotonic();
      if (!others || leftMs <= 0) throw tooMany(decision.tightest.waitMs);
      await this.#firstOf(others, leftMs, login.signal);
    }
  }

  async #firstOf(others: Iterable<Promise<unknown>>, ms: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    try {
      await Promise.race([...others, this.#clock.sleep(ms, AbortSignal.any([signal, over.signal]))]);
    } finally {
      over.abort();
    }
  }

  async #run<T>(login: LoginAttempt, decision: LoggedDecision, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    const settled = (async (): Promise<T | undefined> => {
      let result: T | undefined;
      try {
        await this.#delay(login, decision);
        result = await attempt();
      } catch (error) {
        await decision.undo(); // An unavailable store or a disconnected client is not a wrong guess.
        throw error;
      }
      if (result !== undefined) await decision.undo();
      return result;
    })();
    const quiet = settled.catch(() => undefined);
    const held = decision.states.filter(({ isNew }) => isNew).map(({ limit: { key } }) => key);
    for (const key of held) this.#running.set(key, (this.#running.get(key) ?? new Set()).add(quiet));
    try {
      return await settled;
    } finally {
      for (const key of held) this.#leave(key, quiet);
    }
  }

  /** Waits for its turn, and then for the delay. Throws Problem `too_many_attempts`, or the signal's reason. */
  async #delay(
    { limits: [{ key: from }], delayedBy, undelayed = UNDELAYED_FAILURES, signal }: LoginAttempt,
    { states }: LoggedDecision,
  ): Promise<void> {
    const count = states.find(({ limit }) => limit.key === delayedBy)?.count ?? 0;
    const ms = delayMs(count - 1 - undelayed + UNDELAYED_FAILURES);
    if (ms === 0 || delayedBy === undefined) return;
    const line = this.#waiting.get(delayedBy) ?? [];
    if (line.length >= WAITING_PER_PERSON || line.filter((other) => other.from === from).length >= WAITING_PER_NETWORK)
      throw tooMany(ms * line.length);
    const before = line.at(-1)?.over ?? Promise.resolve();
    const left = Promise.withResolvers<void>();
    // An attempt that leaves before its turn must not let the next one overtake those ahead.
    const own: Waiting = { from, over: before.then(() => left.promise) };
    line.push(own);
    this.#waiting.set(delayedBy, line);
    try {
      await abortable(before, signal);
      await this.#clock.sleep(ms, signal);
    } finally {
      line.splice(line.indexOf(own), 1);
      if (line.length === 0) this.#waiting.delete(delayedBy);
      left.resolve();
    }
  }

  #leave(key: string, attempt: Promise<unknown>): void {
    const others = this.#running.get(key);
    others?.delete(attempt);
    if (others?.size === 0) this.#running.delete(key);
  }
}

interface Waiting {
  readonly from: string;
  /** Resolves when this attempt and all before it have stopped waiting. */
  readonly over: Promise<void>;
}

function tooMany(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1000);
  return new Problem('too_many_attempts', `Too many wrong passwords. Try again in ${seconds} s.`, { retryAfter: seconds });
}

/** Returns the delay of an attempt after this many failures for its account, in ms. */
export function delayMs(failures: number): number {
  if (failures < UNDELAYED_FAILURES) return 0;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.floor((failures - UNDELAYED_FAILURES) / DOUBLES_EVERY));
}

/**
 * Returns one text for all spellings of an address with which Postgres finds the same person. Its lower() makes an i of the
 * Turkish İ (U+0130); ours makes an i with a dot above (U+0307), which would give a guesser separate limits.
 */
export const foldedEmail = (email: string): string => email.toLowerCase().replaceAll('i\u0307', 'i');

/** Returns a key for a person where the address itself must not be readable. */
export const personOf = (email: string): string =>
  createHash('sha256').update(foldedEmail(email)).digest('base64url').slice(0, 22);

const limit = (key: string, max: number, member?: string): LoggedLimit => ({
  key: `sign-in:${key}`,
  max,
  windowSeconds: WINDOW_SECONDS,
  ...(member === undefined ? {} : { member }),
});

/**
 * The attempt to sign in. `network` is `RequestInfo.network`; `browser` is the id of a browser in which this person signed in
 * before.
 */
export function signInAttempt(by: {
  readonly email: string;
  readonly network: string;
  readonly browser: string | undefined;
  readonly signal: AbortSignal;
}): LoginAttempt {
  const { network, browser, signal } = by;
  const person = personOf(by.email);
  if (browser !== undefined) {
    const everyBrowser = limit(`browsers:${person}`, Number.MAX_SAFE_INTEGER);
    return {
      limits: [limit(`browser:${browser}:${person}`, FAILURES_PER_PERSON), everyBrowser],
      delayedBy: everyBrowser.key,
      signal,
    };
  }
  const everywhere = limit(`person:${person}`, Number.MAX_SAFE_INTEGER);
  return {
    limits: [
      limit(`network:${network}:${person}`, FAILURES_PER_PERSON),
      limit(`people:${network}`, PEOPLE_PER_NETWORK, person),
      everywhere,
    ],
    delayedBy: everywhere.key,
    signal,
  };
}

/** The attempt of a signed-in user to give the current password. No other caller can use up this limit. */
export const ownPasswordAttempt = (userUuid: string, signal: AbortSignal): LoginAttempt => ({
  limits: [limit(`own:${userUuid}`, FAILURES_PER_PERSON)],
  signal,
});
