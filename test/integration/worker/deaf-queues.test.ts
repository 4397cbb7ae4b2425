import { expect, test } from '@jest/globals';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { bullName, QUEUE_PREFIX } from '../../../pkg/jobs/tenant-queue.ts';
import { insertJob } from '../../../pkg/store/postgres/job-store.ts';
import { WAKE_CHANNEL } from '../../../pkg/store/redis/redis.ts';
import { atEnd } from '../../support/fixture.ts';
import { range, waitFor } from '../../support/wait.ts';
import { startWorkerProcess, type WorkerProcess } from '../../support/worker-process.ts';
import { platformSuite, platformTenant } from '../../support/worker-suite.ts';

const platform = platformSuite();
const tenant = platformTenant(platform);
const workers: WorkerProcess[] = [];
atEnd(async () => void (await Promise.all(workers.map((worker) => worker.end('SIGKILL')))));

async function start(log?: (text: string) => void): Promise<WorkerProcess> {
  const worker = await startWorkerProcess(platform, {}, log);
  workers.push(worker);
  return worker;
}

/** Asks for a job of the queue `work`, as a server does. */
async function ask(): Promise<void> {
  await tenant.db.transaction((tx) => insertJob(tx, { kind: 'cache.clear', payload: { subjects: ['anything'] } }));
  await tenant.redis.publish(WAKE_CHANNEL, '');
}
async function done(name: string, limitMs?: number): Promise<void> {
  const left = async (): Promise<number> => (await tenant.db.query(`SELECT FROM carrel.work WHERE kind = 'cache.clear'`)).length;
  await waitFor(name, async () => (await left()) === 0, limitMs);
}
const since = (began: number, ms: number): Promise<boolean> =>
  waitFor(`${ms} ms to pass`, () => performance.now() - began > ms, ms + 30_000);

test('jobs that are asked for after the Redis of the queues was BUSY are done within seconds, whenever they are asked for', async () => {
  const worker = await start();
  await ask();
  await done('the first job');
  const url = platform.stores.redis.queueUrl;
  const [busy, admin] = [new Redis(url, { retryStrategy: () => null }), new Redis(url, { retryStrategy: () => null })];
  await admin.config('SET', 'busy-reply-threshold', '200');

  const script = busy.eval('while true do end', 0).catch((error: Error) => error.message);
  const began = performance.now();
  await waitFor('Redis to answer BUSY', () =>
    admin.ping().then(
      () => false,
      (error: Error) => error.message.startsWith('BUSY'),
    ),
  );
  // A worker that is idle blocks for 2 s; then it asks again and is answered BUSY.
  await since(began, 3_000);
  await admin.script('KILL');
  const ended = performance.now();
  for (const second of range(10).map((at) => 6 + at)) {
    await since(ended, second * 1_000);
    await ask();
  }

  expect(await script).toContain('killed');
  await done('the jobs', 20_000);
  busy.disconnect();
  admin.disconnect();
  await worker.end('SIGTERM');
});

test('a queue of which nothing is taken is noticed in log and metric, begins anew, and goes on once it can', async () => {
  let log = '';
  const worker = await start((text) => (log += text));
  const restarts = async (): Promise<number> =>
    Number(/^carrel_queue_restarts_total\{queue="work"[^}]*\} (\d+)/m.exec(await worker.metrics())?.[1]);
  // Somebody has paused the queue in Redis: a BullMQ worker takes nothing and sees nothing wrong in it.
  const connection = new Redis(platform.stores.redis.queueUrl);
  const paused = new Queue(bullName('work'), { connection, prefix: QUEUE_PREFIX });
  await paused.pause();
  const before = await restarts();

  await ask();
  await waitFor('the watchdog', async () => (await restarts()) > 0, 40_000);
  await paused.resume();

  await done('the job', 30_000);
  expect(before).toBe(0);
  expect(log).toContain('none is taken: the queue begins anew');
  await paused.close();
  connection.disconnect();
});
