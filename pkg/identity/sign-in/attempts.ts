import { createHash } from 'node:crypto';
import { Problem } from '../../api/problem.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Limit, SlidingWindows, Verdict } from '../../store/redis/window.ts';

const WINDOW_SECONDS = 900;
/** Failures at one person from one network, or from one browser that this person signed in with before; then 429. */
const FAILURES_PER_PERSON = 10;
/** People at whom one network may fail. A classroom behind one address signs in without failing. */
const PEOPLE_PER_NETWORK = 100;

/** Failures at one person from everywhere after which each further attempt waits: nobody is shut out by what others do. */
const UNDELAYED_FAILURES = 20;
/** The wait begins with this and doubles with every so many failures more. */
const FIRST_DELAY_MS = 250;
const DOUBLES_EVERY = 5;
const LONGEST_DELAY_MS = 4_000;
/** Attempts at one person that wait behind each other in this process: 32 s for the last, less than a client or a proxy waits for a reply. */
const WAITING_PER_PERSON = 8;
/** Of them, those from one network: no network has all the places. */
const WAITING_PER_NETWORK = 2;

/** How long an attempt waits for a place that others under way hold. */
const LONGEST_WAIT_FOR_PLACE_MS = 10_000;

/** Where an attempt counts, and when it is given up. */
export interface Guess {
  /** The first is that of the network, browser or account that it comes from. */
  readonly limits: readonly [Limit, ...Limit[]];
  /** Of the limits: the one whose count makes attempts wait, behind each other. */
  readonly delayedBy?: string;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

/**
 * Guards what somebody might guess.
 *
 * Invariants:
 * - Never more than 10 guesses at a person from one network in 15 minutes, however many race: an attempt takes a place before it is made, and
 *   gives it back when it succeeds.
 * - Guesses at a person from many networks slow each other, however many race: after 20 failures a process makes one at a time, 4 s apart in the end.
 *   Eight wait at once, two of them from one network; who finds no place is refused for as long as these take.
 * - A browser that a person signed in with before has 10 guesses at this person of its own, whatever strangers do. Those of all browsers of a
 *   person slow each other in the same way.
 * - People who know their password do not refuse each other: an attempt that finds all places taken waits for those under way here that hold
 *   one, 10 s at most and no longer than its client.
 * - With Redis away this process counts by itself.
 */
export class Attempts {
  readonly #windows: SlidingWindows;
  readonly #clock: Clock;
  /** Attempts under way in this process, by the key of each limit that they count against. */
  readonly #underWay = new Map<string, Set<Promise<unknown>>>();
  /** Attempts that wait behind each other, by the key of the limit that makes them wait. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(deps: { windows: SlidingWindows; clock: Clock }) {
    this.#windows = deps.windows;
    this.#clock = deps.clock;
  }

  /** Runs `attempt`; one that answers undefined has failed. Throws Problem `too_many_attempts`, or the signal's reason. */
  async guard<T>(guess: Guess, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    const until = this.#clock.monotonic() + LONGEST_WAIT_FOR_PLACE_MS;
    for (;;) {
      guess.signal.throwIfAborted();
      const verdict = await this.#windows.take(guess.limits);
      if (verdict.allowed) return this.#run(guess, verdict, attempt);
      const others = this.#underWay.get(verdict.tightest.limit.key);
      const leftMs = until - this.#clock.monotonic();
      if (!others || leftMs <= 0) throw tooMany(verdict.tightest.waitMs);
      await this.#firstOf(others, leftMs, guess.signal);
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

  async #run<T>(guess: Guess, verdict: Verdict, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    const settled = (async (): Promise<T | undefined> => {
      let result: T | undefined;
      try {
        await this.#delay(guess, verdict);
        result = await attempt();
      } catch (error) {
        await verdict.undo(); // a store that is away, or a client that has left, is nobody's wrong guess
        throw error;
      }
      if (result !== undefined) await verdict.undo();
      return result;
    })();
    const quiet = settled.catch(() => undefined);
    const held = verdict.standings.filter(({ isNew }) => isNew).map(({ limit: { key } }) => key);
    for (const key of held) this.#underWay.set(key, (this.#underWay.get(key) ?? new Set()).add(quiet));
    try {
      return await settled;
    } finally {
      for (const key of held) this.#leave(key, quiet);
    }
  }

