import { TryLater } from '../../events/processor.ts';
import type { Clock } from '../../runtime/clock.ts';

/** Of processes of 192 MiB at most. */
const READERS_MAX = 2;
const ASK_AGAIN_MS = 1_000;
/** Whoever has not asked again by then waits no more. */
const WAITING_MS = 3 * ASK_AGAIN_MS;
/** Tenants of which it is known when they were served. */
const KNOWN_MAX = 1_000;

/**
 * Archives that a worker reads at once: each has a process. More wait for their turn, and ask again. Of tenants that wait, the one that was served least
 * lately comes first: so one that imports much, whose turns end and begin again at once, does not keep others waiting.
 */
export class Readers {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #askedAt = new Map<string, number>();
  /** The one that was served last is the last. */
  readonly #servedAt = new Map<string, number>();
  #running = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Throws TryLater where it is not this tenant's turn. */
  async run(tenant: string, work: () => Promise<void>): Promise<void> {
    if (this.#running >= READERS_MAX || !this.#isNext(tenant)) {
      this.#askedAt.set(tenant, this.#clock.monotonic());
      throw new TryLater('other archives are being read', ASK_AGAIN_MS);
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
    for (const [other, at] of this.#askedAt) if (now - at > WAITING_MS) this.#askedAt.delete(other);
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
