import type { Clock } from './clock.ts';

/** Resolves once the signal is aborted; at once if it already is. */
export const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Resolves or rejects as `work` does; rejects with the signal's reason if it is aborted first. No listener outlives it. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Resolves after `ms`, or as soon as the signal is aborted: for loops that check the signal themselves. */
export const sleepUnlessAborted = (clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal): Promise<void> =>
  clock.sleep(ms, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });

/** Resolves once `work` has ended, or after `ms`; throws what `work` throws. No timer outlives it. */
export async function atMost(clock: Pick<Clock, 'schedule'>, ms: number, work: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const stop = clock.schedule(ms, over.resolve);
  try {
    await Promise.race([work, over.promise]);
  } finally {
    stop();
  }
}
