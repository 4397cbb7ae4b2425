import { TryLater } from '../events/processor.ts';
import type { Clock } from '../runtime/clock.ts';
import { MINUTE_MS } from '../runtime/time.ts';

/** An overdue attempt used all of its time, so other jobs go first. */
const RETRY_MS = 15 * MINUTE_MS;
/** Time for an attempt to end after its signal was aborted. */
const GRACE_MS = 5_000;

/** An attempt took longer than its queue allows. */
export class Overdue extends TryLater {
  /** The attempt is still running, although its signal was aborted. */
  readonly goesOn: boolean;

  constructor(limitMs: number, goesOn: boolean) {
    super(`the attempt did not end within ${limitMs / 1000} s`, RETRY_MS);
    this.goesOn = goesOn;
  }
}

/**
 * Returns the result of `work`. Aborts its signal after `limitMs`, and gives up 5 s later even if it is still running. Then
 * throws Overdue, or the error of `work`.
 */
export async function within<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { limitMs, signal, clock }: { readonly limitMs: number; readonly signal: AbortSignal; readonly clock: Clock },
): Promise<T> {
  const late = new AbortController();
  const abandoned = Promise.withResolvers<never>();
  let stop = clock.schedule(limitMs, () => {
    late.abort(new Overdue(limitMs, false));
    stop = clock.schedule(GRACE_MS, () => abandoned.reject(new Overdue(limitMs, true)));
  });
  try {
    return await Promise.race([work(AbortSignal.any([signal, late.signal])), abandoned.promise]);
  } catch (error) {
    throw late.signal.aborted && !(error instanceof Overdue) ? late.signal.reason : error;
  } finally {
    stop();
  }
}
