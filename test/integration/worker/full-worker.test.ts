import { expect, test } from '@jest/globals';
import type { JobHandler } from '../../../pkg/events/processor.ts';
import { SWEEP_MS } from '../../../pkg/jobs/dispatcher.ts';
import { type JobQueue, startJobQueue } from '../../../pkg/jobs/job-queue.ts';
import { queueMetrics } from '../../../pkg/jobs/metrics.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { type Clock, systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { insertJob, type JobRow, JobStore } from '../../../pkg/store/postgres/job-store.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { range, waitFor } from '../../support/wait.ts';
import { platformSuite, platformTenant } from '../../support/suites/worker-suite.ts';

const QUEUE = 'testing';
const SLOTS = 2;
const FOREVER_MS = 2 ** 31 - 1;
/** Sweeps never come: what a worker takes and leaves, and no other worker takes, stays where it is. */
const withoutSweeps: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms < SWEEP_MS ? ms : FOREVER_MS, signal),
};

const platform = platformSuite();
const [holding, waiting] = [platformTenant(platform), platformTenant(platform)];
const asWorker = fixture(
  async () => new SqlPool({ url: platform.workerUrl, poolSize: 4, log: silentLogger }),
  (pool) => pool.close(),
);

/** Starts the queue of a worker. An attempt of `holding` lasts until the test ends. */
function startQueue() {
  const store = new JobStore(asWorker, QUEUE);
  const ended = Promise.withResolvers<void>();
  const begun: string[] = [];
  const attempt = async (row: JobRow): Promise<undefined> => {
    begun.push(row.tenant);
    if (row.tenant === `tenant_${holding.slug}`) await ended.promise;
    await store.finish(row);
  };
  const handlers = new Map<string, JobHandler<JobRow>>([['one', { store, attempt }]]);
  const queue: JobQueue = startJobQueue({ name: QUEUE, perTenant: SLOTS, concurrency: SLOTS }, handlers, {
    redisUrl: platform.stores.redis.queueUrl,
    queueMetrics: queueMetrics(createMetrics('worker'), [QUEUE]),
    clock: withoutSweeps,
    log: silentLogger,
  });
  const close = async (): Promise<void> => {
    ended.resolve();
    await queue.close();
  };
  return { begun, queue, end: () => ended.resolve(), close };
}

const request = (tenant: typeof holding): Promise<void> =>
  tenant.db.transaction((tx) => insertJob(tx, { kind: 'test', payload: {}, queue: QUEUE }));

test('a worker without free slots leaves tenants to others, and takes tenants again once a slot is free', async () => {
  const full = startQueue();
  const other = await fullThenStarted(full);

  for (const count of range(20)) {
    await request(waiting);
    other.queue.wake();
    await waitFor(`job ${count + 1}, at once`, () => other.begun.length === count + 1);
  }
  expect(full.begun).toHaveLength(SLOTS);
  await other.close();
  full.end();
  await request(waiting);
  full.queue.wake();

  await waitFor('the job at the other worker', () => full.begun.length === SLOTS + 1);
  expect(full.begun.at(-1)).toBe(`tenant_${waiting.slug}`);
  await full.close();
});

async function fullThenStarted(full: ReturnType<typeof startQueue>): Promise<ReturnType<typeof startQueue>> {
  for (const _ of range(SLOTS)) await request(holding);
  full.queue.wake();
  await waitFor('a worker without free slots', () => full.begun.length === SLOTS);
  return startQueue();
}
