import type { JobHandler, QueueSettings, WorkerServices } from '../events/processor.ts';
import type { Leased } from '../store/postgres/leases.ts';
import { atMost } from '../runtime/abort.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { Dispatcher } from './dispatcher.ts';
import { TenantTaker } from './tenant-taker.ts';
import type { QueueMetrics } from './metrics.ts';
import { DueTenantsQueue } from './due-tenants-queue.ts';
import { Watchdog } from './watchdog.ts';

/** A queue of jobs: rows in Postgres. Dispatchers look for them, and workers that take their tenants from BullMQ lease them. */
export interface JobQueue {
  /** Looks for due rows at once. */
  wake(): void;
  /** Takes no new row and waits, within a bound, for running attempts. */
  close(): Promise<void>;
}

/** Longest time that `close` waits for a running dispatch round. */
const LAST_ROUND_MS = 2_000;

type JobQueueDeps = Pick<WorkerServices, 'clock' | 'log'> & { readonly redisUrl: string; readonly queueMetrics: QueueMetrics };

/**
 * Starts the dispatchers and the runner of a queue; they work until it is closed. `handlers` has one handler per shard, by the
 * shard's name.
 */
export function startJobQueue<Row extends Leased>(
  { name, perTenant, perLane = perTenant, ahead = 0, concurrency }: QueueSettings,
  handlers: ReadonlyMap<string, JobHandler<Row>>,
  { redisUrl, queueMetrics, clock, log }: JobQueueDeps,
): JobQueue {
  const queue = new DueTenantsQueue({ name, url: redisUrl, log });
  const limiter = new ConcurrencyLimiter(concurrency, perTenant);
  const restart = (): void => {
    queueMetrics.restarted(name);
    runner.restart();
  };
  const watchdog = new Watchdog({ clock, log: log.child({ queue: name }), restart });
  const dispatchers = new Map(
    [...handlers].map(([shard, { store }]) => [shard, new Dispatcher({ shard, store, limiter, queue, watchdog, clock, log })]),
  );
  const onRelease = (shard: string): void => dispatchers.get(shard)?.wake();
  const onTake = (): void => watchdog.taken();
  const runner = new TenantTaker<Row>({
    name,
    limiter,
    ahead,
    spared: perTenant - perLane,
    redisUrl,
    handlers,
    onRelease,
    onTake,
    clock,
    log,
  });

  const stopping = new AbortController();
  const dispatching = Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.run(stopping.signal)));
  return {
    wake: () => dispatchers.forEach((dispatcher) => dispatcher.wake()),
    close: async () => {
      stopping.abort();
      // A round that waits for a Redis that never answered ends only when the queue closes.
      await atMost(clock, LAST_ROUND_MS, dispatching);
      await runner.close();
      await queue.close();
    },
  };
}
