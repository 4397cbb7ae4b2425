import { createHash } from 'node:crypto';
import { z } from 'zod';
import { KNOWN_BROWSER_SECONDS } from '../../api/lifetimes.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { SealError, type Sealer } from '../../runtime/sealing.ts';
import { personOf } from './login-throttle.ts';

/** Allows for shared computers. A further user replaces the one who signed in longest ago. */
const PEOPLE_PER_BROWSER = 8;

/**
 * The content of the cookie: a random id and the people who signed in. Each entry has the person (`personOf`), the time of the
 * last sign-in in seconds, and the password's generation (`generationOf`). The latest sign-in is last.
 */
const Cookie = z.object({ id: z.string(), people: z.array(z.tuple([z.string(), z.int(), z.string()])) });
type Cookie = z.output<typeof Cookie>;

/**
 * Browsers in which a user signed in before. They have login limits of their own for that user (LoginThrottle).
 *
 * Invariants:
 * - A cookie that this tenant did not seal, or of another user, is ignored.
 * - A change of the password invalidates it: a former password exempts nobody.
 * - Nothing is stored, and nobody can read from the cookie who signed in.
 */
export class KnownBrowsers {
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #associatedData: readonly string[];

  constructor(deps: { sealer: Sealer; clock: Clock; random: Random; tenantId: string }) {
    this.#sealer = deps.sealer;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#associatedData = [deps.tenantId, 'sign-in', 'known', 'browser'];
  }

  /**
   * Returns the browser's id, and a test of whether a password is the one of the last sign-in. Returns undefined if the cookie
   * does not name this person.
   */
  find(cookie: string | undefined, email: string): { id: string; isOf: (passwordHash: string | null) => boolean } | undefined {
    const known = this.#open(cookie);
    const person = personOf(email);
    const [, , generation] = known?.people.find(([name]) => name === person) ?? [];
    if (!known || generation === undefined) return undefined;
    return { id: known.id, isOf: (passwordHash) => generationOf(passwordHash) === generation };
  }

  /** Returns the cookie's next value, once this person has signed in with the password of this hash. */
  remember(cookie: string | undefined, email: string, passwordHash: string | null): string {
    const { id, people } = this.#open(cookie) ?? { id: this.#random.base64url(12), people: [] };
    const person = personOf(email);
    const others = people.filter(([name]) => name !== person).slice(1 - PEOPLE_PER_BROWSER);
    const known: Cookie = { id, people: [...others, [person, this.#seconds(), generationOf(passwordHash)]] };
    return this.#sealer.seal(JSON.stringify(known), this.#associatedData);
  }

  #open(cookie: string | undefined): Cookie | undefined {
    if (cookie === undefined) return undefined;
    try {
      const known = Cookie.safeParse(JSON.parse(this.#sealer.open(cookie, this.#associatedData)));
      if (!known.success) return undefined; // The cookie has the form of another release.
      const oldest = this.#seconds() - KNOWN_BROWSER_SECONDS;
      return { id: known.data.id, people: known.data.people.filter(([, at]) => at > oldest) };
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  #seconds(): number {
    return Math.floor(this.#clock.now().getTime() / 1000);
  }
}

/** Identifies a password by its salted hash: setting the same password again changes the identifier. */
const generationOf = (passwordHash: string | null): string =>
  createHash('sha256')
    .update(passwordHash ?? '')
    .digest('base64url')
    .slice(0, 22);
