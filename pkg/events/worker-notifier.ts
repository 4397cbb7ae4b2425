import type { Logger } from '../runtime/log.ts';
import type { Tx } from '../store/postgres/database.ts';
import { type Redis, WAKE_CHANNEL } from '../store/redis/redis.ts';

/** Notifies the workers of new jobs and deliveries. A lost notification delays them until the workers' next sweep. */
export class WorkerNotifier {
  readonly #redis: Redis;
  readonly #log: Logger;
  readonly #notified = new WeakSet<Tx>();

  constructor(deps: { redis: Redis; log: Logger }) {
    this.#redis = deps.redis;
    this.#log = deps.log;
  }

  /** Once for each transaction, however often it is called. Nothing waits for the notification. */
  notifyAfterCommit(tx: Tx): void {
    if (this.#notified.has(tx)) return;
    this.#notified.add(tx);
    tx.afterCommit(() => this.notify());
  }

  /** After a statement that is its own transaction. Nothing waits for the notification. */
  notify(): void {
    this.#redis.publish(WAKE_CHANNEL, '').catch((error: unknown) => this.#log.debug({ err: error }, 'could not notify the workers'));
  }
}
