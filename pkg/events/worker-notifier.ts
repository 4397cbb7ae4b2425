import type { Logger } from '../runtime/log.ts';
import type { Tx } from '../store/postgres/database.ts';
import { type Redis, type Wake, WAKE_CHANNEL } from '../store/redis/redis.ts';

/** Notifies the workers of new jobs and deliveries. A lost notification delays them until the workers' next sweep. */
export class WorkerNotifier {
  readonly #redis: Redis;
  readonly #log: Logger;
  readonly #notified = new WeakMap<Tx, Set<Wake>>();

  constructor(deps: { redis: Redis; log: Logger }) {
    this.#redis = deps.redis;
    this.#log = deps.log;
  }

  /** Notifies once per transaction, however often it is called. Nothing waits for the notification. */
  notifyAfterCommit(tx: Tx, of: Wake = 'deliveries'): void {
    const notified = this.#notified.get(tx) ?? new Set();
    if (notified.has(of)) return;
    this.#notified.set(tx, notified.add(of));
    tx.afterCommit(() => this.notify(of));
  }

  /** For use after a statement that is its own transaction. Nothing waits for the notification. */
  notify(of: Wake = 'deliveries'): void {
    this.#redis
      .publish(WAKE_CHANNEL, of)
      .catch((error: unknown) => this.#log.debug({ err: error }, 'could not notify the workers'));
  }
}
