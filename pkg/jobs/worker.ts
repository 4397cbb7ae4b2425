import { PURGE_OBJECTS, SUBMIT_GRADE, SWEEP_OBJECTS } from '../events/work.ts';
import { ServiceTokens } from '../lti/grades/service-tokens.ts';
import { type GuardedClient, guardedClient } from '../net/client.ts';
import { guardedSockets } from '../net/guarded-sockets.ts';
import type { AllowedRange } from '../net/inward.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { SealingKey } from '../runtime/sealing.ts';
import type { SqlPool } from '../store/postgres/pool.ts';
import type { Registry } from '../store/postgres/registry.ts';
import type { WorkItem } from '../store/postgres/work.ts';
import { CLEAR_CACHES } from '../store/redis/generation.ts';
import { connectRedis, type Redis, WAKE_CHANNEL } from '../store/redis/redis.ts';
import { redisPrefix } from '../store/redis/acl.ts';
import { DeliveryBench } from './deliveries/bench.ts';
import { DeliveryLedger } from './deliveries/ledger.ts';
import { deliveryMetrics } from './deliveries/metrics.ts';
import { Ledger } from './ledger.ts';
import { type Line, startLine } from './line.ts';
import { type JobMetrics, jobMetrics } from './metrics.ts';
import type { JobContext, Processor } from './processor.ts';
import { clearCaches } from './processors/clear-caches.ts';
import { purgeObjects } from './processors/purge-objects.ts';
import { submitGrade } from './processors/submit-grade.ts';
import { sweepObjects } from './processors/sweep-objects.ts';
import { type PerTenant, slugOf, tenantSealers, tenantStorage, type TenantSeal, type TenantStorage } from './tenants.ts';
import { WorkBench } from './work-bench.ts';

