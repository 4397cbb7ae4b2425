import { once } from 'node:events';
import { readSync, writeSync } from 'node:fs';
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import { type Entry, fromRandomAccessReader, RandomAccessReader, type ZipFile } from 'yauzl';
import { requireApart, requireSame } from './archive-consistency.ts';
import { CORRUPT, type ListedEntry, type ListRequest, type OpenRequest, Refused } from './archive-entry.ts';
import { nameReader } from './entry-name.ts';
import { drained, FRAME_MAX_BYTES, type Frame, frameHead, HEAD_BYTES, jsonFrame, lengthIn, typeIn } from './frames.ts';

/**
 * Reads archives in a separate process that has no secrets, no store and no files. It requests ranges on its standard output, and
 * receives them on its standard input. An archive may take over the process, so archive-reader.ts checks its whole output.
 */

const [STDIN, STDOUT] = [0, 1];

function say(bytes: Buffer): void {
  for (let said = 0; said < bytes.length;) said += writeSync(STDOUT, bytes, said);
}

/** Messages that arrived while this process waited for bytes. */
const waiting: Frame[] = [];

/** Every read uses the same buffer, because a stream would leave as much garbage as it reads. */
const head = Buffer.allocUnsafeSlow(HEAD_BYTES);
const payloads = Buffer.allocUnsafeSlow(FRAME_MAX_BYTES);

/** Waits for bytes, and ends the process if none follow. */
function fill(buffer: Buffer): Buffer {
  for (let filled = 0; filled < buffer.length;) {
    const count = readSync(STDIN, buffer, filled, buffer.length - filled, null);
    if (count === 0) process.exit(0);
    filled += count;
  }
  return buffer;
}

/** Returns the next frame; its payload is valid until the next call. */
function received(): Frame {
  fill(head);
  return { type: typeIn(head), payload: fill(payloads.subarray(0, lengthIn(head))) };
}

/** Returns bytes that are valid until the next call. */
function bytesReceived(): Buffer {
  for (;;) {
    const said = received();
    if (said.type === 'D') return said.payload;
    waiting.push({ ...said, payload: Buffer.from(said.payload) });
  }
}

const AHEAD_BYTES = 512 * 1024;
/** After a jump to another position, little of what is read ahead is needed. */
const ELSEWHERE_BYTES = 64 * 1024;

class Ranges extends RandomAccessReader {
  readonly #size: number;
  #start = 0;
  #bytes = Buffer.alloc(0);

  constructor(size: number) {
    super();
    this.#size = size;
  }

  /** Returns at most AHEAD_BYTES, which are valid until the next call. */
  async bytes(at: number, length: number): Promise<Buffer> {
    const end = this.#start + this.#bytes.length;
    if (at < 0 || at + length > this.#size) throw new Refused('is cut short, or points outside of itself');
    if (at < this.#start || at + length > end) {
      const isNext = at >= this.#start && at <= end;
      const wanted = Math.min(Math.max(length, isNext ? AHEAD_BYTES : ELSEWHERE_BYTES), this.#size - at);
      say(jsonFrame('R', { at, length: wanted }));
      this.#bytes = bytesReceived() as Buffer<ArrayBuffer>;
      this.#start = at;
    }
    return this.#bytes.subarray(at - this.#start, at - this.#start + length);
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, callback: (error: Error | null) => void): void {
    this.bytes(position, length).then(
      (bytes) => {
        bytes.copy(buffer, offset);
        callback(null);
      },
      (error: unknown) => callback(error as Error),
    );
  }
}

const opened = (ranges: Ranges, size: number): Promise<ZipFile> =>
  new Promise((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false, decodeStrings: false };
    fromRandomAccessReader(ranges, size, options, (error, zip) => (error ? reject(error) : resolve(zip)));
  });

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  for (let read = 0; read < zip.entryCount; read += 1) {
    const next = once(zip, 'entry') as Promise<[Entry]>;
    zip.readEntry();
    yield (await next)[0];
  }
}

const ENTRIES_PER_FRAME = 100;
/** The bytes of names in a frame; escaped, they are six times as long at most. */
const NAMES_PER_FRAME = 64 * 1024;
/** Behind the last entry: the digital signature, the end, the end of zip64. */
const AFTER_ENTRIES = [0x05054b50, 0x06054b50, 0x06064b50];

