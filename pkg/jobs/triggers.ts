import type { Schedule, WorkerServices } from '../events/processor.ts';
import { sleepUnlessAborted, whenAborted } from '../runtime/abort.ts';
import { type BackOff, backOffMs } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Redis, WAKE_CHANNEL } from '../store/redis/redis.ts';

const RESUBSCRIBE_MS = 1_000;

/**
 * Calls `wake` with each notification of new jobs, until `signal`. While Redis is unavailable it tries to subscribe again, and
 * the dispatchers' own sweep continues.
 */
export async function onNotification(
  redis: Redis,
  wake: (message: string) => void,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const unsubscribe = await redis.subscribe(WAKE_CHANNEL, wake);
      wake('');
      await whenAborted(signal);
      await unsubscribe();
    } catch {
      await sleepUnlessAborted(clock, RESUBSCRIBE_MS, signal);
    }
  }
}

/** A worker that starts while Postgres is unavailable does not wait for the next day. */
const FAILED_RUN: BackOff = { baseMs: 10_000, maxMs: 600_000, jitter: 0.5 };

/** Runs the schedule now and at its interval, and soon after a failure, until `signal`. */
export async function runSchedule(
  { name, everyMs, run }: Schedule,
  services: WorkerServices,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, random } = services;
  let failures = 0;
  while (!signal.aborted) {
    let isWhole = true;
    const onFailure = (error: unknown, of: object = {}): void => {
      isWhole = false;
      log.warn({ err: error, schedule: name, ...of }, 'scheduled run failed; it is retried soon');
    };
    await run(services, onFailure).catch(onFailure);
    failures = isWhole ? 0 : failures + 1;
    await sleepUnlessAborted(clock, isWhole ? everyMs : Math.min(everyMs, backOffMs(FAILED_RUN, failures, random)), signal);
  }
}
