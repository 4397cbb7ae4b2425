import type { z } from 'zod';
import type { GuardedClient } from '../net/client.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { Json } from '../store/postgres/job-store.ts';
import type { Leased, LeasedRows } from '../store/postgres/leases.ts';
import type { Database, Tx } from '../store/postgres/database.ts';
import type { SqlPool } from '../store/postgres/pool.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { TaggedCache } from '../store/redis/tagged-cache.ts';
import type { PerTenant, TenantSeal, TenantStorage } from '../store/tenant-resources.ts';
import type { Job } from '../api/job.ts';
import type { Events } from './events.ts';
import type { JobRequests } from './job-requests.ts';

/** The worker passes these to processors, queues and schedules when they are created. */
export interface WorkerServices {
  /** By shard name. */
  readonly shards: ReadonlyMap<string, WorkerShard>;
  /** The platform's own Redis user. */
  readonly redis: Redis;
  /** Emits events in a transaction of any tenant; a server's Events serve only its own tenant. */
  readonly events: Events;
  readonly jobs: JobRequests;
  readonly storage: PerTenant<TenantStorage>;
  readonly seals: PerTenant<TenantSeal>;
  /** For addresses that tenants and LMSs name. */
  readonly client: GuardedClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface WorkerShard {
  /** Logs in as the worker's role. */
  readonly db: Database;
  /**
   * A pool for leases and outcomes only: tenants whose statements wait for locks occupy connections of `db`, and no lease may
   * expire because of that.
   */
  readonly leasePool: SqlPool;
}

/** The services of a processor for one job: only those of the job's tenant. */
export interface JobContext {
  readonly slug: string;
  readonly requestedAt: Date;
  /** The lease of this attempt. The row has another fence once the lease is lost. */
  readonly lease: { readonly id: number; readonly fence: string };
  /** Aborted when another worker has taken over the lease and finishes the job, or when the attempt's time is over. */
  readonly signal: AbortSignal;
  /** The tenant's database in the tenant's own role: its schema and rows, nothing else. It prepares no statements. */
  readonly db: Database;
  /** The tenant's cache, the same as its servers'. */
  readonly cache: TaggedCache;
  /** A transaction of `cache` and `db`: code that takes a server's `Tx` accepts it. */
  transaction<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Returns the tenant's bucket with the tenant's own key, until `signal` is aborted, and the marker of its objects. Call it
   * before there is anything to undo: it throws OtherQueue if the tenant named the store and the job is not in the queue for such
   * stores.
   */
  storage(): Promise<TenantStorage>;
}

/**
 * Processes one kind of job. It may run twice for one row, after a crash or a lost lease, so it must be idempotent. It throws to
 * have the job retried.
 */
export interface Processor {
  readonly job: Job;
  create(services: WorkerServices): (context: JobContext, payload: Json) => Promise<void>;
}

interface ProcessorDeclaration<Payload extends z.ZodType> {
  readonly job: Job<Payload>;
  create(services: WorkerServices): (context: JobContext, payload: z.output<Payload>) => Promise<void>;
}

/** Declares a processor. A payload that does not match the job's schema is an UnprocessableJob. */
export const processor = <Payload extends z.ZodType>({ job, create }: ProcessorDeclaration<Payload>): Processor => ({
  job,
  create: (services) => {
    const process = create(services);
    return async (context, payload) => process(context, parsed(job, payload));
  },
});

function parsed<Payload extends z.ZodType>({ kind, payload: schema }: Job<Payload>, payload: Json): z.output<Payload> {
  const result = schema.safeParse(payload);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new UnprocessableJob(`invalid payload of ${kind}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
}

/** An expected failure: the next attempt follows after `afterMs`, regardless of the job's retry delays. */
export class TryLater extends Error {
  override readonly name = 'TryLater';
  readonly afterMs: number;

  constructor(message: string, afterMs: number) {
    super(message);
    this.afterMs = afterMs;
  }
}

/** The job has more to do, and lets the tenant's others go first: it is due again after `afterMs`. */
export class NextTurn extends Error {
  override readonly name = 'NextTurn';
  readonly afterMs: number;

  constructor(message: string, afterMs = 0) {
    super(message);
    this.afterMs = afterMs;
  }
}

/** The job belongs in another queue: it moves there, and is due at once. */
export class OtherQueue extends Error {
  override readonly name = 'OtherQueue';
  readonly queue: string;

  constructor(queue: string) {
    super(`the job belongs in the queue ${queue}`);
    this.queue = queue;
  }
}

/** Another worker has taken over the lease, and does the job. */
export class LostLease extends Error {
  override readonly name = 'LostLease';
}

/**
 * A job that this release cannot do: an unknown kind or an invalid payload. Another release may be able to: the job is put back,
 * and becomes a dead letter after a day.
 */
export class UnprocessableJob extends Error {
  override readonly name = 'UnprocessableJob';
}

/** The limits of a queue. */
export interface QueueSettings {
  /** Also the name of its BullMQ queue. */
  readonly name: string;
  /** The most attempts of one tenant at once. */
  readonly perTenant: number;
  /** The most rows of one tenant that a worker leases beyond those that it attempts, while slots are plentiful; default 0. */
  readonly ahead?: number;
  /** The most attempts of one lane of a tenant at once (`JobHandler.laneOf`); default `perTenant`. */
  readonly perLane?: number;
  /** The most attempts of one worker at once. */
  readonly concurrency: number;
  /** An attempt at a job of carrel.work is abandoned after this time, and the job is retried later. */
  readonly timeLimitMs?: number;
}

/** A table of leased rows and their handler: a queue that has a table of its own. */
export interface RowQueue<Row extends Leased = Leased> extends QueueSettings {
  /** One handler for each shard, by the shard's name. */
  create(services: WorkerServices): ReadonlyMap<string, JobHandler<Row>>;
}

/** An attempt whose outcome is being written. */
export interface Unwritten {
  readonly written: Promise<void>;
}

/** Handles the rows of one shard. */
export interface JobHandler<Row extends Leased = Leased> {
  readonly store: LeasedRows<Row>;
  /** Returns the lane of a row, if a tenant's rows belong to several lanes that must not delay each other (the store's lanes). */
  laneOf?(row: Row): string;
  /**
   * Makes one attempt and writes its outcome, by the lease that `row` holds. `signal` is aborted when the lease is lost. If it
   * resolves to Unwritten, the attempt is over, and its slot may serve the next one while the outcome is being written.
   */
  attempt(row: Row, signal: AbortSignal): Promise<Unwritten | undefined>;
}

/** A task that the worker runs at its start and then regularly. It throws to be logged and run again at the next time. */
export interface Schedule {
  readonly name: string;
  readonly everyMs: number;
  /**
   * `onFailure` reports a failure for one shard or tenant; the others continue. A run that failed, wholly or in part, is repeated
   * soon.
   */
  run(
    services: WorkerServices,
    onFailure: (error: unknown, of: { readonly shard: string; readonly role?: string }) => void,
  ): Promise<void>;
}

/** Makes one value for each shard, by the shard's name. */
export const perShard = <T>(
  { shards }: Pick<WorkerServices, 'shards'>,
  make: (shard: WorkerShard, name: string) => T,
): Map<string, T> => new Map([...shards].map(([name, shard]) => [name, make(shard, name)]));
