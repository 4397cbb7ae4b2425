import { hash, verify } from '@node-rs/argon2';

/** argon2id with the parameters of the OWASP Password Storage Cheat Sheet: 19 MiB, 2 passes. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Each takes 19 MiB and a thread of libuv's four: the rest wait, and file and DNS work goes on. */
const AT_ONCE = 2;

/** Password hashes. A hundred sign-ins at once take the memory of two. */
export class Passwords {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #nobody: Promise<string>;

  constructor() {
    this.#nobody = this.hash('nobody has this password');
  }

  hash(password: string): Promise<string> {
    return this.#bounded(() => hash(password, PARAMETERS));
  }

  /** Takes as long for a user who is not there (`stored` null) as for a wrong password. */
  async verify(stored: string | null, password: string): Promise<boolean> {
    const against = stored ?? (await this.#nobody);
    const matches = await this.#bounded(() => verify(against, password).catch(() => false));
    return matches && stored !== null;
  }

  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
