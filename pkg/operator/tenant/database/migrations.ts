import { Semaphore } from '../../../runtime/semaphore.ts';
import { LockTimeout, StatementTimeout } from '../../../store/postgres/errors.ts';
import { StoreUnavailableError } from '../../../store/unavailable.ts';
import { ConditionError } from '../../conditions/runner.ts';
import { MAX_FAILING } from '../workload/max-failing.ts';

const HALTED_RETRY_MS = 60_000;

/** Errors that say nothing about the migration, including those that a tenant can cause with locks on its own tables. */
const OF_ONE_TENANT = [ConditionError, StoreUnavailableError, LockTimeout, StatementTimeout] as const;

/**
 * Runs the migrations of many tenants, a bounded number at a time.
 *
 * When an upgrade has failed for MAX_FAILING tenants, the others stay on their version (old and new servers run side by side)
 * until one of those that failed succeeds; they are retried with back-off. New tenants are not affected.
 */
export class Migrations {
  readonly #running: Semaphore;
  readonly #failing = new Set<string>();

  constructor(options: { concurrency: number }) {
    this.#running = new Semaphore(options.concurrency);
  }

  /** Throws ConditionError `MigrationsHalted`, or what `migrate` throws. */
  async run<T>(tenant: { slug: string; isUpgrade: boolean }, migrate: () => Promise<T>): Promise<T> {
    const { slug, isUpgrade } = tenant;
    return this.#running.run(async () => {
      try {
        if (isUpgrade && this.#failing.size >= MAX_FAILING && !this.#failing.has(slug)) {
          const message =
            'Waiting for schema upgrades to continue: they are halted, since they failed for several tenants; see ' +
            'their conditions';
          throw new ConditionError('MigrationsHalted', message, { retryAfterMs: HALTED_RETRY_MS });
        }
        const result = await migrate();
        this.#failing.delete(slug);
        return result;
      } catch (error) {
        if (isUpgrade && !OF_ONE_TENANT.some((kind) => error instanceof kind)) this.#failing.add(slug);
        throw error;
      }
    });
  }

  /** A deleted tenant no longer counts as failing. */
  remove(slug: string): void {
    this.#failing.delete(slug);
  }
}
