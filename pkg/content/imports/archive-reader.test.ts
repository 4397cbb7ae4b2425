import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '../../runtime/clock.ts';
import { ArchiveReader, READER_LIMITS, ReaderGone, type ReaderLimits, type ReadRange } from './archive-reader.ts';
import { LIST_LIMITS } from './plan.policy.ts';

/** Programs that an archive could run if it took the reader over; `say(type, value)` sends a message, `raw` sends bytes. */
const HOSTILE: Readonly<Record<string, readonly [program: string, refusal: string]>> = {
  'says nothing it may say': [`say('Q', {})`, 'corrupt'],
  'says what is no JSON': [`raw(frame('B', Buffer.from('{')))`, 'corrupt'],
  'says more than a message may have': [`raw(Buffer.from([66, 255, 255, 255, 255]))`, 'corrupt'],
  'asks for what is before the archive': [`say('R', { at: -1, length: 1 })`, 'corrupt'],
  'asks for what is behind the archive': [`say('R', { at: 10, length: 1 })`, 'corrupt'],
  'asks for more than a message may have': [`say('R', { at: 0, length: 2 ** 30 })`, 'corrupt'],
  'lists an entry of a negative size': [`say('B', { hasSlash: false }); say('E', [{ ...ENTRY, size: -1 }])`, 'corrupt'],
  'lists an entry without a name': [`say('B', { hasSlash: false }); say('E', [{ ...ENTRY, name: undefined }])`, 'corrupt'],
  'lists entries without end': [
    `say('B', { hasSlash: false }); const all = Array(1000).fill(ENTRY); for (let n = 0; n < 60; n += 1) say('E', all)`,
    'more than 50000 entries',
  ],
  'says nothing at all': [`setInterval(() => {}, 1000)`, 'too long'],
  'asks without end': [
    `process.stdin.on('data', () => say('R', { at: 0, length: 1 })); say('R', { at: 0, length: 1 })`,
    'too long',
  ],
  'lists nothing without end': [`say('B', { hasSlash: false }); setInterval(() => say('E', []), 1)`, 'too long'],
  // Slowly enough that a machine which does not look for some seconds has not run out of memory itself.
  'takes memory without end': [`const held = []; setInterval(() => held.push(Buffer.alloc(2 ** 23, 1)), 50)`, 'too much memory'],
};

/** Reports what a program inside the reader can reach. */
const CURIOUS = `
  const tried = (what) => { try { return String(what()); } catch (error) { return error.code ?? error.name; } };
  import('node:child_process').then(({ execFileSync }) => import('node:fs').then((fs) => say('X', { reason: JSON.stringify([
    Object.keys(process.env),
    tried(() => fs.readFileSync('/etc/passwd')), tried(() => fs.readFileSync('/proc/' + process.ppid + '/environ')),
    tried(() => fs.writeFileSync('/tmp/carrel-written', 'x')), tried(() => execFileSync('/bin/true')),
  ]) })));`;

const PRELUDE = `
  const frame = (type, payload) => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeUInt32LE(payload.length, 1);
    return Buffer.concat([head, payload]);
  };
  const raw = (bytes) => process.stdout.write(bytes);
  const say = (type, value) => raw(frame(type, Buffer.from(JSON.stringify(value))));
  const ENTRY = { name: 'a', flags: 0, method: 0, crc: 0, packed: 3, size: 3, offset: 0, end: 100, nameCrc: 0, mode: 0 };
  process.stdin.resume();
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-reader-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const zeros: ReadRange = async function* (_at, length) {
  yield Buffer.alloc(length);
};

async function reading<T>(
  program: string,
  limits: Partial<ReaderLimits>,
  work: (reader: ArchiveReader) => Promise<T>,
  { read = zeros, size = 10 }: { read?: ReadRange; size?: number } = {},
): Promise<T> {
  const path = join(folder, `${Math.random()}.mjs`);
  writeFileSync(path, `${PRELUDE}${program}`);
  const { signal } = new AbortController();
  const reader = new ArchiveReader({
    size,
    read,
    clock: systemClock,
    signal,
    limits: { ...READER_LIMITS, ...limits },
    program: path,
  });
  try {
    return await work(reader);
  } finally {
    reader.close();
  }
}

async function allOf<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}

const listed = (reader: ArchiveReader) => allOf(reader.entries({ encoding: 'cp437', ...LIST_LIMITS }));

test.each(Object.entries(HOSTILE))('an archive is refused whose reader %s', async (_what, [program, refusal]) => {
  const limits = refusal === 'too long' ? { silenceMs: 1_500 } : {};
  await expect(reading(program, limits, listed)).rejects.toThrow(refusal);
});

test('a reader sees nothing of our environment, no file but its own, writes none and starts nothing', async () => {
  const said = await reading(CURIOUS, {}, async (reader) => listed(reader).then(String, (error: Error) => error.message));

  expect(JSON.parse(said)).toEqual([[], ...Array(4).fill('ERR_ACCESS_DENIED')]);
});

test('an archive is refused whose reader gives empty contents without end', async () => {
  const entry = { name: 'a', flags: 0, method: 0, crc: 1, packed: 3, size: 3, offset: 0, end: 10, nameCrc: 0, mode: 0 };
  const content = (reader: ArchiveReader) => allOf(reader.content(entry));
  const program = `setInterval(() => raw(frame('C', Buffer.alloc(0))), 1)`;

  await expect(reading(program, { silenceMs: 1_500 }, content)).rejects.toThrow('too long');
});

test.each([
  ['more bytes than the entry declares', `raw(frame('C', Buffer.from('abcd')))`, 'more bytes'],
  ['fewer', `raw(frame('C', Buffer.from('ab'))); say('Z', {})`, 'fewer bytes'],
  ['other bytes', `raw(frame('C', Buffer.from('abc'))); say('Z', {})`, 'CRC-32'],
])('a content is refused of which the reader gives %s', async (_what, program, refusal) => {
  const entry = { name: 'a', flags: 0, method: 0, crc: 1, packed: 3, size: 3, offset: 0, end: 10, nameCrc: 0, mode: 0 };
  const content = (reader: ArchiveReader) => allOf(reader.content(entry));

  await expect(reading(program, {}, content)).rejects.toThrow(refusal);
});

test('if the archive cannot be read, the content that needs it and the next one fail at once, with the reason', async () => {
  const entry = { name: 'a', flags: 0, method: 0, crc: 1, packed: 3, size: 3, offset: 0, end: 10, nameCrc: 0, mode: 0 };
  // oxlint-disable-next-line require-yield -- it fails before
  const fails: ReadRange = async function* () {
    throw new Error('the store is unavailable');
  };
  const two = async (reader: ArchiveReader): Promise<string[]> => {
    const said: string[] = [];
    for (const _ of [1, 2]) await allOf(reader.content(entry)).catch(({ message }: Error) => said.push(message));
    return said;
  };

  expect(await reading(`say('R', { at: 0, length: 3 })`, {}, two, { read: fails })).toEqual([
    'the store is unavailable',
    'the store is unavailable',
  ]);
});

test('a reader that was killed while bytes come for it has gone: its pipe is not what failed', async () => {
  // Its request says which process it is. Nothing else runs between its end and the next write.
  const afterItsEnd: ReadRange = async function* (pid, length) {
    process.kill(pid, 'SIGKILL');
    while (!/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')));
    yield Buffer.alloc(length);
  };
  const program = `say('R', { at: process.pid, length: 2 ** 20 }); setInterval(() => {}, 1000)`;

  await expect(reading(program, {}, listed, { read: afterItsEnd, size: 2 ** 32 })).rejects.toThrow(ReaderGone);
});
