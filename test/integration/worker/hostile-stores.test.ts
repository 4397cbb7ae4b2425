import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { job } from '../../../pkg/api/job.ts';
import { processor } from '../../../pkg/events/processor.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { insertJob } from '../../../pkg/store/postgres/job-store.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { type Manners, startHostileStore } from '../../support/fakes/hostile-store.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { workerInProcess } from '../../support/programs/worker-in-process.ts';
import { objectCount } from '../content/tenant-state.ts';

const SOON_MS = 10_000;
const SWEEPS = 4;

const { platform, worker } = workerSuite();
const ordinary = platformTenant(platform);
const store = fixture(startHostileStore, (running) => running.close());

/** A tenant that named a bucket of the hostile store, as the operator records it. */
async function atHostileStore(manners: Manners): Promise<{ tenant: TestTenant; bucket: string }> {
  const tenant = await platform.tenant();
  const bucket = `bucket-${systemRandom.hex(5)}`;
  const location = { endpoint: store.url, bucket, prefix: '' };
  const marker = `tenant ${tenant.tenantId} of a test`;
  const sealed = JSON.stringify({
    ...location,
    region: 'us-east-1',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
    guarded: 'true',
    marker,
  });
  await platform.registryOn(platform.pool).setStorage(tenant.tenantId, { ...location, isOwn: false }, sealed);
  await fetch(`${store.url}/${bucket}/.carrel-tenant`, { method: 'PUT', body: marker });
  store.behave(bucket, manners);
  return { tenant, bucket };
}

/** Sweeps with the tenant's own credentials, as anybody who reads its Secret can. */
const sweep = (tenant: TestTenant): Promise<unknown> =>
  tenant.db.query(`INSERT INTO carrel.work (kind, payload) VALUES ('objects.sweep', '{"day":"20200101"}')`);

test('while the stores of seven tenants hold their sweeps, the purge of an ordinary tenant is done within seconds', async () => {
  const manners = range(7).map((at): Manners => (at < 5 ? { marker: 'drips' } : { endless: at < 6 ? 'keys' : 'uploads' }));
  const before = await objectCount(ordinary);
  const { api } = await ordinary.user();
  const { body: file } = await api.upload('/files', { file: Buffer.from('a'), name: 'a' });
  for (const each of manners) {
    const { tenant, bucket } = await atHostileStore(each);
    const asked = store.asked(bucket);
    for (const _ of range(SWEEPS)) await sweep(tenant);
    await waitFor('a sweep at the hostile store', () => store.asked(bucket) > asked);
  }

  await api.delete(`/files/${file.id}`, { query: { permanent: true } });

  await waitFor('the purge', async () => (await objectCount(ordinary)) === before, SOON_MS);
});

test('a job of a tenant that named its store is done, in the queue of such stores', async () => {
  const { tenant, bucket } = await atHostileStore({});
  const moved = 'carrel_work_results_total{kind="objects.sweep",result="moved"';

  await sweep(tenant);

  await waitFor('the end of the sweep', async () => (await tenant.db.query('SELECT FROM carrel.work')).length === 0);
  expect(store.asked(bucket)).toBe(4);
  await waitFor('the count of what was moved', async () => (await worker.metrics()).includes(moved));
});

test('an attempt that does not end in time is aborted, frees its slot, and its late end changes nothing', async () => {
  const stuck = job({ kind: 'test.stuck', queue: 'limited', payload: z.object({}) });
  const quick = job({ kind: 'test.quick', queue: 'limited', payload: z.object({}) });
  const done: string[] = [];
  const late = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const metrics = createMetrics('worker');
  const limited = workerInProcess(
    platform,
    {
      queues: [{ name: 'limited', perTenant: 1, concurrency: 1, timeLimitMs: 2_000 }],
      processors: [
        processor({
          job: stuck,
          create:
            () =>
            async ({ signal }) => {
              signal.addEventListener('abort', () => done.push('aborted'));
              await late.promise;
              ended.resolve();
            },
        }),
        processor({ job: quick, create: () => async () => void done.push('quick') }),
      ],
    },
    { metrics },
  );

  await ordinary.db.transaction((tx) => insertJob(tx, { kind: stuck.kind, queue: stuck.queue, payload: {} }));
  await waitFor('the abort', () => done.length === 1);
  await ordinary.db.transaction((tx) => insertJob(tx, { kind: quick.kind, queue: quick.queue, payload: {} }));
  await waitFor('the next job', () => done.length === 2);
  late.resolve();
  await ended.promise;
  const rows = (): Promise<unknown[]> =>
    ordinary.db.query(
      `SELECT kind, due_at > now() + interval '10 min' AS "isLater", leased_until, last_error FROM carrel.work
       WHERE queue = 'limited'`,
    );
  await waitFor('the end of the next job', async () => (await rows()).length === 1);
  const abandoned = /carrel_work_results_total\{kind="test.stuck",result="abandoned".*\} 1/;
  await waitFor('the count of the first', async () => abandoned.test(await metrics.metrics()));
  const left = await rows();
  await limited.close();

  expect(done).toEqual(['aborted', 'quick']);
  expect(left).toEqual([
    { kind: stuck.kind, isLater: true, leased_until: null, last_error: 'the attempt did not end within 2 s' },
  ]);
});
