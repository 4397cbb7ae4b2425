import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { isThis, residentMib, statusOf, workerMib } from '../support/measures/resident.ts';
import { range, waitFor } from '../support/wait.ts';
import { platformTenant, workerSuite } from '../support/suites/worker-suite.ts';
import { zipBytes } from '../support/data/zip-bytes.ts';

/**
 * `make faults`: 50,000 entries, and 4,096 MiB. The first measurement of a process holds what it learns once, so a small import
 * goes before.
 */
const ENTRIES = Number(process.env.IMPORT_ENTRIES ?? 500);
const MIB = Number(process.env.IMPORT_MIB ?? 256);
const LIMIT_MS = 3_600_000;
const CHUNK = 1024 ** 2;
/**
 * The growth of both processes together: 47 to 89 MiB, whatever the size of the archive. Holding an archive would add its whole
 * size. Beside other tests, whose load delays garbage collection, the bound is higher.
 */
const GROWTH_MAX_MIB = process.env.IMPORT_MIB === undefined ? 160 : 96;

const { platform } = workerSuite({}, { asInChart: true });
const tenant = platformTenant(platform);

const readerMib = (): number => residentMib('reader.main', (parent) => isThis(statusOf(parent, 'PPid'))) ?? 0;

/** Requests an import, and gives how much the worker and the reader had at most until its end. */
async function peaksOf(
  file: Buffer | Readable,
  bytes?: number,
): Promise<{ worker: number; reader: number; result: { files: number } }> {
  const { api } = await tenant.user({ storage_quota: 20 * 1024 ** 3 });
  const { body } = await api.upload('/imports', { name: 'a.zip', file, ...(bytes === undefined ? {} : { bytes }) });
  const peaks = { worker: 0, reader: 0 };
  const job = await waitFor(
    'the end of the import',
    async () => {
      peaks.reader = Math.max(peaks.reader, readerMib());
      peaks.worker = Math.max(peaks.worker, workerMib());
      const { body: now } = await api.get(`/jobs/${body.id}`);
      return now.ended_at === null ? undefined : now;
    },
    LIMIT_MS,
  );
  expect([job.state, job.error]).toEqual(['succeeded', null]);
  return { ...peaks, result: job.result };
}

const small = (count: number): Buffer =>
  zipBytes(range(count).map((n) => ({ name: `folder ${n % 100}/file ${n}.txt`, content: `content ${n}` })));

/** An archive of one stored content of so many MiB. */
function large(mib: number): { stream: Readable; bytes: number } {
  const chunk = randomBytes(CHUNK);
  const size = mib * CHUNK;
  let crc = 0;
  for (let at = 0; at < mib; at += 1) crc = crc32(chunk, crc);
  const said = { size, packed: size, crc };
  const entry = { name: 'large.bin', method: 0, zip64: true, local: said, central: said };
  const around = zipBytes([entry], { zip64: true, left: size });
  const head = 30 + entry.name.length + 20;
  const pieces = function* (): Generator<Buffer> {
    yield around.subarray(0, head);
    for (let at = 0; at < mib; at += 1) yield chunk;
    yield around.subarray(head);
  };
  return { stream: Readable.from(pieces(), { objectMode: false }), bytes: around.length + size };
}

test(
  `an archive of ${ENTRIES} entries, and one of ${MIB} MiB, take worker and reader no more than ${GROWTH_MAX_MIB} MiB`,
  async () => {
    const first = await peaksOf(small(200));
    const idle = workerMib();
    const { stream, bytes } = large(MIB);
    const measured = [await peaksOf(small(ENTRIES)), await peaksOf(stream, bytes)];

    const growths = measured.map((peaks) => peaks.worker - idle + Math.max(0, peaks.reader - first.reader));
    const text = measured.map(
      (peaks, at) => `${peaks.worker.toFixed(0)} + ${peaks.reader.toFixed(0)} MiB, ${growths[at]?.toFixed(0)} more`,
    );
    process.stderr.write(
      `  idle ${idle.toFixed(0)} + ${first.reader.toFixed(0)} MiB; ${ENTRIES} entries ${text[0]}; ${MIB} MiB ${text[1]}\n`,
    );
    expect(measured.map(({ result }) => result.files)).toEqual([ENTRIES, 1]);
    for (const growth of growths) expect(growth).toBeLessThan(GROWTH_MAX_MIB);
  },
  LIMIT_MS,
);
