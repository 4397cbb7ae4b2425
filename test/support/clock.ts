import type { Clock } from '../../pkg/runtime/clock.ts';

/** A clock that stands still until the test advances it. Wall time and monotonic time may be moved apart. */
export class ManualClock implements Clock {
  #monotonic = 0;
  #wall = Date.parse('2026-01-01T00:00:00Z');
  readonly #sleepers = new Set<{ dueAt: number; wake: () => void }>();

  now(): Date {
    return new Date(this.#wall);
  }

  monotonic(): number {
    return this.#monotonic;
  }

  get sleepers(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const sleeper = { dueAt: this.#monotonic + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', () => {
        if (this.#sleepers.delete(sleeper)) reject(signal.reason as Error);
      });
    });
  }

  schedule(ms: number, run: () => void): () => void {
    const sleeper = { dueAt: this.#monotonic + ms, wake: run };
    this.#sleepers.add(sleeper);
    return () => void this.#sleepers.delete(sleeper);
  }

  /** Moves both times on, waking sleepers in their order, and lets what they started run. */
  async advance(ms: number): Promise<void> {
    const until = this.#monotonic + ms;
    for (;;) {
      await settled();
      const next = [...this.#sleepers].filter(({ dueAt }) => dueAt <= until).toSorted((a, b) => a.dueAt - b.dueAt)[0];
      if (!next) break;
      this.#wall += Math.max(next.dueAt - this.#monotonic, 0);
      this.#monotonic = Math.max(next.dueAt, this.#monotonic);
      this.#sleepers.delete(next);
      next.wake();
    }
    this.#wall += until - this.#monotonic;
    this.#monotonic = until;
    await settled();
  }

  /** Somebody sets the wall clock. */
  jump(ms: number): void {
    this.#wall += ms;
  }
}

/** Lets promises and what is ready on sockets go on. */
export async function settled(turns = 5): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
