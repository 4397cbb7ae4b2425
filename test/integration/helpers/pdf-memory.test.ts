import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { heldBytes } from '../../support/memory.ts';
import { configure, endOf, pdfSuite } from './pdf-suite.ts';

const { tenant, helper } = pdfSuite({});

const MIB = 1024 * 1024;
/** A part of an upload is 8 MiB, and three of one are in memory at most. */
const BOUND = 64 * MIB;

function* pdfOf(bytes: number): Generator<Buffer> {
  yield Buffer.from('%PDF-1.7\n');
  for (let left = bytes - 9 - 7; left > 0; left -= 65_536) yield Buffer.alloc(Math.min(left, 65_536), 0x20);
  yield Buffer.from('\n%%EOF\n');
}

test('a PDF of 256 MiB becomes one of 160 MiB without the memory of the worker growing with them', async () => {
  const { api } = await tenant.user();
  await configure(tenant, helper);
  const bytes = 256 * MIB;
  const file = Readable.from(pdfOf(bytes), { objectMode: false });
  const { body } = await api.upload('/files', { file, bytes, name: 'large.pdf', type: 'application/pdf' });
  helper.answerWith({ bytes: 160 * MIB });
  const before = heldBytes();
  let most = 0;
  const looking = setInterval(() => (most = Math.max(most, heldBytes() - before)), 200);

  const { body: job } = await api.post(`/files/${body.id}/optimize`, {});
  const end = await endOf(api, job.id);
  clearInterval(looking);

  expect(end).toMatchObject({ state: 'succeeded', result: { size_before: bytes, size_after: 160 * MIB, kept: true } });
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(BOUND);
  process.stdout.write(`the most memory beyond that before: ${(most / MIB).toFixed(1)} MiB\n`);
});
