import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { names } from './manifest.ts';
import { listedObjects } from './object-list.ts';
import { linesOf, unpacked } from './packed.ts';
import { FolderRepository } from './repository/folder.ts';
import { MIB } from '../runtime/bytes.ts';

let repository: FolderRepository;
beforeAll(async () => {
  repository = new FolderRepository(await mkdtemp(join(tmpdir(), 'carrel-packed-')));
});
afterAll(() => rm(repository.name, { recursive: true }));

const [SLUG, STAMP] = ['biology', '20261123T150301Z'];
/** 10 MB of one letter. Consecutive gzip members form one file. */
const TEN_MB = gzipSync(Buffer.alloc(10_000_000, 'x'));

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('a list of objects with a line of 300 MB is refused at its beginning, with little memory', async () => {
  await repository.put(names(SLUG).list(STAMP), Buffer.concat(Array.from({ length: 30 }, () => TEN_MB)));
  const before = process.memoryUsage().rss;

  const read = all(listedObjects(repository, SLUG, STAMP));

  await expect(read).rejects.toThrow(`${SLUG}/${STAMP}/objects.copy.gz is damaged: a line has more than 256 bytes`);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);
});

test('a file is read no further than its written size', async () => {
  await repository.put('rows', gzipSync('a\tb\n'.repeat(100_000)));

  const bounded = all(unpacked(repository, 'rows', { line: 10, total: 1_000 }));

  await expect(bounded).rejects.toThrow('rows has more than the 1000 bytes that were written');
});

test('lines are complete even if chunks end within them', async () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `${'é'.repeat(index % 40)}${index}`);
  await repository.put('lines', gzipSync(lines.join('\n')));

  expect(await all(linesOf(unpacked(repository, 'lines', { line: 100 })))).toEqual(lines);
});

test('a truncated file is damaged', async () => {
  await repository.put('cut', gzipSync('rows\n'.repeat(1_000)).subarray(0, -12));

  await expect(all(unpacked(repository, 'cut', { line: 100 }))).rejects.toThrow('cut is damaged: unexpected end of file');
});
