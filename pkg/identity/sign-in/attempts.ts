import { createHash } from 'node:crypto';
import { Problem } from '../../api/problem.ts';
import type { Limit, SlidingWindows } from '../../store/redis/window.ts';

/** Failed sign-ins (design: Sign-in): 10 a person in 15 minutes, then 429. */
const FAILURES_PER_PERSON = 10;
/** An address that guesses at many people. A classroom behind one address signs in without failing. */
const FAILURES_PER_ADDRESS = 100;
const WINDOW_SECONDS = 900;

/**
 * Guards what somebody might guess.
 *
 * Invariants:
 * - Never more than 10 guesses at a person in 15 minutes, however many race: an attempt takes a place before it is made, and gives it back when it succeeds.
 * - People who know their password do not refuse each other: an attempt that finds all places taken by others under way here waits for one of them.
 * - With Redis away this process counts by itself.
 */
export class Attempts {
  readonly #windows: SlidingWindows;
  /** Attempts under way in this process, by the key of each limit that they count against. */
  readonly #underWay = new Map<string, Set<Promise<unknown>>>();

  constructor(windows: SlidingWindows) {
    this.#windows = windows;
  }

  /** Runs `attempt`; one that answers undefined has failed. Throws Problem `too_many_attempts`. */
  async guard<T>(person: string, address: string, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    const limits = limitsOf(person, address);
    for (;;) {
      const verdict = await this.#windows.take(limits);
      if (verdict.allowed) return this.#run(limits, attempt, () => verdict.undo());
      const others = this.#underWay.get(verdict.tightest.limit.key);
      if (!others) {
        const seconds = Math.ceil(verdict.tightest.waitMs / 1000);
        throw new Problem('too_many_attempts', `Too many failed attempts to sign in. Try again in ${seconds} s.`, { retryAfter: seconds });
      }
      await Promise.race(others);
    }
  }

  async #run<T>(limits: readonly Limit[], attempt: () => Promise<T | undefined>, undo: () => Promise<void>): Promise<T | undefined> {
    const settled = (async (): Promise<T | undefined> => {
      let result: T | undefined;
      try {
        result = await attempt();
      } catch (error) {
        await undo(); // a store that is away is nobody's wrong guess
        throw error;
      }
      if (result !== undefined) await undo();
      return result;
    })();
    const quiet = settled.catch(() => undefined);
    for (const { key } of limits) this.#underWay.set(key, (this.#underWay.get(key) ?? new Set()).add(quiet));
    try {
      return await settled;
    } finally {
      for (const { key } of limits) this.#leave(key, quiet);
    }
  }

  #leave(key: string, attempt: Promise<unknown>): void {
    const others = this.#underWay.get(key);
    others?.delete(attempt);
    if (others?.size === 0) this.#underWay.delete(key);
  }
}

/**
 * One text for all spellings of an address by which Postgres finds the same person: its lower() makes an i of the Turkish İ (U+0130),
 * ours an i with a dot above (U+0307), which would give a guesser places of its own.
 */
export const foldedEmail = (email: string): string => email.toLowerCase().replaceAll('i\u0307', 'i');

const limitsOf = (person: string, address: string): readonly Limit[] => [
  {
    key: `sign-in:person:${createHash('sha256').update(foldedEmail(person)).digest('base64url')}`,
    max: FAILURES_PER_PERSON,
    windowSeconds: WINDOW_SECONDS,
  },
  { key: `sign-in:address:${address}`, max: FAILURES_PER_ADDRESS, windowSeconds: WINDOW_SECONDS },
];
