/** The source of time. It is injected everywhere, so that a test can set it. */
export interface Clock {
  /** Wall-clock time, for values that are stored or shown. */
  now(): Date;
  /** Milliseconds that only ever grow, for durations and leases. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `run` once after `ms`, unless the returned function is called first. Cheaper than `sleep` with a signal, for a limit
   * that work hardly ever reaches.
   */
  schedule(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
  schedule: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
