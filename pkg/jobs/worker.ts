import type { Processor, QueueSettings, RowQueue, Schedule, WorkerServices, WorkerShard } from '../events/processor.ts';
import { Events } from '../events/events.ts';
import { JobRequests } from '../events/job-requests.ts';
import { guardedClient } from '../net/client.ts';
import { guardedSockets } from '../net/guarded-sockets.ts';
import type { AllowedRange } from '../net/private-address.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { SealingKey } from '../runtime/sealing.ts';
import type { Registry } from '../store/postgres/registry.ts';
import { WorkerNotifier } from '../events/worker-notifier.ts';
import { LIBRARY_CODE } from '../store/redis/library.ts';
import { connectRedis, type Wake } from '../store/redis/redis.ts';
import { tenantSealers, tenantStorage } from '../store/tenant-resources.ts';
import { startJobQueue } from './job-queue.ts';
import { queueMetrics } from './metrics.ts';
import { onNotification, runSchedule } from './triggers.ts';
import { workHandlers } from './work-handler.ts';

export interface WorkerDeps {
  /** Shards by name; the first one holds the registry. */
  readonly shards: ReadonlyMap<string, WorkerShard>;
  readonly registry: Registry;
  /** The platform's own user in the tenants' Redis, for caches and wake-ups. */
  readonly redisUrl: string;
  /** The Redis of the queues. */
  readonly queueRedisUrl: string;
  /** The first key seals. */
  readonly platformKeys: readonly SealingKey[];
  /** Private address ranges that webhooks, LMSs and storage of tenants may lead to. */
  readonly egressAllow: readonly AllowedRange[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The jobs, queues and schedules of a worker. */
export interface WorkerJobs {
  /** The queues of carrel.work. */
  readonly queues: readonly QueueSettings[];
  readonly processors: readonly Processor[];
  /** Queues with tables of their own. */
  readonly rowQueues: readonly RowQueue[];
  readonly schedules: readonly Schedule[];
}

/** Dispatches and does the deferred work of all tenants until it is closed. */
export function startWorker(deps: WorkerDeps, jobs: WorkerJobs): { close(): Promise<void> } {
  const { clock } = deps;
  const services = createServices(deps, jobs);
  const work = workHandlers(services, jobs.queues, jobs.processors);
  const own = jobs.rowQueues.map((queue) => [queue, queue.create(services)] as const);
  const all = [...work, ...own];
  const queueDeps = {
    ...services,
    redisUrl: deps.queueRedisUrl,
    queueMetrics: queueMetrics(
      deps.metrics,
      all.map(([{ name }]) => name),
    ),
  };
  const jobQueues = work.map(([queue, handlers]) => startJobQueue(queue, handlers, queueDeps));
  const rowQueues = own.map(([queue, handlers]) => startJobQueue(queue, handlers, queueDeps));
  const queues = [...jobQueues, ...rowQueues];

  const stopping = new AbortController();
  const wake = (message: string): void => {
    if (message !== ('deliveries' satisfies Wake)) jobQueues.forEach((queue) => queue.wake());
    if (message !== ('jobs' satisfies Wake)) rowQueues.forEach((queue) => queue.wake());
  };
  const triggers = [
    onNotification(services.redis, wake, clock, stopping.signal),
    ...jobs.schedules.map((schedule) => runSchedule(schedule, services, stopping.signal)),
  ];
  return {
    close: async () => {
      stopping.abort();
      await Promise.all(queues.map((queue) => queue.close()));
      await Promise.all(triggers);
      await services.client.close();
      await services.redis.close();
      services.storage.close();
      services.seals.close();
    },
  };
}

function createServices(deps: WorkerDeps, { queues, rowQueues }: WorkerJobs): WorkerServices {
  const { shards, registry, redisUrl, egressAllow: allow, clock, random, log, metrics } = deps;
  const [registryShard] = shards.values();
  if (!registryShard) throw new Error('the worker has no shard');
  const access = { registry, pool: registryShard.db, clock };
  // Tenants share hosts: one stalled address there must not delay the others. So one host may have as many connections as a queue
  // has slots.
  const limits = { connectionsPerOrigin: Math.max(...[...queues, ...rowQueues].map(({ concurrency }) => concurrency)) };
  // The operator maintains the functions; a Redis that was killed gets them again before the operator notices.
  const redis = connectRedis({ url: redisUrl, prefix: '', library: LIBRARY_CODE, log });
  const notifier = new WorkerNotifier({ redis, log });
  return {
    shards,
    redis,
    events: new Events({ notifier, clock, random }),
    jobs: new JobRequests({ notifier }),
    storage: tenantStorage({ ...access, connect: guardedSockets({ allow, clock }) }),
    seals: tenantSealers({ ...access, platformKeys: deps.platformKeys, random }),
    client: guardedClient({ allow, clock, metrics, limits }),
    clock,
    random,
    log,
    metrics,
  };
}
