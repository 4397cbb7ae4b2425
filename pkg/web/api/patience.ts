import { ApiProblem } from './problem.ts';

/** Whoever would wait longer learns of it. Seconds. */
const WAIT_MAX = 60;
const ATTEMPTS = 10;

/**
 * Reads, and reads again after as long as the API says where it has refused only because there were too many requests. Throws
 * what `read` throws otherwise, the refusal if it would take longer than a minute or does not end, and what aborted the signal.
 */
export async function patiently<T>(read: () => Promise<T>, signal: AbortSignal, wait = pause): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const seconds = waitOf(error);
      if (seconds === undefined || attempt === ATTEMPTS) throw error;
      await wait(seconds * 1_000, signal);
    }
  }
}

/** Returns the seconds to wait; undefined: waiting does not help, or takes too long. */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof ApiProblem) || error.status !== 429) return undefined;
  const { retryAfter = 1 } = error;
  return retryAfter > WAIT_MAX ? undefined : Math.max(1, retryAfter);
}

/** Waits for `ms`. Throws what aborted the signal. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resume, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(resume, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
