import type { Logger } from '../runtime/log.ts';
import type { Tx } from '../store/postgres/database.ts';
import { type Redis, WAKE_CHANNEL } from '../store/redis/redis.ts';

/** Tells the worker that a transaction has left it something; one that gets lost only delays it until the worker's next sweep. */
export class WakeUps {
  readonly #redis: Redis;
  readonly #log: Logger;
  readonly #woken = new WeakSet<Tx>();

  constructor(deps: { redis: Redis; log: Logger }) {
    this.#redis = deps.redis;
    this.#log = deps.log;
  }

  /** Once for each transaction, however often it is asked for. Nothing waits for it. */
  after(tx: Tx): void {
    if (this.#woken.has(tx)) return;
    this.#woken.add(tx);
    tx.afterCommit(() => {
      this.#redis.publish(WAKE_CHANNEL, '').catch((error: unknown) => this.#log.debug({ err: error }, 'the worker was not woken'));
    });
  }
}
