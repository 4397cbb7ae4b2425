import { Worker } from 'bullmq';
import { backOffMs } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { WorkItem } from '../store/postgres/work.ts';
import type { JobTicket, Ledger } from './ledger.ts';
import type { JobMetrics, Result } from './metrics.ts';
import { type JobContext, type Processor, UnprocessableWork } from './processor.ts';
import { bullConnection, DRAIN_DELAY_SECONDS, QUEUE_NAME, QUEUE_PREFIX } from './queue.ts';

const CONCURRENCY = 16;
/** A worker that died is missed after this; one that lives renews its leases four times as often. */
const LEASE_SECONDS = 4;
const RENEW_MS = (LEASE_SECONDS * 1000) / 4;
const RETRY = { baseMs: 1_000, maxMs: 15 * 60_000, jitter: 0.5 };
/** BullMQ would fail a job after some kills; here Postgres alone decides (design: BullMQ's traps). */
const NEVER_STALLED_OUT = 1_000_000;
const CLOSE_LIMIT_MS = 15_000;

export interface Bench {
  readonly ledger: Ledger;
  context(item: WorkItem, signal: AbortSignal): JobContext;
  /** There is room in the tenant's window. */
  wake(): void;
}

/**
 * Takes tickets and does the work.
 *
 * Invariants:
 * - Nothing is done without the lease of that very attempt, and whoever lost it can neither finish nor fail the row.
 * - What fails is tried again later, by a schedule in Postgres; what can never be done becomes a dead letter.
 */
export class Runner {
  readonly #benches: ReadonlyMap<string, Bench>;
  readonly #processors: ReadonlyMap<string, Processor>;
  readonly #metrics: JobMetrics;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #worker: Worker<JobTicket>;
  readonly #disconnect: () => void;

  constructor(deps: {
    redisUrl: string;
    benches: ReadonlyMap<string, Bench>;
    processors: ReadonlyMap<string, Processor>;
    metrics: JobMetrics;
    clock: Clock;
    random: Random;
    log: Logger;
  }) {
    this.#benches = deps.benches;
    this.#processors = deps.processors;
    this.#metrics = deps.metrics;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#log = deps.log;
    const connection = bullConnection(deps.redisUrl, deps.log);
    this.#disconnect = () => connection.disconnect();
    this.#worker = new Worker<JobTicket>(QUEUE_NAME, (job) => this.#run(job.data), {
      connection,
      prefix: QUEUE_PREFIX,
      concurrency: CONCURRENCY,
      drainDelay: DRAIN_DELAY_SECONDS,
      runRetryDelay: 1_000,
      maxStalledCount: NEVER_STALLED_OUT,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#worker.on('error', (error) => deps.log.debug({ err: error }, 'the queue does not answer'));
  }

  /** Takes no new ticket and waits for the running ones, within a bound; what is then unfinished is taken by another. */
  async close(): Promise<void> {
    await Promise.race([this.#worker.close().catch(() => undefined), this.#clock.sleep(CLOSE_LIMIT_MS)]);
    this.#disconnect();
  }

  /** Never throws: a job's fate is written in Postgres, or it is taken again once its lease has run out. */
  async #run(ticket: JobTicket): Promise<void> {
    const bench = this.#benches.get(ticket.shard);
    if (!bench) return;
    try {
      const item = await bench.ledger.claim(ticket, LEASE_SECONDS);
      if (item) await this.#work(bench, item);
    } catch (error) {
      this.#log.warn({ err: error, ticket }, 'work is left to its next attempt');
    } finally {
      bench.wake();
    }
  }

  async #work(bench: Bench, item: WorkItem): Promise<void> {
    const started = this.#clock.monotonic();
    const lost = new AbortController();
    const renewal = setInterval(() => {
      bench.ledger.extend(item, LEASE_SECONDS).then(
        (held) => void (held || lost.abort(new Error('the lease was lost'))),
        (error: unknown) => this.#log.debug({ err: error }, 'a lease was not renewed'),
      );
    }, RENEW_MS);
    try {
      const result = await this.#attempt(bench, item, lost.signal);
      this.#metrics.result(item.kind, result, (this.#clock.monotonic() - started) / 1000);
    } finally {
      clearInterval(renewal);
    }
  }

  async #attempt(bench: Bench, item: WorkItem, signal: AbortSignal): Promise<Result> {
    const { kind, id, tenant, attempts } = item;
    try {
      const processor = this.#processors.get(kind);
      if (!processor) throw new UnprocessableWork(`there is no processor for the kind ${kind}`);
      await processor(bench.context(item, signal));
      return (await bench.ledger.finish(item)) ? 'done' : 'lost_lease';
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof UnprocessableWork) {
        this.#log.error({ err: error, tenant, id, kind }, 'work became a dead letter');
        return (await bench.ledger.bury(item, message)) ? 'dead' : 'lost_lease';
      }
      const retryAt = new Date(this.#clock.now().getTime() + backOffMs(RETRY, attempts, this.#random));
      this.#log.warn({ err: error, tenant, id, kind, attempts, retryAt }, 'work failed and is tried again');
      return (await bench.ledger.fail(item, { error: message, retryAt })) ? 'retried' : 'lost_lease';
    }
  }
}
