import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fromBufferPromise } from 'yauzl';
import { type PlannedEntry, ZipPlan } from './zip-plan.ts';
import { GIB } from '../../runtime/bytes.ts';

const modifiedAt = new Date('2026-03-01T12:34:56Z');

const file = (path: string, content: Buffer): PlannedEntry => ({
  path,
  modifiedAt,
  file: { size: content.length, crc: crc32(content), key: content.toString('latin1') },
});

const planOf = (entries: Iterable<PlannedEntry>): ZipPlan => {
  const plan = new ZipPlan();
  for (const entry of entries) plan.add(entry);
  return plan;
};

/** Returns the bytes of a plan whose keys are the contents. */
async function bytesOf(plan: ZipPlan, start?: number, end?: number): Promise<Buffer> {
  const bytes: Buffer[] = [];
  for await (const part of plan.parts(start, end))
    bytes.push(part.head, Buffer.from(part.key, 'latin1').subarray(part.start, part.end));
  return Buffer.concat(bytes);
}

/** Returns only the bytes that are not content. */
async function frameOf(plan: ZipPlan, start?: number, end?: number): Promise<{ at: number; head: Buffer }[]> {
  const heads: { at: number; head: Buffer }[] = [];
  let at = start ?? 0;
  for await (const part of plan.parts(start, end)) {
    heads.push({ at, head: part.head });
    at += part.head.length + part.end - part.start;
  }
  return heads;
}

