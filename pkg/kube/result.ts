/** What a reconcile asks for when it went well. */
export interface Result {
  /** Reconcile again after this many milliseconds, also without a change. */
  readonly requeueAfterMs?: number;
  /** What it waits for lasts, so the retry goes behind what changed. */
  readonly isLasting?: boolean;
}

export const done: Result = {};

export const requeueAfter = (ms: number): Result => ({ requeueAfterMs: ms });

/** The same behind what changed: what it waits for lasts. */
export const requeueBehindAfter = (ms: number): Result => ({ requeueAfterMs: ms, isLasting: true });

/** A failure whose retry makes no sense sooner: what ends it enqueues the key. */
export interface LastingFailure {
  readonly retryAfterMs: number;
}

export const isLasting = (error: unknown): error is LastingFailure =>
  typeof (error as Partial<LastingFailure> | undefined)?.retryAfterMs === 'number';

/** A failure that a retry cannot correct, only a change of the object. The key is not retried. */
export class TerminalError extends Error {
  override readonly name: string = 'TerminalError';
}
