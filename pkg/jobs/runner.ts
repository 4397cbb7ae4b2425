import { Worker } from 'bullmq';
import type { JobHandler } from '../api/processor.ts';
import { Batcher } from '../runtime/batcher.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Leased, LeasedRows, LeaseRef } from '../store/postgres/leases.ts';
import type { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { bullConnection, DRAIN_DELAY_SECONDS, type LeaseBatch, QUEUE_PREFIX } from './dispatch-queue.ts';
import { LeaseRenewer } from './lease-renewer.ts';

/** The rows of a worker that died are free after this; a living worker renews its leases four times as often. */
const LEASE_SECONDS = 4;
const RENEW_MS = (LEASE_SECONDS * 1000) / 4;
/** BullMQ would fail a job after some stalls; here Postgres alone decides. */
const NEVER_STALLED_OUT = 1_000_000;
const CLOSE_LIMIT_MS = 15_000;

interface ShardOfRunner<Row extends Leased> {
  readonly name: string;
  readonly handler: JobHandler<Row>;
  readonly claims: Batcher<LeaseRef, Row | null>;
  readonly renewer: LeaseRenewer;
}

/**
 * Takes lease batches from BullMQ and hands their rows to the handlers.
 *
 * Invariant: nothing is done without the lease of that very attempt, and a worker that lost the lease can neither finish nor fail the row.
 */
export class Runner<Row extends Leased> {
  readonly #shards: ReadonlyMap<string, ShardOfRunner<Row>>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #worker: Worker<LeaseBatch>;
  readonly #limiter: ConcurrencyLimiter;
  readonly #onRelease: (shard: string) => void;
  readonly #disconnect: () => void;

  constructor(deps: {
    /** Of the queue. */
    name: string;
    limiter: ConcurrencyLimiter;
    redisUrl: string;
    /** By shard. */
    handlers: ReadonlyMap<string, JobHandler<Row>>;
    /** A slot of a tenant is free again. */
    onRelease: (shard: string) => void;
    clock: Clock;
    log: Logger;
  }) {
    const lease = { seconds: LEASE_SECONDS, everyMs: RENEW_MS, log: deps.log };
    this.#shards = new Map(
      [...deps.handlers].map(([name, handler]) => {
        const { store } = handler;
        const claims = new Batcher((leases: readonly LeaseRef[]) => store.claim(leases, LEASE_SECONDS));
        return [name, { name, handler, claims, renewer: new LeaseRenewer({ ...lease, store }) }];
      }),
    );
    this.#limiter = deps.limiter;
    this.#onRelease = deps.onRelease;
    this.#clock = deps.clock;
    this.#log = deps.log;
    const connection = bullConnection(deps.redisUrl, deps.log);
    this.#disconnect = () => connection.disconnect();
    this.#worker = new Worker<LeaseBatch>(deps.name, (job) => this.#run(job.data), {
      connection,
      prefix: QUEUE_PREFIX,
      concurrency: deps.limiter.slots,
      drainDelay: DRAIN_DELAY_SECONDS,
      runRetryDelay: 1_000,
      maxStalledCount: NEVER_STALLED_OUT,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#worker.on('error', (error) => deps.log.debug({ err: error }, 'dispatch queue: Redis does not answer'));
  }

  /** Takes no new batch and waits for running attempts, within a bound; another worker takes what is unfinished then. */
  async close(): Promise<void> {
    await Promise.race([this.#worker.close().catch(() => undefined), this.#clock.sleep(CLOSE_LIMIT_MS)]);
    this.#disconnect();
  }

  async #run(batch: LeaseBatch): Promise<void> {
    const shard = this.#shards.get(batch.shard);
    if (shard) await Promise.all(batch.leases.map((lease) => this.#runOne(shard, lease)));
  }

  /** Never throws: the outcome of a row is written in Postgres, or the row is leased again once its lease has expired. */
  async #runOne(shard: ShardOfRunner<Row>, lease: LeaseRef): Promise<void> {
    // A batch arrives some time after its tenant's limit was checked. A row beyond the present limit goes back to Postgres.
    if (!this.#limiter.acquire(lease.tenant)) return this.#giveBack(shard.handler.store, lease);
    try {
      await this.#attempt(shard, lease);
    } catch (error) {
      this.#log.warn({ err: error, ...lease }, 'attempt failed; the job is retried when its lease expires');
    } finally {
      this.#limiter.release(lease.tenant);
      this.#onRelease(shard.name);
    }
  }

  async #attempt({ handler, claims, renewer }: ShardOfRunner<Row>, ref: LeaseRef): Promise<void> {
    const row = await claims.submit(ref);
    if (!row) return;
    const lease = renewer.renew(row);
    await handler.attempt(row, lease.lost).finally(() => lease.release());
  }

  async #giveBack(store: LeasedRows<Leased>, { tenant, id, attempt }: LeaseRef): Promise<void> {
    const released = store.release({ tenant, id, attempts: attempt, fence: null });
    await released.catch((error: unknown) =>
      this.#log.warn({ err: error, tenant, id }, 'could not release lease; the job is retried when it expires'),
    );
  }
}
