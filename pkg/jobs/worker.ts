import { PURGE_OBJECTS, SWEEP_OBJECTS } from '../events/work.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { SqlPool } from '../store/postgres/pool.ts';
import type { Registry } from '../store/postgres/registry.ts';
import { CLEAR_CACHES } from '../store/redis/generation.ts';
import { connectRedis, type Redis, WAKE_CHANNEL } from '../store/redis/redis.ts';
import { redisPrefix } from '../store/redis/acl.ts';
import { Feeder } from './feeder.ts';
import { Ledger } from './ledger.ts';
import { jobMetrics } from './metrics.ts';
import type { Processor } from './processor.ts';
import { clearCaches } from './processors/clear-caches.ts';
import { purgeObjects } from './processors/purge-objects.ts';
import { sweepObjects } from './processors/sweep-objects.ts';
import { TicketQueue } from './queue.ts';
import { type Bench, Runner } from './runner.ts';
import { slugOf, TenantStorage } from './tenants.ts';

export interface WorkerDeps {
  /** By name; the first holds the registry. Pools log in as the worker's role. */
  readonly shards: ReadonlyMap<string, SqlPool>;
  readonly registry: Registry;
  /** The platform's own Redis user. */
  readonly redisUrl: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const WAKE_RETRY_MS = 1_000;

/** Feeds and does the later work of all tenants until it is closed. */
export function startWorker(deps: WorkerDeps): { close(): Promise<void> } {
  const { clock, random, log } = deps;
  const [registryPool] = deps.shards.values();
  if (!registryPool) throw new Error('the worker has no shard');
  const redis = connectRedis({ url: deps.redisUrl, prefix: '', log });
  const queue = new TicketQueue({ url: deps.redisUrl, log });
  const storage = new TenantStorage({ registry: deps.registry, pool: registryPool, clock });
  const ledgers = new Map([...deps.shards].map(([name, pool]) => [name, new Ledger(pool)]));
  const feeders = new Map([...ledgers].map(([shard, ledger]) => [shard, new Feeder({ shard, ledger, queue, redis, clock, log })]));

  const runner = new Runner({
    redisUrl: deps.redisUrl,
    benches: new Map([...deps.shards].map(([name, pool]) => [name, benchOf(pool, ledgers.get(name), feeders.get(name), storage, redis)])),
    processors: new Map<string, Processor>([
      [PURGE_OBJECTS, purgeObjects],
      [SWEEP_OBJECTS, sweepObjects],
      [CLEAR_CACHES, clearCaches(random)],
    ]),
    metrics: jobMetrics(deps.metrics, ledgers),
    clock,
    random,
    log,
  });

  const stopping = new AbortController();
  const wakeUps = listen(redis, () => feeders.forEach((feeder) => feeder.wake()), clock, stopping.signal);
  const feeding = Promise.all([...feeders.values()].map((feeder) => feeder.run(stopping.signal)));
  return {
    close: async () => {
      stopping.abort();
      await feeding;
      await wakeUps;
      await runner.close();
      await queue.close();
      await redis.close();
      storage.close();
    },
  };
}

function benchOf(pool: SqlPool, ledger: Ledger | undefined, feeder: Feeder | undefined, storage: TenantStorage, redis: Redis): Bench {
  if (!ledger || !feeder) throw new Error('a shard has no ledger');
  return {
    ledger,
    wake: () => feeder.wake(),
    context: ({ tenant, payload, requestedAt }, signal) => {
      const slug = slugOf(tenant);
      return {
        slug,
        payload,
        requestedAt,
        signal,
        transaction: (fn) => pool.transaction(fn, { role: tenant }),
        objects: () => storage.of(slug),
        redis,
        keyPrefix: redisPrefix(slug),
      };
    },
  };
}

/** Hears wake-ups until `signal`; where Redis is away it tries again, and the feeders' own sweep goes on meanwhile. */
async function listen(redis: Redis, onWake: () => void, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const unsubscribe = await redis.subscribe(WAKE_CHANNEL, onWake);
      onWake();
      await new Promise<void>((resolve) =>
        signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
      );
      await unsubscribe();
    } catch {
      await clock.sleep(WAKE_RETRY_MS, signal).catch(() => undefined);
    }
  }
}