  /** Waits for its turn, and then for the delay. Throws Problem `too_many_attempts`, or the signal's reason. */
  async #delay({ limits: [{ key: from }], delayedBy, signal }: Guess, { standings }: Verdict): Promise<void> {
    const count = standings.find(({ limit }) => limit.key === delayedBy)?.count ?? 0;
    const ms = delayMs(count - 1);
    if (ms === 0 || delayedBy === undefined) return;
    const line = this.#waiting.get(delayedBy) ?? [];
    if (line.length >= WAITING_PER_PERSON || line.filter((other) => other.from === from).length >= WAITING_PER_NETWORK)
      throw tooMany(ms * line.length);
    const before = line.at(-1)?.over ?? Promise.resolve();
    const left = Promise.withResolvers<void>();
    // Who leaves before its turn does not let the next one go before those ahead.
    const own: Waiting = { from, over: before.then(() => left.promise) };
    line.push(own);
    this.#waiting.set(delayedBy, line);
    try {
      await unlessAborted(before, signal);
      await this.#clock.sleep(ms, signal);
    } finally {
      line.splice(line.indexOf(own), 1);
      if (line.length === 0) this.#waiting.delete(delayedBy);
      left.resolve();
    }
  }

  #leave(key: string, attempt: Promise<unknown>): void {
    const others = this.#underWay.get(key);
    others?.delete(attempt);
    if (others?.size === 0) this.#underWay.delete(key);
  }
}

interface Waiting {
  readonly from: string;
  /** Resolves when this one and all before it wait no more. */
  readonly over: Promise<void>;
}

function tooMany(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1000);
  return new Problem('too_many_attempts', `Too many failed attempts to sign in. Try again in ${seconds} s.`, { retryAfter: seconds });
}

const unlessAborted = (work: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void work.then(resolve).finally(() => signal.removeEventListener('abort', onAbort));
  });

/** How long an attempt waits in its turn after so many failures at its person, in ms. */
export function delayMs(failures: number): number {
  if (failures < UNDELAYED_FAILURES) return 0;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.floor((failures - UNDELAYED_FAILURES) / DOUBLES_EVERY));
}

/**
 * One text for all spellings of an address by which Postgres finds the same person: its lower() makes an i of the Turkish İ (U+0130),
 * ours an i with a dot above (U+0307), which would give a guesser places of its own.
 */
export const foldedEmail = (email: string): string => email.toLowerCase().replaceAll('i\u0307', 'i');

/** What stands for a person where an address is not to be read. */
export const personOf = (email: string): string => createHash('sha256').update(foldedEmail(email)).digest('base64url').slice(0, 22);

const limit = (key: string, max: number, member?: string): Limit => ({
  key: `sign-in:${key}`,
  max,
  windowSeconds: WINDOW_SECONDS,
  ...(member === undefined ? {} : { member }),
});

/** Signing in. `network`: `RequestInfo.network`. `browser`: the id of one that this person signed in with before. */
export function signInGuess(by: {
  readonly email: string;
  readonly network: string;
  readonly browser: string | undefined;
  readonly signal: AbortSignal;
}): Guess {
  const { network, browser, signal } = by;
  const person = personOf(by.email);
  if (browser !== undefined) {
    const ofAll = limit(`browsers:${person}`, Number.MAX_SAFE_INTEGER);
    return { limits: [limit(`browser:${browser}:${person}`, FAILURES_PER_PERSON), ofAll], delayedBy: ofAll.key, signal };
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

/** The present password, asked of somebody who is signed in: nobody else can use these places up. */
export const ownPasswordGuess = (userUuid: string, signal: AbortSignal): Guess => ({
  limits: [limit(`own:${userUuid}`, FAILURES_PER_PERSON)],
  signal,
});
