import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { testFixture } from '../../support/suites/fixture.ts';
import { startHelper } from '../../support/fakes/helpers/helper.ts';
import { pdf } from '../../support/fakes/helpers/pdf.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { configure, converted, endOf, upload } from './pdf-suite.ts';

const MIB = 1 << 20;
/** The size of the PDF. */
const BYTES = Number(process.env['CARREL_TEST_PDF_MIB'] ?? 256) * MIB;
const SMALLER = Math.floor(0.9 * BYTES);
/**
 * The growth that a transfer each way may cause: parts of an upload to the store, and the buffers of sockets. 44 MiB at 64 MiB,
 * 62 MiB at 256 MiB, and up to 171 MiB beside other tests, whose load delays the collection of garbage. A PDF that is held
 * costs its 256 MiB more.
 */
const GROWTH_MAX = 220 * MIB;

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);
const helper = testFixture(startHelper, (running) => running.close());

const residentBytes = async (): Promise<number> =>
  Number(/^process_resident_memory_bytes(?:\{[^}]*\})? (\S+)$/m.exec(await worker.metrics())?.[1]);

test(`a PDF of ${BYTES / MIB} MiB streams to the helper and back: the worker does not hold it`, async () => {
  await tenant.restart({ CARREL_MAX_UPLOAD_BYTES: BYTES + MIB });
  await configure(tenant, helper);
  const { api } = await tenant.user({ storage_quota: 4 * BYTES });
  // The first conversion loads modules, which stay in memory.
  await converted(api, await upload(api, pdf({ padding: 100_000 }), {}, 'small.pdf'), 'optimize');
  const id = await upload(api, pdf({ padding: BYTES - 1_000 }));
  helper.answerWith({ bytes: SMALLER });
  const idle = await residentBytes();

  const { body: job } = await api.post(`/files/${id}/optimize`, {});
  let most = idle;
  const over = new AbortController();
  const watch = (async () => {
    while (!over.signal.aborted) {
      most = Math.max(most, await residentBytes());
      await sleep(50, undefined, { signal: over.signal }).catch(() => undefined); // between two samples
    }
  })();
  const ended = await endOf(api, job.id);
  over.abort();
  await watch;

  expect(ended).toMatchObject({ state: 'succeeded', result: { size_after: SMALLER, kept: true } });
  expect(helper.received.at(-1)?.file?.bytes).toBeGreaterThan(BYTES - 2_000);
  expect(most - idle).toBeLessThan(GROWTH_MAX);
});
