import { StoreUnavailableError } from '../../store/unavailable.ts';
import { NotYet } from '../steps.ts';

/** As many tenants may fail to upgrade before no other one is tried. */
const MAX_FAILING = 5;
const HALTED_RETRY_MS = 60_000;

/**
 * Migrations of many tenants, at most so many at a time.
 *
 * When an upgrade has failed for MAX_FAILING tenants, the others stay on their version (old and new servers run side by side) until one
 * of those that failed gets through; they are retried with back-off. New tenants are not held up.
 */
export class Migrations {
  readonly #concurrency: number;
  readonly #waiting: (() => void)[] = [];
  readonly #failing = new Set<string>();
  #running = 0;

  constructor(options: { concurrency: number }) {
    this.#concurrency = options.concurrency;
  }

  /** Throws NotYet `MigrationsHalted`, or what `migrate` throws. */
  async run<T>(tenant: { slug: string; isUpgrade: boolean }, migrate: () => Promise<T>): Promise<T> {
    const { slug, isUpgrade } = tenant;
    await this.#enter();
    try {
      if (isUpgrade && this.#failing.size >= MAX_FAILING && !this.#failing.has(slug)) {
        const message = 'upgrades of schemas are halted, since they failed for several tenants; see their conditions';
        throw new NotYet('MigrationsHalted', message, { retryAfterMs: HALTED_RETRY_MS });
      }
      const result = await migrate();
      this.#failing.delete(slug);
      return result;
    } catch (error) {
      if (isUpgrade && !(error instanceof NotYet) && !(error instanceof StoreUnavailableError)) this.#failing.add(slug);
      throw error;
    } finally {
      this.#leave();
    }
  }

  /** A tenant that is gone halts nobody. */
  forget(slug: string): void {
    this.#failing.delete(slug);
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#concurrency) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The place goes to who waits longest. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
