import { type Job, WaitingError, Worker } from 'bullmq';
import type { JobHandler } from '../events/processor.ts';
import { atMost } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Leased } from '../store/postgres/leases.ts';
import type { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { DueJobsRunner } from './due-jobs-runner.ts';
import {
  BLOCKING_TIMEOUT_MS,
  bullConnection,
  bullName,
  DRAIN_DELAY_SECONDS,
  QUEUE_PREFIX,
  type TenantJob,
} from './due-tenants-queue.ts';

interface BullWorker {
  readonly worker: Worker<TenantJob>;
  readonly disconnect: () => void;
}

/**
 * BullMQ jobs that are taken at once. Each lasts for the lease of its tenant's rows; leases requested at the same time share one
 * statement.
 */
const JOBS_AT_ONCE = 64;
/** If a worker dies before it leases anything, another worker gets the job after this time and a check or two. */
const JOB_LOCK_MS = 2_000;
const STALLED_CHECK_MS = 1_000;
/** BullMQ would fail a job after some stalls; here only Postgres decides. */
const NEVER_STALLED_OUT = 1_000_000;
const CLOSE_LIMIT_MS = 15_000;

/**
 * Takes tenants with due rows from BullMQ, and makes their shard's runner lease and attempt the rows.
 *
 * Invariant: a worker without a free slot takes no tenant from workers that have some.
 */
export class TenantTaker<Row extends Leased> {
  readonly #limiter: ConcurrencyLimiter;
  readonly #shards: ReadonlyMap<string, DueJobsRunner<Row>>;
  readonly #clock: Clock;
  readonly #open: () => BullWorker;
  readonly #onTake: () => void;
  #bull: BullWorker;

  constructor(deps: {
    /** The name of the queue of jobs. */
    name: string;
    limiter: ConcurrencyLimiter;
    /** The value of QueueSettings. */
    ahead: number;
    /** Slots of a tenant that none of its lanes takes. */
    spared: number;
    redisUrl: string;
    /** Handlers by shard. */
    handlers: ReadonlyMap<string, JobHandler<Row>>;
    /** A slot is free again. */
    onRelease: (shard: string) => void;
    /** A tenant was taken from BullMQ. */
    onTake: () => void;
    clock: Clock;
    log: Logger;
  }) {
    const { limiter, ahead, spared, clock, log } = deps;
    this.#limiter = limiter;
    this.#shards = new Map(
      [...deps.handlers].map(([shard, handler]) => [
        shard,
        new DueJobsRunner({
          handler,
          limiter,
          ahead,
          spared,
          onRelease: () => deps.onRelease(shard),
          clock,
          log: log.child({ shard }),
        }),
      ]),
    );
    this.#clock = deps.clock;
    this.#onTake = deps.onTake;
    this.#open = () => {
      const connection = bullConnection(deps.redisUrl, log, BLOCKING_TIMEOUT_MS);
      const worker: Worker<TenantJob> = new Worker(bullName(deps.name), async (job, token) => this.#take(worker, job, token), {
        connection,
        prefix: QUEUE_PREFIX,
        concurrency: JOBS_AT_ONCE,
        drainDelay: DRAIN_DELAY_SECONDS,
        runRetryDelay: 1_000,
        lockDuration: JOB_LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
        maxStalledCount: NEVER_STALLED_OUT,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      });
      worker.on('error', (error) => log.warn({ err: error }, 'queue of due tenants: Redis does not answer'));
      return { worker, disconnect: () => connection.disconnect() };
    };
    this.#bull = this.#open();
  }

  /**
   * Replaces the BullMQ worker; running attempts continue. Tenants that the old worker has taken and not leased go to another
   * after JOB_LOCK_MS.
   */
  restart(): void {
    const old = this.#bull;
    this.#bull = this.#open();
    // A forced close waits for no job. Without a connection that answers, an ordinary one could wait forever.
    void old.worker
      .close(true)
      .catch(() => undefined)
      .finally(old.disconnect);
  }

  async #take(worker: Worker<TenantJob>, job: Job<TenantJob>, token: string | undefined): Promise<void> {
    this.#onTake();
    if (this.#limiter.free === 0) {
      this.#pause(worker);
      await job.moveToWait(token);
      throw new WaitingError();
    }
    // BullMQ fetches jobs in batches: fetch no more than can have a slot.
    worker.concurrency = Math.min(JOBS_AT_ONCE, this.#limiter.free);
    await this.#shards.get(job.data.shard)?.take(job.data.tenant, job.data.most ?? 1);
  }

  /** Takes no job until a slot is free. */
  #pause(worker: Worker<TenantJob>): void {
    if (worker.isPaused()) return;
    worker.concurrency = 1;
    void worker.pause(true);
    this.#limiter.onceFree(() => {
      // Do not resume a worker that another has replaced.
      if (worker === this.#bull.worker) void worker.resume();
    });
  }

  /** Leases nothing more and waits for running attempts, within a bound. Another worker takes what is unfinished then. */
  async close(): Promise<void> {
    const stopped = [...this.#shards.values()].map((shard) => shard.stop());
    const { worker, disconnect } = this.#bull;
    const ended = worker
      .close()
      .catch(() => undefined)
      .then(() => Promise.all([...stopped, ...[...this.#shards.values()].map((shard) => shard.ended())]));
    await atMost(this.#clock, CLOSE_LIMIT_MS, ended);
    disconnect();
  }
}
