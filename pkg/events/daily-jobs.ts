import type { Clock } from '../runtime/clock.ts';
import { DAY_MS } from '../runtime/time.ts';

/** Returns the end of the day (UTC) of `now`. */
export const endOfDay = (now: Date): Date => new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS);

/**
 * Schedules jobs before the first change of a day (UTC, per process) that makes them necessary. So a crash after the change loses
 * no job, and the changes themselves need no statement for it.
 */
export class DailyJobs {
  readonly #clock: Clock;
  readonly #schedule: (now: Date) => Promise<unknown>;
  #scheduled: { readonly until: number; readonly asked: Promise<unknown> } | undefined;

  /** `schedule` inserts the jobs of a day. */
  constructor(clock: Clock, schedule: (now: Date) => Promise<unknown>) {
    this.#clock = clock;
    this.#schedule = schedule;
  }

  /**
   * Call this before the transaction of the change. It runs a statement only once a day. Throws what `schedule` throws, and tries
   * again at the next call.
   */
  async ensure(): Promise<void> {
    const now = this.#clock.now();
    const until = endOfDay(now).getTime();
    if (this.#scheduled?.until !== until) {
      const asked = this.#schedule(now);
      this.#scheduled = { until, asked };
      asked.catch(() => (this.#scheduled = undefined));
    }
    await this.#scheduled.asked;
  }
}
