import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { isThis, residentMib, statusOf, workerMib } from '../support/measures/resident.ts';
import { range, waitFor } from '../support/wait.ts';
import { platformTenant, workerSuite } from '../support/suites/worker-suite.ts';
import { zipBytes } from '../support/data/zip-bytes.ts';

/** `make faults`: 50,000 entries, and 4,096 MiB. */
const ENTRIES = Number(process.env.IMPORT_ENTRIES ?? 500);
const MIB = Number(process.env.IMPORT_MIB ?? 256);
/** Imports one after the other, each with a tenth of the entries: what an import leaves behind would add up. */
const IN_A_ROW = 10;
const LIMIT_MS = 3_600_000;
const CHUNK = 1024 ** 2;
/**
 * The growth of both processes together over a worker that has made only a small import, whatever it imported since: 27 to 70
 * MiB. Holding an archive would add its whole size. Beside other tests, whose load delays garbage collection, the bound is
 * higher.
 */
const GROWTH_MAX_MIB = process.env.IMPORT_MIB === undefined ? 160 : 96;
/** How much more the second half of the imports in a row may take than the first half. */
const GROWTH_IN_A_ROW_MAX_MIB = 16;

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
  `an archive of ${ENTRIES} entries, one of ${MIB} MiB and ${IN_A_ROW} in a row take worker and reader no more ` +
    `than ${GROWTH_MAX_MIB} MiB over the worker at rest`,
  async () => {
    // What a process learns once is part of it at rest.
    const first = await peaksOf(small(200));
    const idle = workerMib();
    process.stderr.write(`  idle ${idle.toFixed(0)} + ${first.reader.toFixed(0)} MiB\n`);
    const measured = async (what: string, file: Buffer | Readable, bytes?: number) => {
      const { worker, reader, result } = await peaksOf(file, bytes);
      const growth = worker - idle + Math.max(0, reader - first.reader);
      process.stderr.write(`  ${what}: ${worker.toFixed(0)} + ${reader.toFixed(0)} MiB, ${growth.toFixed(0)} more\n`);
      return { growth, files: result.files };
    };
    const { stream, bytes } = large(MIB);
    const imports = [
      await measured(`${ENTRIES} entries`, small(ENTRIES)),
      await measured(`${MIB} MiB`, stream, bytes),
      await measured(`${ENTRIES} entries again`, small(ENTRIES)),
    ];
    const inARow: (typeof imports)[number][] = [];
    for (const n of range(IN_A_ROW)) inARow.push(await measured(`in a row ${n + 1}`, small(ENTRIES / IN_A_ROW)));

    expect([...imports, ...inARow].map(({ files }) => files)).toEqual([
      ENTRIES,
      1,
      ENTRIES,
      ...range(IN_A_ROW).map(() => ENTRIES / IN_A_ROW),
    ]);
    for (const { growth } of [...imports, ...inARow]) expect(growth).toBeLessThan(GROWTH_MAX_MIB);
    const most = (some: typeof inARow): number => Math.max(...some.map(({ growth }) => growth));
    const half = IN_A_ROW / 2;
    expect(most(inARow.slice(half)) - most(inARow.slice(0, half))).toBeLessThan(GROWTH_IN_A_ROW_MAX_MIB);
  },
  LIMIT_MS,
);
