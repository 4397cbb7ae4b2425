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
/** Less than a client or a proxy waits for a reply. */
const LONGEST_DELAY_MS = 8_000;

/** Where an attempt counts, and when it is given up. */
export interface Guess {
  readonly limits: readonly Limit[];
  /** Of the limits: the one whose count makes an attempt wait. */
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
 * - Guesses from many networks slow each other, and never refuse anybody: the longest wait is 8 s.
 * - A browser that a person signed in with before has 10 guesses at this person of its own, whatever others do.
 * - People who know their password do not refuse each other: an attempt that finds all places taken by others under way here waits for one of them.
 * - With Redis away this process counts by itself.
 */
export class Attempts {
  readonly #windows: SlidingWindows;
  readonly #clock: Clock;
  /** Attempts under way in this process, by the key of each limit that they count against. */
  readonly #underWay = new Map<string, Set<Promise<unknown>>>();

  constructor(deps: { windows: SlidingWindows; clock: Clock }) {
    this.#windows = deps.windows;
    this.#clock = deps.clock;
  }

  /** Runs `attempt`; one that answers undefined has failed. Throws Problem `too_many_attempts`, or the signal's reason. */
  async guard<T>(guess: Guess, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    for (;;) {
      const verdict = await this.#windows.take(guess.limits);
      if (verdict.allowed) return this.#run(guess, verdict, attempt);
      const others = this.#underWay.get(verdict.tightest.limit.key);
      if (!others) {
        const seconds = Math.ceil(verdict.tightest.waitMs / 1000);
        throw new Problem('too_many_attempts', `Too many failed attempts to sign in. Try again in ${seconds} s.`, { retryAfter: seconds });
      }
      await Promise.race(others);
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
    for (const { key } of guess.limits) this.#underWay.set(key, (this.#underWay.get(key) ?? new Set()).add(quiet));
    try {
      return await settled;
    } finally {
      for (const { key } of guess.limits) this.#leave(key, quiet);
    }
  }

  async #delay({ delayedBy, signal }: Guess, { standings }: Verdict): Promise<void> {
    const count = standings.find(({ limit }) => limit.key === delayedBy)?.count ?? 0;
    const ms = delayMs(count - 1);
    if (ms > 0) await this.#clock.sleep(ms, signal);
  }

  #leave(key: string, attempt: Promise<unknown>): void {
    const others = this.#underWay.get(key);
    others?.delete(attempt);
    if (others?.size === 0) this.#underWay.delete(key);
  }
}

/** How long an attempt waits after so many failures at its person, in ms. */
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

/** Signing in. `browser`: the id of one that this person signed in with before. */
export function signInGuess(by: {
  readonly email: string;
  readonly address: string;
  readonly browser: string | undefined;
  readonly signal: AbortSignal;
}): Guess {
  const { address, browser, signal } = by;
  const person = personOf(by.email);
  if (browser !== undefined) return { limits: [limit(`browser:${browser}:${person}`, FAILURES_PER_PERSON)], signal };
  const everywhere = limit(`person:${person}`, Number.MAX_SAFE_INTEGER);
  return {
    limits: [
      limit(`network:${address}:${person}`, FAILURES_PER_PERSON),
      limit(`people:${address}`, PEOPLE_PER_NETWORK, person),
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
