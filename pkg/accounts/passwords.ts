import { inflateRawSync } from 'node:zlib';
import { hash, verify } from '@node-rs/argon2';
import { invalid } from '../api/problem.ts';
import { Semaphore } from '../runtime/semaphore.ts';

/** The cost of hashing a password with argon2id. */
export interface PasswordCost {
  /** KiB */
  readonly memoryCost: number;
  /** passes */
  readonly timeCost: number;
}

/** The OWASP Password Storage Cheat Sheet: 19 MiB, 2 passes. */
const COST: PasswordCost = { memoryCost: 19_456, timeCost: 2 };
/** Each hash takes 19 MiB and one of libuv's four threads. Further hashes wait, so file and DNS work continues. */
const AT_ONCE = 2;

/** Hashes and verifies passwords. A hundred simultaneous sign-ins take the memory of two. */
export class Passwords {
  readonly #hashing = new Semaphore(AT_ONCE);
  readonly #cost: PasswordCost;
  readonly #nobody: Promise<string>;
  /** 92 KB, loaded when the first password is set: most servers never need it. */
  #common: Promise<string> | undefined;

  /** `cost` applies to new hashes. */
  constructor(cost = COST) {
    this.#cost = cost;
    this.#nobody = this.hash('nobody has this password');
  }

  hash(password: string): Promise<string> {
    return this.#hashing.run(() => hash(password, { ...this.#cost, parallelism: 1 }));
  }

  /** Takes as long for an unknown user (`stored` is null) as for a wrong password. */
  async verify(stored: string | null, password: string): Promise<boolean> {
    const against = stored ?? (await this.#nobody);
    const matches = await this.#hashing.run(() => verify(against, password).catch(() => false));
    return matches && stored !== null;
  }

  /** Returns true if the password, in any case, is one of the 10,000 that attackers try first (NIST SP 800-63B §5.1.1.2). */
  async isCommon(password: string): Promise<boolean> {
    this.#common ??= commonPasswords();
    return !password.includes('\n') && (await this.#common).includes(`\n${password.toLowerCase()}\n`);
  }

  /** Throws `validation_failed` for `field` if the password is common. */
  async requireUncommon(field: string, password: string): Promise<void> {
    if (await this.isCommon(password)) throw invalid(field, 'must not be one of the 10,000 most common passwords');
  }
}

/** Returns the passwords in lower case, each between two line breaks. */
async function commonPasswords(): Promise<string> {
  const { PACKED } = await import('./common-passwords.generated.ts');
  return `\n${inflateRawSync(Buffer.from(PACKED, 'base64')).toString('utf8')}\n`;
}
