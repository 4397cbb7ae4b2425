import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';

/** Longer than BullMQ needs to recover on its own: a delay of 5 s after an error, and one blocking command. */
export const DEAF_AFTER_MS = 20_000;

/**
 * Notices that this worker takes nothing from a queue although jobs are due and slots are free, and restarts its BullMQ worker.
 *
 * Such a worker looks healthy: it answers its probes, and its dispatchers still find the due rows. A restart costs nothing, since
 * Postgres has the leases of running attempts.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #restart: () => void;
  /** The time since which every round of a shard has found jobs. */
  readonly #since = new Map<string, number>();

  constructor(deps: { clock: Clock; log: Logger; restart: () => void }) {
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#restart = deps.restart;
  }

  /** Records that a round of the shard's dispatcher has found jobs that this worker could take, or none. */
  found(shard: string, any: boolean): void {
    if (!any) return void this.#since.delete(shard);
    const now = this.#clock.monotonic();
    const since = this.#since.get(shard);
    if (since === undefined) return void this.#since.set(shard, now);
    if (now - since < DEAF_AFTER_MS) return;
    this.#log.warn(
      { shard, seconds: Math.round((now - since) / 1000) },
      'jobs are due and slots are free, but the worker takes none; restarting the queue',
    );
    this.#since.clear();
    this.#restart();
  }

  /** Records that this worker has taken a job, of any shard. */
  taken(): void {
    this.#since.clear();
  }
}
