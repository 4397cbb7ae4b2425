import type { Clock } from '../runtime/clock.ts';

/** Without a reason, each abort creates a DOMException with a stack. */
const OVER = new Error('over');

/**
 * A signal that fires at the first of several events: the caller's signal or a time-out. `end()` releases all listeners and
 * timers.
 */
export class Deadline {
  readonly #clock: Clock;
  readonly #fired = new AbortController();
  readonly #over = new AbortController();

  constructor(clock: Clock, outer?: AbortSignal) {
    this.#clock = clock;
    const follow = (): void => this.#fired.abort(outer?.reason);
    if (outer?.aborted === true) follow();
    else outer?.addEventListener('abort', follow, { once: true, signal: this.#over.signal });
  }

  get signal(): AbortSignal {
    return this.#fired.signal;
  }

  /** Fires with the result of `reason` after `ms`, unless `end` is called first. */
  expireIn(ms: number, reason: () => Error): void {
    this.#clock.sleep(ms, this.#over.signal).then(
      () => this.#fired.abort(reason()),
      () => undefined, // ended
    );
  }

  /**
   * Settles as `work` does; rejects if the signal fires first. Work that cannot be cancelled continues; its result is ignored.
   */
  async race<T>(work: Promise<T>): Promise<T> {
    const over = new AbortController();
    const fired = new Promise<never>((_, reject) => {
      const refuse = (): void => reject(this.signal.reason as Error);
      if (this.signal.aborted) refuse();
      else this.signal.addEventListener('abort', refuse, { once: true, signal: over.signal });
    });
    try {
      return await Promise.race([work, fired]);
    } finally {
      over.abort(OVER);
    }
  }

  end(): void {
    this.#over.abort(OVER);
  }
}
