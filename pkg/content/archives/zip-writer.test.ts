import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { heldBytes } from '../../../test/support/memory.ts';
import { ZipWriter } from './zip-writer.ts';

const KIB = 1024;
const FILES = 1_000;

test('an archive holds no content of files that have gone out, however many they are', async () => {
  const zip = new ZipWriter(new AbortController().signal);
  let bytes = 0;
  zip.output.on('data', (chunk: Buffer) => (bytes += chunk.length));
  const add = (n: number): Promise<void> =>
    zip.addFile({ path: `${n}.bin`, modifiedAt: new Date() }, { content: Readable.from([Buffer.alloc(64 * KIB, n)]), size: 64 * KIB });
  await add(0);
  const before = heldBytes();
  for (let n = 1; n <= FILES; n += 1) await add(n);
  zip.end();
  await once(zip.output, 'end');
  // Buffers are freed beside the program, some time after a collection.
  let held = Infinity;
  for (let tries = 0; tries < 100 && held > FILES * 4 * KIB; tries += 1) {
    held = heldBytes() - before;
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect(bytes).toBeGreaterThan(FILES * 64 * KIB);
  expect(held / FILES).toBeLessThan(4 * KIB);
});
