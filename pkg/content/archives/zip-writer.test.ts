import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { fromBufferPromise } from 'yauzl';
import { heldBeyond, heldBytes } from '../../../test/support/measures/memory.ts';
import { writeZip, type ZipEntry } from './zip-writer.ts';
import { KIB } from '../../runtime/bytes.ts';

const modifiedAt = new Date('2026-03-01T12:34:56Z');

const file = (path: string, ...chunks: Buffer[]): ZipEntry => ({
  path,
  modifiedAt,
  file: { size: chunks.reduce((sum, { length }) => sum + length, 0), content: each(chunks) },
});

async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

const archive = (entries: Iterable<ZipEntry>): Promise<Buffer> => buffer(writeZip(each(entries)));

test('Python unpacks an archive as it was written, with times and modes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-zip-'));
  try {
    const zip = await archive([
      { path: 'Übung/', modifiedAt },
      file('Übung/第二.txt', Buffer.from('one '), Buffer.from('two')),
      file('Übung/empty'),
    ]);
    writeFileSync(join(folder, 'a.zip'), zip);
    const script = `import json, zipfile
z = zipfile.ZipFile('a.zip'); assert z.testzip() is None
print(json.dumps([[i.filename, i.date_time, i.external_attr >> 16, z.read(i).decode()] for i in z.infolist()]))`;
    const entries: unknown = JSON.parse(execFileSync('python3', ['-c', script], { cwd: folder, encoding: 'utf8' }));
    const time = [2026, 3, 1, 12, 34, 56];
    expect(entries).toEqual([
      ['Übung/', time, 0o40755, ''],
      ['Übung/第二.txt', time, 0o100644, 'one two'],
      ['Übung/empty', time, 0o100644, ''],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('more than 65,535 entries are written as Zip64', async () => {
  const count = 70_000;
  const zip = await fromBufferPromise(
    await archive(
      (function* () {
        for (let n = 0; n < count; n += 1) yield file(`${n}`);
      })(),
    ),
    { lazyEntries: true },
  );
  let read = 0;
  for await (const entry of zip.eachEntry()) if (entry.fileName === `${read}`) read += 1;
  expect([zip.entryCount, read]).toEqual([count, count]);
});

test.each([
  ['fewer', 3],
  ['more', 1],
])('a file that has %s bytes than it says breaks the archive off', async (_, size) => {
  await expect(archive([{ path: 'x', modifiedAt, file: { size, content: each([Buffer.from('ab')]) } }])).rejects.toThrow(
    'did not have its',
  );
});

test('an archive holds no content of files that have gone out, and of entries with long paths next to nothing', async () => {
  const [files, folders] = [1_000, 20_000];
  const parent = '長'.repeat(1_770);
  async function* entries(): AsyncGenerator<ZipEntry> {
    for (let n = 0; n < files; n += 1) yield file(`${n}.bin`, Buffer.alloc(64 * KIB, n));
    for (let n = 0; n < folders; n += 1) yield { path: `${parent}/${n}/`, modifiedAt };
  }
  let said = 0;
  let bytes = 0;
  const before = heldBytes();
  let most = 0;
  for await (const chunk of writeZip(entries(), (held) => (said = held))) {
    bytes += chunk.length;
    // Records of the directory are longer than any that came before: it has begun.
    if (most === 0 && chunk.length >= 60 * KIB && bytes > files * 64 * KIB + folders * 5 * KIB)
      most = await heldBeyond(before, folders * 200);
  }

  expect(bytes).toBeGreaterThan(files * 64 * KIB + folders * 2 * 5 * KIB);
  expect(said / folders).toBeLessThan(60);
  expect(most / folders).toBeLessThan(200);
});

test('nothing is read before it is asked for', async () => {
  let asked = 0;
  async function* entries(): AsyncGenerator<ZipEntry> {
    for (;;) yield file(`${asked++}`, Buffer.alloc(KIB));
  }
  const chunks = writeZip(entries());
  for (let n = 0; n < 7; n += 1) await chunks.next();
  await chunks.return(undefined);

  expect(asked).toBe(3);
});
