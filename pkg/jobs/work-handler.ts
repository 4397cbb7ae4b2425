import {
  type JobContext,
  type JobHandler,
  LostLease,
  NextTurn,
  OtherQueue,
  perShard,
  type Processor,
  type QueueSettings,
  TryLater,
  UnprocessableJob,
  type WorkerServices,
} from '../events/processor.ts';
import type { Job } from '../api/job.ts';
import { backOffMs } from '../runtime/backoff.ts';
import { inSpan, markFailed, parseTraceparent, type SpanFacts } from '../runtime/traces.ts';
import { type JobRow, JobStore, type Json, NAMED_STORES_QUEUE } from '../store/postgres/job-store.ts';
import type { Database } from '../store/postgres/database.ts';
import { redisPrefix } from '../store/redis/acl.ts';
import { TaggedCache } from '../store/redis/tagged-cache.ts';
import { slugOf, type TenantStorage } from '../store/tenant-resources.ts';
import { type JobMetrics, jobMetrics, type Result } from './metrics.ts';
import { Overdue, within } from './time-limit.ts';

/** The label of unknown kinds in metrics. */
const UNKNOWN_KIND = 'unknown';

interface RunnableJob {
  readonly job: Job;
  readonly process: (context: JobContext, payload: Json) => Promise<void>;
}

/**
 * Returns the queues of carrel.work, each with its handlers by shard. Throws if the queue of a processor's job is not among
 * `queues`.
 */
export function workHandlers(
  services: WorkerServices,
  queues: readonly QueueSettings[],
  processors: readonly Processor[],
): (readonly [QueueSettings, ReadonlyMap<string, JobHandler<JobRow>>])[] {
  const stray = processors.find(({ job }) => !queues.some(({ name }) => name === job.queue));
  if (stray) throw new Error(`the job ${stray.job.kind} belongs to the queue ${stray.job.queue}, which the worker does not have`);
  const metrics = jobMetrics(
    services.metrics,
    perShard(services, ({ db }) => new JobStore(db)),
  );
  const runnable = processors.map(({ job, create }): RunnableJob => ({ job, process: create(services) }));
  return queues.map((queue) => {
    const own = queue.name === NAMED_STORES_QUEUE ? runnable : runnable.filter(({ job }) => job.queue === queue.name);
    const jobs = new Map(own.map((each) => [each.job.kind, each]));
    const handlerOf = (store: JobStore, db: Database) => new WorkHandler({ queue, store, db, services, jobs, metrics });
    return [queue, perShard(services, ({ leasePool, db }) => handlerOf(new JobStore(leasePool, queue.name), db))];
  });
}

const FAILURES: ReadonlySet<Result> = new Set(['retried', 'abandoned', 'put_back', 'dead', 'lost_lease']);

/** The span belongs to the request that requested the job. A job that nobody requested is a trace of its own. */
const processing = ({ tenant, traceparent }: JobRow, kind: string): SpanFacts => ({
  kind: 'consumer',
  parent: parseTraceparent(traceparent) ?? null,
  attributes: {
    'messaging.system': 'carrel',
    'messaging.operation.type': 'process',
    'messaging.destination.name': kind,
    'carrel.tenant': slugOf(tenant),
  },
});

interface WorkHandlerDeps {
  readonly queue: QueueSettings;
  readonly store: JobStore;
  /** The database of the same shard. */
  readonly db: Database;
  readonly services: WorkerServices;
  /** Jobs by kind. */
  readonly jobs: ReadonlyMap<string, RunnableJob>;
  readonly metrics: JobMetrics;
}

/**
 * Attempts jobs of carrel.work. A failed job is retried later, by a schedule in Postgres. An unknown job is put back for a worker
 * of another release, and finally becomes a dead letter.
 */
class WorkHandler implements JobHandler<JobRow> {
  readonly store: JobStore;
  readonly #deps: WorkHandlerDeps;

