import type { Schedule, WorkerServices } from '../events/processor.ts';
import { sleepUnlessAborted, whenAborted } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Redis, WAKE_CHANNEL } from '../store/redis/redis.ts';

const RESUBSCRIBE_MS = 1_000;

/**
 * Calls `wake` with each notification that there are new jobs, until `signal`. While Redis is unavailable it tries to subscribe again, and the
 * dispatchers' own sweep goes on.
 */
export async function onNotification(redis: Redis, wake: (message: string) => void, clock: Clock, signal: AbortSignal): Promise<void> {
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

/** Runs the schedule now and at its interval, until `signal`. */
export async function runSchedule({ name, everyMs, run }: Schedule, services: WorkerServices, signal: AbortSignal): Promise<void> {
  const { clock, log } = services;
  while (!signal.aborted) {
    await run(services).catch((error: unknown) =>
      log.warn({ err: error, schedule: name }, 'scheduled run failed; it is repeated at the next time'),
    );
    await sleepUnlessAborted(clock, everyMs, signal);
  }
}
