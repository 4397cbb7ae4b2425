import { sleepUnlessAborted } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Leased, LeasedRows } from '../store/postgres/leases.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { QUEUE_PREFIX, type DispatchQueue, leaseBatches } from './dispatch-queue.ts';

/** Due rows are looked for at least this often, however many wake-ups get lost. */
const SWEEP_MS = 1_000;
/** Rounds begin at least this far apart, so wake-ups that come close together share one. */
const APART_MS = 5;
/** Batches that may wait in Redis, and rows leased at once: enough to keep runners busy, few enough to be worked off within their lease. */
const MAX_WAITING = 64;
/**
 * How long a batch may wait in Redis before its row is leased again; the old batch then does nothing.
 * Together with SWEEP_MS: the rows of a worker that died are taken by another within 5 s (docs/design/events-and-jobs.md).
 */
const DISPATCH_LEASE_SECONDS = 4;

/**
 * Leases the due rows of one shard and hands them to runners (docs/design/events-and-jobs.md).
 *
 * Invariants:
 * - Postgres is the truth: a batch that is lost, however that happens, is made again once its lease has expired;
 *   when Redis has lost its data, at the next round.
 * - Several dispatchers share a shard: `FOR UPDATE SKIP LOCKED` and the lease keep them apart.
 */
export class Dispatcher {
  readonly #shard: string;
  readonly #store: LeasedRows<Leased>;
  readonly #limiter: ConcurrencyLimiter;
  readonly #perBatch: number;
  readonly #queue: DispatchQueue;
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #log: Logger;
  #wake: () => void = () => undefined;
  #woken = false;

  constructor(deps: {
    shard: string;
    store: LeasedRows<Leased>;
    /** Its limit per tenant bounds what one tenant has in flight: a backlog delays its own tenant only. */
    limiter: ConcurrencyLimiter;
    /** Rows of one tenant that go together. */
    perBatch: number;
    queue: DispatchQueue;
    redis: Redis;
    clock: Clock;
    log: Logger;
  }) {
    this.#shard = deps.shard;
    this.#store = deps.store;
    this.#limiter = deps.limiter;
    this.#perBatch = deps.perBatch;
    this.#queue = deps.queue;
    this.#redis = deps.redis;
    this.#clock = deps.clock;
    this.#log = deps.log.child({ shard: deps.shard });
  }

  /** Starts a round at once. */
  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  /** Resolves once the signal is aborted and the running round has ended. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#woken = false;
      const begun = this.#clock.monotonic();
      try {
        await this.#round();
      } catch (error) {
        this.#log.warn({ err: error }, 'dispatch round failed; the next round retries');
      }
      await sleepUnlessAborted(this.#clock, Math.max(0, begun + APART_MS - this.#clock.monotonic()), signal);
      await this.#pause(signal);
    }
  }

  async #round(): Promise<void> {
    const [waiting] = await Promise.all([this.#queue.waiting(), this.#noticeLostMemory()]);
    // Another worker may have free slots: rows beyond this one's stay due.
    const free = Math.min(MAX_WAITING - waiting, this.#limiter.free);
    if (free <= 0) return;
    const items = await this.#store.leaseDue({ limit: free, perTenant: this.#limiter.tenantLimit, leaseSeconds: DISPATCH_LEASE_SECONDS });
    if (items.length === 0) return;
    try {
      const leases = items.map(({ tenant, id, attempts }) => ({ tenant, id, attempt: attempts }));
      await this.#queue.add(leaseBatches(this.#shard, leases, this.#perBatch));
    } catch (error) {
      for (const item of items) await this.#store.release(item);
      throw error;
    }
  }

  /** Redis was flushed or started empty: the batches of all unclaimed leases are gone, so these leases are released. */
  async #noticeLostMemory(): Promise<void> {
    const [isNew] = await this.#redis.run([['set', `${QUEUE_PREFIX}:memory:${this.#queue.name}:${this.#shard}`, '1', 'NX']]);
    if (isNew === 'OK') await this.#store.releaseUnclaimed();
  }

  async #pause(signal: AbortSignal): Promise<void> {
    if (this.#woken || signal.aborted) return;
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    await sleepUnlessAborted(this.#clock, SWEEP_MS, woken.signal);
    signal.removeEventListener('abort', wake);
    this.#wake = () => undefined;
  }
}
