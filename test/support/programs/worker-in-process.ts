import { startWorker, type WorkerDeps, type WorkerJobs } from '../../../pkg/jobs/worker.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys } from '../../../pkg/runtime/sealing.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import type { ObserveStatement } from '../../../pkg/store/postgres/client.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import type { TestPlatform } from './worker-platform.ts';

/**
 * A worker in the process of the test, with jobs of the test's own. `observe` is given the statements of its jobs. `close` closes
 * its connections too.
 */
export function workerInProcess(
  platform: TestPlatform,
  jobs: Pick<WorkerJobs, 'queues' | 'processors'>,
  {
    observe,
    ...changed
  }: Partial<Pick<WorkerDeps, 'clock' | 'log' | 'metrics' | 'egressAllow'>> & { observe?: ObserveStatement } = {},
): { close(): Promise<void> } {
  const of = { url: platform.workerUrl, poolSize: 2, log: silentLogger };
  const [db, leasePool] = [new Database({ ...of, ...(observe ? { observe } : {}) }), new SqlPool(of)];
  const worker = startWorker(
    {
      shards: new Map([['one', { db, leasePool }]]),
      registry: platform.registryOn(leasePool),
      redisUrl: platform.stores.redis.adminUrl,
      queueRedisUrl: platform.stores.redis.queueUrl,
      platformKeys: parseSealingKeys(platform.platformKeys),
      egressAllow: [],
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
      metrics: createMetrics('worker'),
      ...changed,
    },
    { ...jobs, rowQueues: [], schedules: [] },
  );
  return {
    close: async () => {
      await worker.close();
      await Promise.all([db.close(), leasePool.close()]);
    },
  };
}