function python(script: string, zip: Buffer): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-plan-'));
  try {
    writeFileSync(join(folder, 'a.zip'), zip);
    return JSON.parse(execFileSync('python3', ['-c', script], { cwd: folder, encoding: 'utf8' }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('Python and unzip unpack a planned archive as it was planned, and it has the length that it says', async () => {
  const plan = planOf([
    { path: 'Übung/', modifiedAt },
    file('Übung/第二.txt', Buffer.from('one two')),
    file('Übung/empty', Buffer.alloc(0)),
  ]);
  const zip = await bytesOf(plan);
  const time = [2026, 3, 1, 12, 34, 56];

  expect(plan.bytes).toBe(zip.length);
  expect(
    python(
      `import json, subprocess, zipfile
z = zipfile.ZipFile('a.zip'); assert z.testzip() is None
subprocess.run(['unzip', '-tqq', 'a.zip'], check=True)
print(json.dumps([[i.filename, i.date_time, i.external_attr >> 16, i.flag_bits & 8, z.read(i).decode()] for i in z.infolist()]))`,
      zip,
    ),
  ).toEqual([
    ['Übung/', time, 0o40755, 0, ''],
    ['Übung/第二.txt', time, 0o100644, 0, 'one two'],
    ['Übung/empty', time, 0o100644, 0, ''],
  ]);
});

test('each range of an archive is that of the whole', async () => {
  const entry = fc.record({
    path: fc.stringMatching(/^[a-zé]{1,8}$/),
    content: fc.string({ unit: 'binary-ascii', maxLength: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 20 }), fc.nat(), fc.nat(), async (entries, one, other) => {
      const plan = planOf(entries.map(({ path, content }) => file(path, Buffer.from(content))));
      const whole = await bytesOf(plan);
      const [start, end] = [one % (whole.length + 1), other % (whole.length + 1)].toSorted((a, b) => a - b) as [number, number];
      expect(await bytesOf(plan, start, end)).toEqual(whole.subarray(start, end));
    }),
  );
});

test('files and archives beyond 4 GiB are written as Zip64, and ranges of them', async () => {
  const plan = planOf([
    { path: 'large', modifiedAt, file: { size: 5 * GIB, crc: 1, key: 'L' } },
    { path: 'behind', modifiedAt, file: { size: 3, crc: crc32('abc'), key: 'abc' } },
  ]);
  const heads = await frameOf(plan);
  const [first, second, directory] = heads.map(({ head }) => head);

  expect(heads.map(({ at }) => at)).toEqual([0, first!.length + 5 * GIB, first!.length + 5 * GIB + second!.length + 3]);
  expect(first!.readUInt32LE(18)).toBe(0xffffffff);
  expect(first!.readBigUInt64LE(first!.length - 16)).toBe(BigInt(5 * GIB)); // at the end of the extra field
  // A reader of ranges finds "behind" by the directory alone: what lies before is never made.
  const tail = await frameOf(plan, heads[1]!.at);
  expect(tail.map(({ head }) => head)).toEqual([second, directory]);
  expect(plan.bytes).toBe(heads[2]!.at + directory!.length);
  expect(
    python(
      `import json, zipfile
sparse = open('sparse.zip', 'wb')
d = open('a.zip', 'rb').read()
sparse.seek(${heads[1]!.at}); sparse.write(d); sparse.close()
z = zipfile.ZipFile('sparse.zip')
print(json.dumps([[i.filename, i.file_size, i.header_offset] for i in z.infolist()] + [z.read('behind').decode()]))`,
      Buffer.concat([second!, Buffer.from('abc'), directory!]),
    ),
  ).toEqual([['large', 5 * GIB, 0], ['behind', 3, heads[1]!.at], 'abc']);
});

test('more than 65,535 entries are written as Zip64; each takes less than 96 bytes beside its name', async () => {
  const count = 70_000;
  const plan = planOf(
    (function* () {
      for (let n = 0; n < count; n += 1)
        yield {
          path: `course/week ${n >> 8}/${n}.pdf`,
          modifiedAt: new Date(modifiedAt.getTime() + n * 987_654),
          file: { size: (n * 7919) % 1_000_000, crc: crc32(`${n}`), key: keyOf(n) },
        };
    })(),
  );
  const directory = (await frameOf(plan)).slice(count);
  const zip = await fromBufferPromise(await withEnd(plan, directory[0]!.at), { lazyEntries: true });

  expect(plan.heldBytes / count).toBeLessThan(96);
  expect(zip.entryCount).toBe(count);
});

/** Returns a key that looks as random as a real one. */
const keyOf = (n: number): string => {
  const words = [1, 2, 3, 4, 5, 6].map((salt) => crc32(`${salt}-${n}`));
  return `20261126/ab/${Buffer.from(Uint32Array.from(words).buffer).toString('base64url')}`;
};

/** Returns the directory of an archive, where the archive has it; zeros in place of what is before. */
async function withEnd(plan: ZipPlan, from: number): Promise<Buffer> {
  // yauzl reads from the end, and no entry: the offsets need not be there.
  const small = planOf([]);
  expect((await bytesOf(small)).length).toBe(small.bytes);
  const bytes: Buffer[] = [];
  for await (const { head } of plan.parts(from)) bytes.push(head);
  const end = Buffer.concat(bytes);
  // The locator points to where the end of Zip64 is in the whole archive.
  const locator = end.length - 22 - 20;
  end.writeBigUInt64LE(end.readBigUInt64LE(locator + 8) - BigInt(from), locator + 8);
  const zip64End = locator - 56;
  end.writeBigUInt64LE(end.readBigUInt64LE(zip64End + 48) - BigInt(from), zip64End + 48);
  return end;
}

test('the entity tag is the same for the same entries only', () => {
  const entries = [{ path: 'a/', modifiedAt }, file('a/b', Buffer.from('x')), file('a/c', Buffer.from('y'))];
  const changed = [
    entries.slice(0, 2),
    entries.toReversed(),
    [...entries.slice(0, 2), file('a/c', Buffer.from('z'))],
    [...entries.slice(0, 2), file('a/d', Buffer.from('y'))],
    entries.map((entry) => ({ ...entry, modifiedAt: new Date(0) })),
  ];

  expect(planOf(entries).etag).toBe(planOf(entries).etag);
  expect(new Set([entries, ...changed].map((each) => planOf(each).etag)).size).toBe(6);
});
