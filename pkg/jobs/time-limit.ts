import { TryLater } from '../events/processor.ts';
import type { Clock } from '../runtime/clock.ts';

/** What was abandoned took all of its time; others go first. */
const RETRY_MS = 15 * 60_000;
/** For an attempt whose signal was aborted to end by itself. */
const GRACE_MS = 5_000;

/** An attempt took longer than its queue allows. */
export class Overdue extends TryLater {
  /** It has not ended although its signal was aborted. */
  readonly goesOn: boolean;

  constructor(limitMs: number, goesOn: boolean) {
    super(`the attempt did not end within ${limitMs / 1000} s`, RETRY_MS);
    this.goesOn = goesOn;
  }
}

/**
 * Gives what `work` gives. After `limitMs` its signal is aborted; 5 s later it is given up, however long it still goes on.
 * Throws Overdue then, or what `work` throws.
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
