import { Queue } from 'bullmq';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { job } from '../../../pkg/api/job.ts';
import { processor } from '../../../pkg/events/processor.ts';
import { bullConnection, bullName, QUEUE_PREFIX } from '../../../pkg/jobs/due-tenants-queue.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { insertJob } from '../../../pkg/store/postgres/job-store.ts';
import { range, waitFor } from '../../support/wait.ts';
import { workerInProcess } from '../../support/programs/worker-in-process.ts';
import { platformSuite } from '../../support/suites/worker-suite.ts';

const platform = platformSuite();
const QUEUE = { name: 'tests', perTenant: 2, concurrency: 4 };
/** Both releases have it; the payload of the newer one has a field more. */
const COMMON = job({ kind: 'test.common', queue: QUEUE.name, payload: z.object({ number: z.number() }) });
const NEWER = job({ kind: 'test.newer', queue: QUEUE.name, payload: z.object({ number: z.number() }) });

/** Workers of two releases on the same queues, and what each of them has done. */
function releases() {
  const done = { older: [] as string[], newer: [] as string[] };
  const workerOf = (release: keyof typeof done, jobs: readonly (typeof COMMON)[]) =>
    workerInProcess(platform, {
      queues: [QUEUE],
      processors: jobs.map((declared) =>
        processor({
          job: declared,
          create:
            () =>
            async (_context, { number }) =>
              void done[release].push(`${declared.kind} ${number}`),
        }),
      ),
    });
  const workers = [workerOf('older', [COMMON])];
  const startNewer = (): void => void workers.push(workerOf('newer', [COMMON, NEWER]));
  return { done, startNewer, close: () => Promise.all(workers.map((worker) => worker.close())) };
}

test('a worker puts back what only the next release knows, and does what has fields that it does not know', async () => {
  const tenant = await platform.tenant();
  const { done, startNewer, close } = releases();
  const request = (kind: string, number: number) =>
    tenant.db.transaction((tx) => insertJob(tx, { kind, queue: QUEUE.name, payload: { number, later: { a: [1] } } }));
  const put = (what: string) =>
    platform.pool.query(`${what} WHERE kind = $1 AND last_error LIKE 'not understood since%'`, [NEWER.kind]);

  try {
    await request(NEWER.kind, 20);
    await waitFor('a job that is put back', async () => (await put('SELECT FROM carrel.work')).length === 1);
    startNewer();
    for (const number of range(20)) {
      await request(COMMON.kind, number);
      await request(NEWER.kind, number);
    }
    await waitFor('the end of the jobs', async () => {
      const rows = await tenant.db.query(`SELECT FROM carrel.work WHERE queue = $1`, [QUEUE.name]);
      // The wait is longer than a test's.
      await put(`UPDATE carrel.work SET due_at = now()`);
      return rows.length === 0;
    });

    expect(done.older.filter((each) => each.startsWith(NEWER.kind))).toEqual([]);
    const all = [...done.older, ...done.newer];
    const wanted = range(20).flatMap((number) => [`${COMMON.kind} ${number}`, `${NEWER.kind} ${number}`]);
    expect(all.toSorted()).toEqual([...wanted, `${NEWER.kind} 20`].toSorted());
  } finally {
    await close();
  }
});

test('a tenant that another release named in the queue, with more fields or fewer, is taken', async () => {
  const tenant = await platform.tenant();
  const connection = bullConnection(platform.stores.redis.queueUrl, silentLogger);
  const queue = new Queue(bullName(QUEUE.name), { connection, prefix: QUEUE_PREFIX });
  const { done, startNewer, close } = releases();
  startNewer();

  try {
    for (const [number, more] of [{}, { most: 2, share: 'x' }].entries()) {
      await queue.pause();
      await tenant.db.transaction((tx) => insertJob(tx, { kind: COMMON.kind, queue: QUEUE.name, payload: { number } }));
      await queue.add('due', { shard: 'one', tenant: `tenant_${tenant.slug}`, ...more }, { removeOnComplete: true });
      await queue.resume();

      await waitFor('the job', () => [...done.older, ...done.newer].length === number + 1);
    }
    expect(await queue.getFailedCount()).toBe(0);
  } finally {
    await close();
    await queue.close();
    connection.disconnect();
  }
});
