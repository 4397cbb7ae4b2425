import type { Logger } from '../runtime/log.ts';
import type { Executor, Tx } from '../store/postgres/database.ts';
import { requestWork } from '../store/postgres/work.ts';
import { type Redis, WAKE_CHANNEL } from '../store/redis/redis.ts';

/** Objects whose rows are gone, to be deleted from the tenant's bucket. */
export const PURGE_OBJECTS = 'objects.purge';
/** A day's objects, to be compared with the rows; what no row knows is deleted. */
export const SWEEP_OBJECTS = 'objects.sweep';

/** Keys in one request: a payload of about 25 KB. */
const KEYS_PER_REQUEST = 500;

/**
 * Later work, asked for in the transaction that makes it necessary (design: section 7): it is done if, and only if, that commits.
 * The worker is woken after the commit; a wake-up that gets lost only delays the work until its next sweep.
 */
export class WorkRequests {
  readonly #redis: Redis;
  readonly #log: Logger;
  readonly #woken = new WeakSet<Tx>();

  constructor(deps: { redis: Redis; log: Logger }) {
    this.#redis = deps.redis;
    this.#log = deps.log;
  }

  /** One statement for each 500 keys. */
  async purgeObjects(tx: Tx, keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += KEYS_PER_REQUEST) {
      await requestWork(tx, PURGE_OBJECTS, { keys: keys.slice(at, at + KEYS_PER_REQUEST) });
    }
    if (keys.length > 0) this.#wakeAfter(tx);
  }

  /** One statement. What no row knows among the objects of `day` (yyyymmdd) is deleted once `dueAt` has come. */
  async sweepObjects(sql: Executor, day: string, dueAt: Date): Promise<void> {
    await requestWork(sql, SWEEP_OBJECTS, { day }, dueAt);
  }

  #wakeAfter(tx: Tx): void {
    if (this.#woken.has(tx)) return;
    this.#woken.add(tx);
    tx.afterCommit(() => {
      this.#redis.publish(WAKE_CHANNEL, '').catch((error: unknown) => this.#log.debug({ err: error }, 'the worker was not woken'));
    });
  }
}