  constructor(deps: WorkHandlerDeps) {
    this.store = deps.store;
    this.#deps = deps;
  }

  async attempt(row: JobRow, signal: AbortSignal): Promise<undefined> {
    const { metrics, jobs, services } = this.#deps;
    const started = services.clock.monotonic();
    // A tenant's role can write any kind, and a label lives as long as the process.
    const kind = jobs.has(row.kind) ? row.kind : UNKNOWN_KIND;
    const result = await inSpan(`process ${kind}`, processing(row, kind), async (span) => {
      const ended = await this.#process(row, signal);
      if (span && FAILURES.has(ended)) markFailed(span, ended);
      return ended;
    });
    metrics.result({ kind, tenant: row.tenant }, result, (services.clock.monotonic() - started) / 1000);
  }

  async #process(row: JobRow, lost: AbortSignal): Promise<Result> {
    const { jobs, queue, services } = this.#deps;
    const runnable = jobs.get(row.kind);
    try {
      if (!runnable) throw new UnprocessableJob(`no processor for the kind ${row.kind}`);
      const process = (signal: AbortSignal): Promise<void> => runnable.process(this.#context(row, signal), row.payload);
      const { timeLimitMs: limitMs } = queue;
      await (limitMs === undefined ? process(lost) : within(process, { limitMs, signal: lost, clock: services.clock }));
      return (await this.store.finish(row)) ? 'done' : 'lost_lease';
    } catch (error) {
      return this.#fail(row, error, runnable?.job);
    }
  }

  async #fail(row: JobRow, error: unknown, job: Job | undefined): Promise<Result> {
    const { random, log, jobs } = this.#deps.services;
    const { kind, id, tenant, attempts } = row;
    if (error instanceof LostLease) return 'lost_lease';
    if (error instanceof OtherQueue) {
      if (!(await this.store.move(row, error.queue))) return 'lost_lease';
      jobs.notify();
      return 'moved';
    }
    if (error instanceof NextTurn) return (await this.store.requeue(row, error.afterMs)) ? 'continued' : 'lost_lease';
    const message = error instanceof Error ? error.message : String(error);
    if (!job || error instanceof UnprocessableJob) {
      const became = await this.store.putBack(row, message);
      if (became === 'dead') log.error({ err: error, tenant, id, kind }, 'job became a dead letter');
      else log.warn({ reason: message, tenant, id, kind, attempts }, 'unknown job; put back for a worker of another release');
      return became;
    }
    const isExpected = error instanceof TryLater;
    const waitMs = isExpected ? error.afterMs : backOffMs(job.retry, attempts, random);
    log.warn(
      { ...(isExpected ? { reason: message } : { err: error }), tenant, id, kind, attempts, waitMs },
      'job failed; it is retried',
    );
    if (error instanceof Overdue && error.goesOn)
      log.error({ tenant, id, kind }, 'an abandoned attempt is still running although its signal was aborted');
    if (!(await this.store.fail(row, { error: message, waitMs }))) return 'lost_lease';
    return error instanceof Overdue ? 'abandoned' : 'retried';
  }

  #context({ tenant, id, fence, requestedAt }: JobRow, signal: AbortSignal): JobContext {
    const { services } = this.#deps;
    const slug = slugOf(tenant);
    const db = this.#deps.db.as(tenant);
    const cache = new TaggedCache({ ...services, keyPrefix: redisPrefix(slug) });
    return {
      slug,
      requestedAt,
      lease: { id, fence },
      signal,
      db,
      cache,
      transaction: (fn) => cache.transaction(db, fn),
      storage: () => this.#storage(slug, signal),
    };
  }

  async #storage(slug: string, signal: AbortSignal): Promise<TenantStorage> {
    const storage = await this.#deps.services.storage.of(slug);
    if (storage.isNamed && this.#deps.queue.name !== NAMED_STORES_QUEUE) throw new OtherQueue(NAMED_STORES_QUEUE);
    return { ...storage, objects: storage.objects.until(signal) };
  }
}
