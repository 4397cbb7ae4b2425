import { TryLater } from '../events/processor.ts';
import type { Clock } from '../runtime/clock.ts';

/** Bounds the tenants whose last turn is remembered. */
const KNOWN_MAX = 1_000;

interface TurnOptions {
  /** Tasks that run at once in this worker. */
  readonly atOnce: number;
  /** The reason why another task waits. */
  readonly reason: string;
  readonly askAgainMs: number;
}

/**
 * Bounds the tasks of a kind that a worker does at once. More tasks wait for their turn, and ask again. Of the waiting tenants,
 * the one served longest ago comes first. So a tenant with many tasks, whose turns end and begin again at once, does not keep
 * others waiting.
 */
export class TasksAtOnce {
  readonly #options: TurnOptions;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #askedAt = new Map<string, number>();
  /** Ordered by the time of service; the tenant served most recently is the last. */
  readonly #servedAt = new Map<string, number>();
  #running = 0;

  constructor(options: TurnOptions, clock: Pick<Clock, 'monotonic'>) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Throws TryLater if it is not this tenant's turn. */
  async run(tenant: string, work: () => Promise<void>): Promise<void> {
    if (this.#running >= this.#options.atOnce || !this.#isNext(tenant)) {
      this.#askedAt.set(tenant, this.#clock.monotonic());
      throw new TryLater(this.#options.reason, this.#options.askAgainMs);
    }
    this.#askedAt.delete(tenant);
    this.#running += 1;
    try {
      await work();
    } finally {
      this.#running -= 1;
      this.#served(tenant);
    }
  }

  #isNext(tenant: string): boolean {
    const now = this.#clock.monotonic();
    // A tenant that has not asked again by then no longer waits.
    for (const [other, at] of this.#askedAt) if (now - at > 3 * this.#options.askAgainMs) this.#askedAt.delete(other);
    const own = this.#servedAt.get(tenant) ?? -Infinity;
    return [...this.#askedAt.keys()].every((other) => other === tenant || (this.#servedAt.get(other) ?? -Infinity) >= own);
  }

  #served(tenant: string): void {
    this.#servedAt.delete(tenant);
    this.#servedAt.set(tenant, this.#clock.monotonic());
    const [oldest] = this.#servedAt.keys();
    if (this.#servedAt.size > KNOWN_MAX && oldest !== undefined) this.#servedAt.delete(oldest);
  }
}
