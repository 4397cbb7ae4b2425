import { beforeAll, expect, test } from '@jest/globals';
import { deflateRawSync } from 'node:zlib';
import { range, waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { extraField, unicodePath, type ZipEntry, zipBytes, type ZipOptions } from '../../support/data/zip-bytes.ts';
import { faultsOf, objectCount, quotaOf } from '../content/tenant-state.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
type Person = Awaited<ReturnType<typeof tenant.user>>;
let person: Person;

beforeAll(async () => {
  person = await tenant.user({ storage_quota: 64 * 1024 ** 2 });
});

interface Item {
  readonly target: { readonly name: string };
  readonly state: string;
  readonly error: { readonly code: string } | null;
  readonly reason: string | null;
  readonly result: { readonly path: string; readonly adapted: boolean } | null;
}

interface Outcome {
  readonly state: string;
  /** The code of the job or of the refusal. */
  readonly code: string | null;
  readonly message: string;
  /** The results of the entries, or the reasons of their failures. */
  readonly items: readonly string[];
}

/** Imports an archive into a folder of its own. Returns the outcome. */
async function outcomeOf(archive: Buffer, options: Record<string, string> = {}): Promise<Outcome> {
  const { api } = person;
  const { body: folder } = await api.post('/folders', { name: `f${Math.random()}` });
  const { status, body } = await api.upload('/imports', {
    name: 'a.zip',
    file: archive,
    fields: { folder_id: folder.id, ...options },
  });
  if (status !== 202) {
    expect(status).toBe(422);
    return { state: 'refused', code: body.error, message: body.message, items: [] };
  }
  const job = await waitFor('the end of the import', async () => {
    const { body: now } = await api.get(`/jobs/${body.id}`);
    return now.ended_at === null ? undefined : now;
  });
  const { data } = (await api.get(`/jobs/${job.id}/items`, { query: { limit: 200 } })).body;
  const items = data.map(({ target, state, error, reason, result }: Item) => {
    if (state === 'succeeded') return `${target.name} → ${result?.path ?? ''}${result?.adapted ? ' (adapted)' : ''}`;
    return `${target.name}: ${error?.code ?? reason ?? state}`;
  });
  if (job.state !== 'succeeded') await requireNothing(folder.id, job.result);
  return { state: job.state, code: job.error?.code ?? null, message: job.error?.message ?? '', items };
}

/** Nothing of a refused archive is there. */
async function requireNothing(folder: string, result: { files: number; folders: number; bytes: number }): Promise<void> {
  const { body } = await person.api.get(`/folders/${folder}/children`);
  expect([body.data, result.files, result.folders, result.bytes]).toEqual([[], 0, 0, 0]);
}

const zip = (entries: readonly ZipEntry[], options?: ZipOptions): Buffer => zipBytes(entries, options);
const one = (entry: Partial<ZipEntry>, options?: ZipOptions): Buffer =>
  zip([{ name: 'a.txt', content: 'abc', ...entry }], options);
const bytes = (...values: number[]): Buffer => Buffer.from(values);
const became = (...items: string[]) => ({ state: 'succeeded', code: null, items });
const A = 'a.txt → a.txt';
/** Refused with these words. */
const refused = (words: string) => ({ words });
const UTF8 = 0x800;
const SHIFT_JIS = bytes(0x83, 0x65, 0x83, 0x58, 0x83, 0x67, 0x83, 0x5c, 0x2e, 0x74, 0x78, 0x74); // テストソ.txt, with a 0x5c in it

/** The overlap bomb: the local header of each entry is quoted by the one before it, and the last content is shared. */
function quoted(): Buffer {
  const kernel = zip([{ name: 'a', content: Buffer.alloc(10_000) }]);
  const directory = kernel.length - 22 - 47;
  const central = (offset: number): Buffer => {
    const header = Buffer.from(kernel.subarray(directory, directory + 47));
    header.writeUInt32LE(offset, 42);
    return header;
  };
  const all = Buffer.concat([central(0), central(5), central(9)]);
  const end = Buffer.from(kernel.subarray(-22));
  end.writeUInt16LE(3, 8);
  end.writeUInt16LE(3, 10);
  end.writeUInt32LE(all.length, 12);
  return Buffer.concat([kernel.subarray(0, directory), all, end]);
}

/** Returns an archive whose central directory lists one content many times, by different names. */
const shared = (count: number): Buffer =>
  zip([
    { name: '0', content: 'shared' },
    ...range(count).map((n) => ({ name: `${n + 1}`, content: '', central: { offset: 0 } })),
  ]);

const deflated = (content: Buffer | string, more = Buffer.alloc(0)): Buffer => Buffer.concat([deflateRawSync(content), more]);

const TABLE: Readonly<Record<string, readonly [archive: () => Buffer, outcome: object, options?: Record<string, string>]>> = {
  // Archives of tools.
  'an empty archive': [() => zip([]), became()],
  'Info-ZIP on Unix': [
    () =>
      zip([
        { name: 'd/', mode: 0o040755 },
        { name: 'd/a.txt', content: 'a', mode: 0o100644, extra: extraField(0x5455, Buffer.alloc(5)) },
      ]),
    became('d/ → d', 'd/a.txt → d/a.txt'),
  ],
  'ditto on macOS': [
    () =>
      zip([
        { name: 'Übung.txt'.normalize('NFD'), content: 'a', mode: 0o100644, descriptor: true },
        { name: '__MACOSX/._Übung.txt', content: 'x', mode: 0o100644, descriptor: true },
        { name: '.DS_Store', content: 'x', descriptor: true },
      ]),
    became(`${'Übung.txt'.normalize('NFD')} → Übung.txt`, '__MACOSX/._Übung.txt: system_file', '.DS_Store: system_file'),
  ],
  'the Explorer of Windows': [
    () =>
      zip([
        { name: bytes(0x81, 0x62, 0x75, 0x6e, 0x67, 0x2e, 0x74, 0x78, 0x74), content: 'a' },
        { name: 'd/Thumbs.db', content: 'x' },
      ]),
    became('übung.txt → übung.txt', 'd/Thumbs.db: system_file'),
  ],
  '.NET with backslashes': [
    () => zip([{ name: 'd\\' }, { name: 'd\\e\\a.txt', content: 'a' }]),
    became('d\\ → d', 'd\\e\\a.txt → d/e/a.txt'),
  ],
  'jar of Java': [
    () =>
      zip([
        { name: 'META-INF/', extra: extraField(0xcafe, Buffer.alloc(0)), flags: UTF8 },
        { name: 'META-INF/MANIFEST.MF', content: 'v', descriptor: true, flags: UTF8 },
      ]),
    became('META-INF/ → META-INF', 'META-INF/MANIFEST.MF → META-INF/MANIFEST.MF'),
  ],
  '7-Zip': [
    () => zip([{ name: 'Übung.txt', content: 'a', flags: UTF8, mode: 0o100644, extra: extraField(0x000a, Buffer.alloc(32)) }]),
    became('Übung.txt → Übung.txt'),
  ],
  'zip64 in a stream, as Python writes it': [() => one({ zip64: true }, { zip64: true }), became(A)],
  'zip64 in the end alone': [() => one({}, { zip64: true }), became(A)],
  'a comment': [() => one({}, { comment: Buffer.from('made by hand') }), became(A)],
  'the longest comment': [() => one({}, { comment: Buffer.alloc(65_535, 'c') }), became(A)],
  'data descriptors': [
    () =>
      zip([
        { name: 'a.txt', content: 'abc', descriptor: true },
        { name: 'b.txt', content: 'b', descriptor: true },
      ]),
    became(A, 'b.txt → b.txt'),
  ],
  'stored contents': [() => one({ method: 0 }), became(A)],
  'a content without bytes, deflated': [() => one({ content: '', method: 8 }), became(A)],
  'an archive in an archive, which stays one': [
    () => zip([{ name: 'inner.zip', content: one({}) }]),
    became('inner.zip → inner.zip'),
  ],

  // Names.
  'names in UTF-8 without the flag': [() => one({ name: '東京.txt' }), became('東京.txt → 東京.txt')],
  'a name in CP437': [() => one({ name: bytes(0x84, 0x2e, 0x74) }), became('ä.t → ä.t')],
  'box drawing of CP437': [() => one({ name: bytes(0xc9, 0xcd, 0xbb) }), became('╔═╗ → ╔═╗')],
  'a name in CP932': [() => one({ name: SHIFT_JIS }), became('テストソ.txt → テストソ.txt'), { encoding: 'shift_jis' }],
  'a name in GBK': [() => one({ name: bytes(0xd6, 0xd0, 0xce, 0xc4) }), became('中文 → 中文'), { encoding: 'gbk' }],
  'the Unicode path field': [() => one({ name: bytes(0x81), extra: unicodePath(bytes(0x81), 'ü.txt') }), became('ü.txt → ü.txt')],
  'a Unicode path field of another name': [
    () => one({ name: bytes(0x81), extra: unicodePath(bytes(0x81), 'x.txt', 1) }),
    became('ü → ü'),
  ],
  'a Unicode path field beside the flag': [
    () => one({ flags: UTF8, extra: unicodePath(Buffer.from('a.txt'), 'x.txt') }),
    became(A),
  ],
  'a Unicode path field that leads outside': [
    () => one({ extra: unicodePath(Buffer.from('a.txt'), '../x.txt') }),
    refused('outside of the folder'),
  ],
  'the flag of UTF-8 on what is none': [() => one({ name: bytes(0x61, 0xff), flags: UTF8 }), became('a\ufffd → a (adapted)')],
  'a backslash beside slashes': [
    () =>
      zip([
        { name: 'd/', content: '' },
        { name: 'a\\b.txt', content: 'a' },
      ]),
    became('d/ → d', 'a\\b.txt → a-b.txt (adapted)'),
  ],
  'a control character': [() => one({ name: 'a\u0007b' }), became('a\u0007b → ab (adapted)')],
  'a direction of text': [() => one({ name: 'a\u202egpj.exe' }), became('a\u202egpj.exe → agpj.exe (adapted)')],
  'a name of 300 characters': [() => one({ name: 'n'.repeat(300) }), became(`${'n'.repeat(300)} → ${'n'.repeat(255)} (adapted)`)],
  'a name of spaces': [() => one({ name: 'd/   ' }), became('d/    → d/_ (adapted)')],
  'dots and doubled slashes': [() => zip([{ name: './a//b/./c.txt', content: 'a' }]), became('./a//b/./c.txt → a/b/c.txt')],
  'one name twice': [
    () =>
      zip([
        { name: 'a.txt', content: '1' },
        { name: 'a.txt', content: '2' },
        { name: 'a.txt', content: '3' },
      ]),
    became(A, 'a.txt → a (1).txt (adapted)', 'a.txt → a (2).txt (adapted)'),
  ],
  'names that differ by case': [
    () =>
      zip([
        { name: 'a.txt', content: '1' },
        { name: 'A.TXT', content: '2' },
      ]),
    became(A, 'A.TXT → A.TXT'),
  ],
  'a name composed and decomposed': [
    () =>
      zip([
        { name: 'ü', content: '1' },
        { name: 'ü'.normalize('NFD'), content: '2' },
      ]),
    became('ü → ü', `${'ü'.normalize('NFD')} → ü (1) (adapted)`),
  ],
  'a file and a folder of one name': [
    () =>
      zip([
        { name: 'a', content: '1' },
        { name: 'a/b', content: '2' },
      ]),
    became('a → a', 'a/b → a/b'),
  ],
  'a folder twice': [() => zip([{ name: 'd/' }, { name: 'd/' }]), became('d/ → d', 'd/ → d')],
  'an entry that is listed twice': [
    () =>
      zip([
        { name: 'a.txt', content: 'a' },
        { name: 'a.txt', content: 'a', central: { offset: 0 } },
      ]),
    became(A, 'a.txt → a (1).txt (adapted)'),
  ],
  'a path of 2,048 characters': [
    () => one({ name: `${'d/'.repeat(20)}${'n'.repeat(200)}/`.repeat(8).slice(0, 2_047) + 'x' }),
    { state: 'succeeded', code: null },
  ],

  // Paths that lead elsewhere.
  'a path that leads out': [() => one({ name: '../a.txt' }), refused('outside of the folder')],
  'a path that leads out and back': [() => one({ name: 'd/../../f/a.txt' }), refused('outside of the folder')],
  'a path that leads out by backslashes': [() => one({ name: '..\\..\\a.txt' }), refused('outside of the folder')],
  'an absolute path': [() => one({ name: '/etc/passwd' }), refused('absolute path')],
  'a drive': [() => one({ name: 'C:\\a.txt' }), refused('absolute path')],
  'a share of Windows': [() => one({ name: '\\\\server\\share\\a.txt' }), refused('absolute path')],
  'a zero byte in a name': [() => one({ name: 'a.txt\0.exe' }), refused('zero byte')],
  'a path of 2,049 characters': [() => one({ name: 'd/'.repeat(1_024) + 'x' }), refused('more than 2048 characters')],
  'an entry without a name': [() => one({ name: '' }), refused('has no name')],
  'a symbolic link': [() => one({ mode: 0o120777 }), refused('is a link')],
  'a device': [() => one({ mode: 0o020666 }), refused('is a device')],
  'a pipe': [() => one({ mode: 0o010666 }), refused('is a device')],

  // Bombs and what does not fit together.
  'contents of more than 1,000 times the archive': [() => one({ content: Buffer.alloc(20_000_000) }), refused('1000 times')],
  'a declared size of 5 GiB in zip64': [
    () => one({ zip64: true, central: { size: 5 * 1024 ** 3 } }, { zip64: true }),
    refused('1000 times'),
  ],
  'a declared size beyond the quota': [
    () =>
      zip(
        range(7)
          .map((n) => ({
            name: `${n}`,
            content: Buffer.alloc(10_000_000, `abcd${n}`),
            packed: deflated(Buffer.alloc(10_000_000, `abcd${n}`)),
          }))
          .concat([{ name: 'pad', content: Buffer.alloc(60_000, 'p'), packed: Buffer.alloc(60_000, 'p') }])
          .map((entry) => (entry.name === 'pad' ? { ...entry, method: 0 } : entry)),
      ),
    { state: 'failed', code: 'quota_exceeded' },
  ],
  'entries that quote each other': [quoted, refused('overlap')],
  'a content that many names share': [() => shared(100), refused('overlap')],
  'an entry that reaches into the central directory': [
    () => one({ method: 0, central: { packed: 300, size: 300 } }),
    refused('overlap its central directory'),
  ],
  'a quine, which is an archive in itself': [
    () => zip([{ name: 'r/r.zip', content: one({}), method: 0 }]),
    became('r/r.zip → r/r.zip'),
  ],
  'an entry with more bytes than it declares': [() => one({ local: { size: 2 }, central: { size: 2 } }), refused('')],
  'a large entry with more bytes than it declares': [
    () => one({ content: Buffer.alloc(300_000, 'ab'), local: { size: 200_000 }, central: { size: 200_000 } }),
    refused('more bytes than it declares'),
  ],
  'an entry with fewer bytes than it declares': [() => one({ local: { size: 4 }, central: { size: 4 } }), refused('fewer bytes')],
  'bytes behind a deflated content': [() => one({ packed: deflated('abc', Buffer.from('trailer')) }), refused('corrupt')],
  'bytes behind a large deflated content': [
    () => one({ content: Buffer.alloc(300_000, 'ab'), packed: deflated(Buffer.alloc(300_000, 'ab'), Buffer.from('trailer')) }),
    refused('corrupt'),
  ],
  'a deflated content that is cut short': [
    () => one({ content: 'abcabcabc', packed: deflated('abcabcabc').subarray(0, 3) }),
    refused('corrupt'),
  ],
  'a content that is not deflate': [() => one({ packed: Buffer.from('not deflate') }), refused('corrupt')],
  'a wrong CRC-32': [() => one({ local: { crc: 1 }, central: { crc: 1 } }), refused('CRC-32 is wrong')],
  'a wrong CRC-32 of the last of many': [
    () =>
      zip([
        ...range(150).map((n) => ({ name: `${n}`, content: `${n}` })),
        { name: 'last', content: 'x', local: { crc: 1 }, central: { crc: 1 } },
      ]),
    refused('CRC-32 is wrong'),
  ],
  'a wrong CRC-32 of no bytes': [() => one({ content: '', local: { crc: 1 }, central: { crc: 1 } }), refused('CRC-32 is wrong')],
  'another name in the local header': [() => one({ local: { name: 'b.txt' } }), refused('local header')],
  'another size in the local header': [() => one({ local: { size: 9 } }), refused('local header')],
  'another method in the local header': [() => one({ local: { method: 0 } }), refused('local header')],
  'a local header elsewhere': [() => one({ central: { offset: 5 } }), refused('')],
  'an offset beyond the archive': [() => one({ central: { offset: 1_000_000 } }), refused('')],
  'an encrypted entry': [() => one({ flags: 1 }), refused('is encrypted')],
  'strong encryption': [() => one({ flags: 0x41 }), refused('corrupt')],
  'an encrypted directory': [() => one({ flags: 0x2000 }), refused('is encrypted')],
  bzip2: [() => one({ method: 12 }), refused('method 12')],
  LZMA: [() => one({ method: 14 }), refused('method 14')],
  deflate64: [() => one({ method: 9 }), refused('method 9')],
  zstd: [() => one({ method: 93 }), refused('method 93')],
  'a stored entry with two sizes': [() => one({ method: 0, local: { size: 4 }, central: { size: 4 } }), refused('')],
  'a folder with content': [() => one({ name: 'd/' }), refused('folder with content')],

  // Ends.
  'no archive': [() => Buffer.from('hello, this is no archive at all'), { state: 'refused', code: 'archive_refused' }],
  'no bytes': [() => Buffer.alloc(0), { state: 'refused', code: 'archive_refused' }],
  'an archive that is cut short': [
    () => one({ content: 'a'.repeat(100) }).subarray(0, -30),
    { state: 'refused', code: 'archive_refused' },
  ],
  'an archive whose beginning is missing': [
    () => one({ content: Buffer.from('a'.repeat(100)) }).subarray(30),
    { state: 'refused', code: 'archive_refused' },
  ],
  'bytes behind the end': [() => Buffer.concat([one({}), Buffer.from('trailer')]), { state: 'refused', code: 'archive_refused' }],
  'a program before the archive': [() => one({}, { prefix: Buffer.from('MZ a program that extracts itself') }), refused('')],
  'one of several parts': [() => one({}, { disk: 1 }), { state: 'refused', code: 'archive_refused' }],
  'one of several parts, in zip64': [() => one({}, { disk: 1, zip64: true }), refused('corrupt')],
  'more entries than it says': [
    () =>
      zip(
        [
          { name: 'a', content: '1' },
          { name: 'b', content: '2' },
        ],
        { count: 1 },
      ),
    refused('more entries than it says'),
  ],
  'fewer entries than it says': [() => one({}, { count: 2 }), refused('points outside of itself')],
  'more than 50,000 entries': [() => one({}, { count: 50_001 }), { state: 'refused', code: 'archive_refused' }],
  'more than 50,000 entries, in zip64': [() => one({}, { count: 50_001, zip64: true }), refused('more than 50000 entries')],
  'a central directory beyond the archive': [
    () => one({}, { directoryOffset: 1_000_000 }),
    { state: 'refused', code: 'archive_refused' },
  ],
  'a central directory beyond the archive, in zip64': [() => one({}, { directoryOffset: 2 ** 40, zip64: true }), refused('')],
};

/** The number of imports that a worker runs at once for one tenant. */
const AT_ONCE = 4;
const outcomes = new Map<string, Outcome>();

beforeAll(async () => {
  const queue = Object.entries(TABLE).values();
  const next = async (): Promise<void> => {
    for (const [name, [archive, , options]] of queue) outcomes.set(name, await outcomeOf(archive(), options));
  };
  await Promise.all(range(AT_ONCE).map(next));
}, 180_000);

test.each(Object.entries(TABLE))('%s', (name, [, wanted]) => {
  const outcome = outcomes.get(name);

  if ('words' in wanted) {
    expect(outcome).toMatchObject({ state: 'failed', code: 'archive_refused' });
    expect(outcome?.message).toContain(wanted.words);
  } else expect(outcome).toMatchObject(wanted);
});

test('after all of them nothing is stored that no file has, and what is reserved and counted is right', async () => {
  // A refused import gives back what it reserved a moment after its end.
  await waitFor('what was stored and reserved to go', async () => {
    expect(await faultsOf(tenant)).toEqual([]);
    for (const table of ['storage_reservations', 'partial_uploads'])
      expect([table, await tenant.db.query(`SELECT FROM ${table}`)]).toEqual([table, []]);
    return true;
  });

  expect(await quotaOf(tenant, person.user.id)).toBeGreaterThan(0);
  expect(await objectCount(tenant)).toBeGreaterThan(0);
});
