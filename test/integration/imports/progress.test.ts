import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { jobEnd } from '../../support/clients/batches.ts';
import { whileHeld } from '../../support/fakes/held-changes.ts';
import { range, waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { zipBytes } from '../../support/data/zip-bytes.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
const COUNT = 2_000;
const CONTENT = 'content of an entry';

const jobOf = async (api: Api, id: string) => (await api.get(`/jobs/${id}`)).body;

test('an import whose store stalls shows what it has read of the declared size, and no file until all are stored', async () => {
  const { api } = await tenant.user();
  const archive = zipBytes(range(COUNT).map((n) => ({ name: `${n}.txt`, content: CONTENT })));
  // However late it stalls, half of the contents are not stored.
  const secondHalf = `NEW.content IS NOT NULL AND NEW.target_name = '${COUNT / 2}.txt'`;
  const { id, held } = await whileHeld(tenant, { table: 'task_items', row: secondHalf }, async () => {
    const { body } = await api.upload('/imports', { name: 'a.zip', file: archive });
    await waitFor('some contents', async () => (await jobOf(api, body.id)).result.contents?.entries > 0);
    platform.stores.signal('versitygw', 'SIGSTOP');

    const shown = await jobOf(api, body.id);
    platform.stores.signal('versitygw', 'SIGCONT');
    return { id: body.id, held: shown };
  });
  const end = await jobEnd(api, id);

  expect(held).toMatchObject({ state: 'running', progress: { done: 0, total: COUNT } });
  const { entries, bytes, ...total } = held.result.contents;
  expect(total).toEqual({ total_entries: COUNT, total_bytes: COUNT * CONTENT.length });
  expect(entries).toBeGreaterThan(0);
  expect(entries).toBeLessThan(COUNT);
  expect(bytes).toBeGreaterThanOrEqual(entries * CONTENT.length);
  expect(bytes).toBeLessThan(COUNT * CONTENT.length);
  expect(end).toMatchObject({
    state: 'succeeded',
    progress: { done: COUNT, total: COUNT },
    result: { files: COUNT, contents: { entries: COUNT, bytes: COUNT * CONTENT.length } },
  });
});

test('the bytes of a large content show while it is read', async () => {
  const { api } = await tenant.user();
  const size = 256 * 1024 ** 2;
  const [pad, content] = [Buffer.alloc(64 * 1024, 'p'), Buffer.alloc(size)];
  const archive = zipBytes([
    { name: 'pad', content: pad, method: 0 },
    { name: 'large', content },
  ]);
  const { id } = (await api.upload('/imports', { name: 'a.zip', file: archive })).body;

  const held = await waitFor('some of its bytes', async () => {
    const job = await jobOf(api, id);
    if (job.ended_at !== null) throw new Error(`the import has ended as ${job.state} before any of its bytes showed`);
    return job.result.contents?.bytes > pad.length && job;
  });
  await api.post(`/jobs/${id}/cancel`);

  expect(held.result.contents).toMatchObject({ total_entries: 2, total_bytes: size + pad.length });
  expect(held.result.contents.bytes).toBeLessThan(size + pad.length);
  expect(held.progress.done).toBe(0);
});
