/** The follow-up that a successful reconcile requests. */
export interface Result {
  /** Reconcile again after this many milliseconds, also without a change. */
  readonly requeueAfterMs?: number;
  /** The awaited state lasts, so the retry comes after pending changes. */
  readonly isLasting?: boolean;
}

export const done: Result = {};

export const requeueAfter = (ms: number): Result => ({ requeueAfterMs: ms });

/** Requests another reconcile after `ms`, behind pending changes: the awaited state lasts. */
export const requeueBehindAfter = (ms: number): Result => ({ requeueAfterMs: ms, isLasting: true });

/** A failure whose retry is useless before this time: the event that ends it enqueues the key. */
export interface LastingFailure {
  readonly retryAfterMs: number;
}

export const isLasting = (error: unknown): error is LastingFailure =>
  typeof (error as Partial<LastingFailure> | undefined)?.retryAfterMs === 'number';

/** A failure that no retry can correct, only a change of the object. The key is not retried. */
export class TerminalError extends Error {
  override readonly name: string = 'TerminalError';
}