/** Reads the central directory twice: what depends on all entries is known before the first one is sent. */
async function list({ size, encoding, most, mostDirectoryBytes }: ListRequest): Promise<void> {
  const ranges = new Ranges(size);
  let zip = await opened(ranges, size);
  if (zip.entryCount > most) throw new Refused(`has more than ${most} entries`);
  const cursor = (): number => Number(zip.readEntryCursor);
  const start = cursor();
  const read = nameReader(encoding);
  const spans: { readonly offset: number; readonly end: number; readonly nameCrc: number }[] = [];
  let hasSlash = false;
  for await (const entry of entriesOf(zip)) {
    if (cursor() - start > mostDirectoryBytes)
      throw new Refused(`has a central directory of more than ${mostDirectoryBytes} bytes`);
    const offset = entry.relativeOffsetOfLocalHeader;
    const nameCrc = crc32(entry.fileNameRaw);
    spans.push({ offset, end: offset + 30 + entry.fileNameLength + entry.compressedSize, nameCrc });
    hasSlash ||= nameOf(read, entry).includes('/');
  }
  if (!AFTER_ENTRIES.includes((await ranges.bytes(cursor(), 4)).readUInt32LE(0)))
    throw new Refused('has more entries than it says, as the Archive Utility of macOS writes them: make it with ditto or 7-Zip');
  const ends = requireApart(spans, start);
  say(jsonFrame('B', { hasSlash }));
  zip = await opened(ranges, size);
  let said: ListedEntry[] = [];
  let names = 0;
  for await (const entry of entriesOf(zip)) {
    const name = nameOf(read, entry);
    said.push({
      name,
      flags: entry.generalPurposeBitFlag,
      method: entry.compressionMethod,
      crc: entry.crc32,
      packed: entry.compressedSize,
      size: entry.uncompressedSize,
      offset: entry.relativeOffsetOfLocalHeader,
      end: ends.get(entry.relativeOffsetOfLocalHeader) ?? 0,
      nameCrc: crc32(entry.fileNameRaw),
      mode: entry.externalFileAttributes >>> 16,
    });
    names += name.length;
    if (said.length < ENTRIES_PER_FRAME && names < NAMES_PER_FRAME) continue;
    say(jsonFrame('E', said));
    [said, names] = [[], 0];
  }
  say(jsonFrame('E', said));
  say(jsonFrame('Z', {}));
}

const nameOf = (read: ReturnType<typeof nameReader>, { generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string =>
  read({ flags: generalPurposeBitFlag, bytes: fileNameRaw, extraFields });

/** With its head, a chunk is as large as one read of the parent, so that the parent copies none. */
const CHUNK_BYTES = 64 * 1024 - HEAD_BYTES;

/** Writes to a pipe are synchronous. */
function sayContent(bytes: Buffer): void {
  say(frameHead('C', bytes.length));
  say(bytes);
}

/** Inflated at once: a stream for each of many small entries costs more than their bytes. */
const SMALL_BYTES = 128 * 1024;

let open: { readonly size: number; readonly ranges: Ranges } | undefined;

/** Sends the content of an entry. */
async function read({ archive, entry }: OpenRequest): Promise<void> {
  const { ranges } = open?.size === archive ? open : (open = { size: archive, ranges: new Ranges(archive) });
  const head = Buffer.from(await ranges.bytes(entry.offset, 30));
  if (head.readUInt32LE(0) !== 0x04034b50) throw new Refused(CORRUPT);
  const [nameLength, extraLength] = [head.readUInt16LE(26), head.readUInt16LE(28)];
  const nameCrc = crc32(await ranges.bytes(entry.offset + 30, nameLength));
  requireSame(entry, { head, nameCrc });
  const start = entry.offset + 30 + nameLength + extraLength;
  if (start + entry.packed > entry.end) throw new Refused('has entries that overlap');
  if (entry.method === 0) await stored(ranges, start, entry.packed);
  else if (entry.packed <= CHUNK_BYTES && entry.size <= SMALL_BYTES)
    inflatedAtOnce(await ranges.bytes(start, entry.packed), entry);
  else await inflated(ranges, start, entry);
  say(jsonFrame('Z', {}));
}

async function stored(ranges: Ranges, start: number, length: number): Promise<void> {
  for (let at = 0; at < length; at += CHUNK_BYTES) sayContent(await ranges.bytes(start + at, Math.min(CHUNK_BYTES, length - at)));
}

function inflatedAtOnce(packed: Buffer, { size }: ListedEntry): void {
  // `info` gives the engine too, which knows how much of the input it took.
  const { buffer, engine } = inflateRawSync(packed, { maxOutputLength: size + 1, info: true } as object) as unknown as {
    readonly buffer: Buffer;
    readonly engine: { readonly bytesWritten: number };
  };
  if (engine.bytesWritten !== packed.length) throw new Refused(CORRUPT);
  for (let at = 0; at < buffer.length; at += CHUNK_BYTES) sayContent(buffer.subarray(at, at + CHUNK_BYTES));
}

async function inflated(ranges: Ranges, start: number, { packed, size }: ListedEntry): Promise<void> {
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  const feeding = (async () => {
    for (let at = 0; at < packed && !inflate.destroyed; at += CHUNK_BYTES) {
      const chunk = Buffer.from(await ranges.bytes(start + at, Math.min(CHUNK_BYTES, packed - at)));
      if (!inflate.write(chunk)) await drained(inflate);
    }
    inflate.end();
  })();
  feeding.catch((error: unknown) => inflate.destroy(error as Error));
  let bytes = 0;
  for await (const chunk of inflate as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > size) throw new Refused('has an entry with more bytes than it declares');
    sayContent(chunk);
  }
  await feeding;
  if (inflate.bytesWritten !== packed) throw new Refused(CORRUPT);
}

for (;;) {
  const { type, payload } = waiting.shift() ?? received();
  try {
    const request: unknown = JSON.parse(payload.toString());
    await (type === 'L' ? list(request as ListRequest) : read(request as OpenRequest));
  } catch (error) {
    // The archive is the cause of every error here.
    say(jsonFrame('X', { reason: error instanceof Refused ? error.message : CORRUPT }));
  }
}
