import type { JobHandler, QueueSettings, WorkerServices } from '../api/processor.ts';
import type { Leased } from '../store/postgres/leases.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { DispatchQueue } from './dispatch-queue.ts';
import { Dispatcher } from './dispatcher.ts';
import { Runner } from './runner.ts';

/** A queue of jobs: from the rows in Postgres, by dispatchers and BullMQ, to the handlers of this process. */
export interface JobQueue {
  /** Looks for due rows at once. */
  wake(): void;
  /** Takes no new row and waits, within a bound, for running attempts. */
  close(): Promise<void>;
}

/** How long `close` waits for a running dispatch round. */
const LAST_ROUND_MS = 2_000;

type JobQueueDeps = Pick<WorkerServices, 'redis' | 'clock' | 'log'> & { readonly redisUrl: string };

/** Starts its dispatchers and its runner; they work until it is closed. `handlers`: one for each shard, by the shard's name. */
export function startJobQueue<Row extends Leased>(
  { name, perTenant, perBatch = 1, concurrency }: QueueSettings,
  handlers: ReadonlyMap<string, JobHandler<Row>>,
  { redis, redisUrl, clock, log }: JobQueueDeps,
): JobQueue {
  const queue = new DispatchQueue({ name, url: redisUrl, log });
  const limiter = new ConcurrencyLimiter(concurrency, perTenant);
  const dispatchers = new Map(
    [...handlers].map(([shard, { store }]) => [shard, new Dispatcher({ shard, store, limiter, perBatch, queue, redis, clock, log })]),
  );
  const onRelease = (shard: string): void => dispatchers.get(shard)?.wake();
  const runner = new Runner<Row>({ name, limiter, redisUrl, handlers, onRelease, clock, log });

  const stopping = new AbortController();
  const dispatching = Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.run(stopping.signal)));
  return {
    wake: () => dispatchers.forEach((dispatcher) => dispatcher.wake()),
    close: async () => {
      stopping.abort();
      // A round that waits for a Redis that never answered ends only when the queue closes.
      await Promise.race([dispatching, clock.sleep(LAST_ROUND_MS)]);
      await runner.close();
      await queue.close();
    },
  };
}