export interface WorkerDeps {
  /** By name; the first holds the registry. Pools log in as the worker's role. */
  readonly shards: ReadonlyMap<string, SqlPool>;
  /** The same shards, for leases and outcomes alone: tenants whose statements wait for locks hold connections, and nobody's lease may lapse for it. */
  readonly ledgerPools: ReadonlyMap<string, SqlPool>;
  readonly registry: Registry;
  /** The platform's own Redis user. */
  readonly redisUrl: string;
  /** The first seals. */
  readonly platformKeys: readonly SealingKey[];
  /** Inward addresses that webhooks and LMSs may lead to. */
  readonly egressAllow: readonly AllowedRange[];
  /** What a webhook's receiver has to take a delivery and answer. */
  readonly webhookTimeoutMs: number;
  /** Waits between the attempts of a delivery, in seconds. */
  readonly retrySeconds: readonly number[];
  /** Waits between the attempts to tell an LMS of a grade, in seconds. */
  readonly gradeRetrySeconds: readonly number[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * For work that waits for machines of others, of each kind. To one host there may be as many connections: tenants share hosts,
 * and one whose address there stalls would else hold up all others.
 */
const PLACES = 512;
const WAKE_RETRY_MS = 1_000;
/** design: section 5, Kept. */
const EVENTS_KEPT_DAYS = 30;
const FORGET_EVERY_MS = 3_600_000;

/** Feeds and does the later work of all tenants, and sends their webhooks, until it is closed. */
export function startWorker(deps: WorkerDeps): { close(): Promise<void> } {
  const { clock, log, redisUrl } = deps;
  const [registryPool] = deps.shards.values();
  if (!registryPool) throw new Error('the worker has no shard');
  const redis = connectRedis({ url: redisUrl, prefix: '', log });
  const storage = tenantStorage({
    registry: deps.registry,
    pool: registryPool,
    clock,
    connect: guardedSockets({ allow: deps.egressAllow, clock }),
  });
  const seals = tenantSealers({ ...deps, pool: registryPool });
  const limits = { connectionsPerOrigin: PLACES };
  const client = guardedClient({ allow: deps.egressAllow, clock, metrics: deps.metrics, limits });
  const ledgers = perShard(deps.ledgerPools, (pool) => new DeliveryLedger(pool));

  const work = perShard(deps.ledgerPools, (pool) => new Ledger(pool));
  const shared: WorkLineDeps = { ...deps, redis, storage, client, seals, jobs: jobMetrics(deps.metrics, work) };
  const lines = [workLine(shared, work), gradeLine(shared), deliveryLine({ ...deps, redis, client, seals, ledgers })];
  const stopping = new AbortController();
  const wakeUps = listen(redis, () => lines.forEach((line) => line.wake()), clock, stopping.signal);
  const forgetting = forget(ledgers, clock, log, stopping.signal);
  return {
    close: async () => {
      stopping.abort();
      await Promise.all(lines.map((line) => line.close()));
      await wakeUps;
      await forgetting;
      await client.close();
      await redis.close();
      storage.close();
      seals.close();
    },
  };
}

const perShard = <T>(shards: ReadonlyMap<string, SqlPool>, make: (pool: SqlPool) => T): Map<string, T> =>
  new Map([...shards].map(([name, pool]) => [name, make(pool)]));

interface WorkLineDeps extends WorkerDeps {
  readonly redis: Redis;
  readonly storage: PerTenant<TenantStorage>;
  readonly client: GuardedClient;
  readonly seals: PerTenant<TenantSeal>;
  readonly jobs: JobMetrics;
}

/** Work that needs only our own stores. */
const workLine = (deps: WorkLineDeps, ledgers: ReadonlyMap<string, Ledger>): Line =>
  lineOf(deps, { name: 'work', perTenant: 4, concurrency: 16, ledgers }, [
    [PURGE_OBJECTS, purgeObjects],
    [SWEEP_OBJECTS, sweepObjects(deps)],
    [CLEAR_CACHES, clearCaches(deps.random)],
  ]);

/** LMSs that stall hold a place each for their time-out, so there are many places, and a tenant has few of them. */
function gradeLine(deps: WorkLineDeps): Line {
  const ledgers = perShard(deps.ledgerPools, (pool) => new Ledger(pool, 'grades'));
  const submit = submitGrade({ ...deps, tokens: new ServiceTokens(deps), retrySeconds: deps.gradeRetrySeconds });
  return lineOf(deps, { name: 'grades', perTenant: 4, concurrency: PLACES, ledgers }, [[SUBMIT_GRADE, submit]]);
}

function lineOf(
  deps: WorkLineDeps,
  line: { name: string; perTenant: number; concurrency: number; ledgers: ReadonlyMap<string, Ledger> },
  processors: readonly (readonly [string, Processor])[],
): Line {
  const common = { ...deps, processors: new Map(processors), metrics: deps.jobs };
  return startLine({
    ...deps,
    ...line,
    bench: (shard, ledger, wake) =>
      new WorkBench({ ...common, ledger, wake, context: contextOf(poolOf(deps.shards, shard), deps.storage, deps.redis) }),
  });
}

type DeliveryLineDeps = WorkerDeps & Pick<ConstructorParameters<typeof DeliveryBench>[0], 'client' | 'seals'>;

/** Receivers that stall hold a place each for their time-out, so there are many places, and a tenant has few of them. */
function deliveryLine(deps: DeliveryLineDeps & { redis: Redis; ledgers: ReadonlyMap<string, DeliveryLedger> }): Line {
  const metrics = deliveryMetrics(deps.metrics, deps.ledgers);
  return startLine({
    ...deps,
    name: 'deliveries',
    perTenant: 8,
    perTicket: 8,
    concurrency: PLACES,
    bench: (shard, ledger, wake) =>
      new DeliveryBench({ ...deps, ledger, pool: poolOf(deps.shards, shard), timeoutMs: deps.webhookTimeoutMs, metrics, wake }),
  });
}

function poolOf(shards: ReadonlyMap<string, SqlPool>, name: string): SqlPool {
  const pool = shards.get(name);
  if (!pool) throw new Error(`there is no shard ${name}`);
  return pool;
}

const contextOf =
  (pool: SqlPool, storage: PerTenant<TenantStorage>, redis: Redis) =>
  ({ tenant, id, fence, payload, requestedAt }: WorkItem, signal: AbortSignal): JobContext => {
    const slug = slugOf(tenant);
    return {
      slug,
      payload,
      requestedAt,
      lease: { id, fence },
      signal,
      transaction: (fn) => pool.transaction(fn, { role: tenant }),
      objects: async () => (await storage.of(slug)).objects,
      storage: () => storage.of(slug),
      redis,
      keyPrefix: redisPrefix(slug),
    };
  };

/** Lets go of events that are kept long enough, at the start and each hour. */
async function forget(ledgers: ReadonlyMap<string, DeliveryLedger>, clock: Clock, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const [shard, ledger] of ledgers) {
      await ledger.forget(EVENTS_KEPT_DAYS).catch((error: unknown) => log.warn({ err: error, shard }, 'old events stay for another hour'));
    }
    await clock.sleep(FORGET_EVERY_MS, signal).catch(() => undefined);
  }
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
