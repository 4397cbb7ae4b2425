import { expect, test } from '@jest/globals';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { clearCaches } from '../../../pkg/events/caches.jobs.ts';
import { bullName, QUEUE_PREFIX } from '../../../pkg/jobs/due-tenants-queue.ts';
import { DEAF_AFTER_MS } from '../../../pkg/jobs/watchdog.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { DEFAULT_QUEUE, insertJob, NAMED_STORES_QUEUE } from '../../../pkg/store/postgres/job-store.ts';
import { WAKE_CHANNEL } from '../../../pkg/store/redis/redis.ts';
import { waitFor } from '../../support/wait.ts';
import { startWorkerProcess } from '../../support/programs/worker-process.ts';
import { platformSuite, platformTenant } from '../../support/suites/worker-suite.ts';
import { workerInProcess } from '../../support/programs/worker-in-process.ts';

const platform = platformSuite();
const tenant = platformTenant(platform);

/** Asks for a job, as a server does. */
async function ask(queue = DEFAULT_QUEUE): Promise<void> {
  await tenant.db.transaction((tx) => insertJob(tx, { kind: 'cache.clear', payload: { subjects: ['anything'] }, queue }));
  await tenant.redis.publish(WAKE_CHANNEL, '');
}
async function done(name: string, limitMs?: number): Promise<void> {
  const left = async (): Promise<number> => (await tenant.db.query(`SELECT FROM carrel.work WHERE kind = 'cache.clear'`)).length;
  await waitFor(name, async () => (await left()) === 0, limitMs);
}
const since = (began: number, ms: number): Promise<boolean> =>
  waitFor(`${ms} ms to pass`, () => performance.now() - began > ms, ms + 30_000);

test('jobs that are asked for some seconds after a script of 7 s in the Redis of the queues are done at once', async () => {
  const worker = await startWorkerProcess(platform);
  await ask();
  await done('the first job');
  const url = platform.stores.redis.queueUrl;
  const [busy, admin] = [new Redis(url, { retryStrategy: () => null }), new Redis(url, { retryStrategy: () => null })];
  // Connected before Redis answers nobody.
  await Promise.all([busy.ping(), admin.ping()]);

  const script = busy.eval('while true do end', 0).catch((error: Error) => error.message);
  await since(performance.now(), 7_000);
  await admin.script('KILL');
  const ended = performance.now();
  // An earlier job would end a silence. Each queue has a connection of its own, so each tries one time. The watchdog would take
  // 20 s.
  for (const [queue, afterMs] of [
    [NAMED_STORES_QUEUE, 8_000],
    [DEFAULT_QUEUE, 9_500],
  ] as const) {
    await since(ended, afterMs);
    await ask(queue);
    await done(`the job of the queue ${queue}`, 15_000);
  }

  expect(await script).toContain('killed');
  busy.disconnect();
  admin.disconnect();
  await worker.end('SIGKILL');
});

test('a queue of which nothing is taken is noticed in log and metric, starts over, and goes on once it can', async () => {
  let log = '';
  let ahead = 0;
  const metrics = createMetrics('worker');
  const worker = workerInProcess(
    platform,
    { queues: [{ name: DEFAULT_QUEUE, perTenant: 1, concurrency: 1 }], processors: [clearCaches] },
    {
      clock: { ...systemClock, monotonic: () => systemClock.monotonic() + ahead },
      log: pino({}, { write: (line: string) => void (log += line) }),
      metrics,
    },
  );
  const restarts = async (): Promise<number> =>
    Number(/^carrel_queue_restarts_total\{queue="work"[^}]*\} (\d+)/m.exec(await metrics.metrics())?.[1]);
  // Somebody has paused the queue in Redis: a BullMQ worker takes nothing and sees nothing wrong in it.
  const connection = new Redis(platform.stores.redis.queueUrl);
  const paused = new Queue(bullName(DEFAULT_QUEUE), { connection, prefix: QUEUE_PREFIX });
  await paused.pause();
  const before = await restarts();

  await ask();
  await waitFor('the job in Redis', async () => (await paused.getWaitingCount()) > 0);
  ahead = DEAF_AFTER_MS;
  await waitFor('the watchdog', async () => (await restarts()) > 0);
  await paused.resume();

  await done('the job', 30_000);
  expect(before).toBe(0);
  expect(log).toContain('the worker takes none; restarting the queue');
  await worker.close();
  await paused.close();
  connection.disconnect();
});
