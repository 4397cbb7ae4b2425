import type { Clock } from '../runtime/clock.ts';

/** Left out, an abort makes a DOMException with a stack each time. */
const OVER = new Error('over');

/** One signal that fires at the first of several ends: the caller's signal, or a time that has run out. `end()` lets go of all of them. */
export class Deadline {
  readonly #clock: Clock;
  readonly #fired = new AbortController();
  readonly #over = new AbortController();

  /** `onOuterAbort` makes the reason out of the outer signal's. */
  constructor(clock: Clock, outer?: AbortSignal, onOuterAbort: (reason: unknown) => unknown = (reason) => reason) {
    this.#clock = clock;
    const follow = (): void => this.#fired.abort(onOuterAbort(outer?.reason));
    if (outer?.aborted === true) follow();
    else outer?.addEventListener('abort', follow, { once: true, signal: this.#over.signal });
  }

  get signal(): AbortSignal {
    return this.#fired.signal;
  }

  /** Fires with what `reason` gives in `ms`, unless the returned function is called first. */
  expireIn(ms: number, reason: () => Error): () => void {
    const cancelled = new AbortController();
    this.#over.signal.addEventListener('abort', () => cancelled.abort(OVER), { once: true });
    this.#clock.sleep(ms, cancelled.signal).then(
      () => this.#fired.abort(reason()),
      () => undefined, // cancelled
    );
    return () => cancelled.abort(OVER);
  }

  /** `work`, or a rejection when the signal fires first. What cannot be cancelled goes on unheard. */
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
