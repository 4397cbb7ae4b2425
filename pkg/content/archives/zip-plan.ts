import { createHash } from 'node:crypto';
import { setImmediate as otherWork } from 'node:timers/promises';
import { PackedLog } from './packed-log.ts';
import {
  directoryEnd,
  directoryRecord,
  directoryRecordBytes,
  localHeader,
  localHeaderBytes,
  UINT16_MAX,
  type ZipHead,
} from './zip-format.ts';

/** An entry whose header is known before its content is read. */
export interface PlannedEntry {
  /** The path of the ZipEntry. */
  readonly path: string;
  readonly modifiedAt: Date;
  /** Left out for a folder. */
  readonly file?: {
    /** bytes */
    readonly size: number;
    readonly crc: number;
    /** Names content that never changes. */
    readonly key: string;
  };
}

/** An entry in its plan. */
export interface EntryPosition {
  /** Position in the order in which entries were added, including those left out. */
  readonly index: number;
  /** Offset of the entry in the archive, in bytes. */
  readonly at: number;
  /** The path in UTF-8. */
  readonly name: Buffer;
}

/** Bytes of an archive that follow each other: `head`, then those of a content from `start` to before `end`. */
export interface ZipPart {
  /** Null: a part of the directory. */
  readonly entry: EntryPosition | null;
  readonly head: Buffer;
  readonly key: string;
  /** Bytes of the whole content. */
  readonly size: number;
  readonly start: number;
  readonly end: number;
}

const FIXED_BYTES = 26;
const DIRECTORY_PART_BYTES = 64 * 1024;
/** The number of entries to process before yielding to other work of the process. */
const ENTRIES_AT_ONCE = 2_000;

/**
 * A ZIP archive whose layout is determined before any content is read: sizes and CRC-32 precede the contents, nothing is
 * compressed, and Zip64 is used if needed (PKWARE APPNOTE 6.3.10). It therefore has a length, and any part of it can be produced
 * independently.
 *
 * Memory holds the packed entries: about 60 bytes each, plus the part of its path that differs from the previous one.
 */
export class ZipPlan {
  readonly #log: PackedLog;
  readonly #hash = createHash('sha256');
  /** Indices of entries. */
  readonly #leftOut = new Set<number>();
  #count = 0;
  #contentBytes = 0;
  #directoryBytes = 0;
  #etag: string | undefined;

  constructor(log = new PackedLog()) {
    this.#log = log;
  }

  /** Returns the plan that `pack` gave, without some of its entries. */
  static async unpack(packed: Buffer, leftOut: Iterable<number>): Promise<ZipPlan> {
    const plan = new ZipPlan(PackedLog.unpack(packed));
    await plan.leaveOut(leftOut);
    return plan;
  }

  /** Returns all entries, those left out too, packed to be stored. */
  pack(): Buffer {
    return this.#log.pack();
  }

  /**
   * Leaves out entries by their indices. Everything behind the first of them moves towards the beginning. The entity tag does not
   * change.
   */
  async leaveOut(indices: Iterable<number>): Promise<void> {
    for (const index of indices) this.#leftOut.add(index);
    let [count, contentBytes, directoryBytes] = [0, 0, 0];
    for (const { head } of this.#entries()) {
      directoryBytes += directoryRecordBytes(head, contentBytes);
      contentBytes += localHeaderBytes(head) + head.size;
      if ((count += 1) % ENTRIES_AT_ONCE === 0) await otherWork();
    }
    [this.#count, this.#contentBytes, this.#directoryBytes] = [count, contentBytes, directoryBytes];
  }

  /** Adds an entry, in the order in which they are unpacked. */
  add(entry: PlannedEntry): void {
    const record = packed(entry);
    const head = headOf(record, 0);
    this.#log.add(record);
    this.#hash.update(record);
    this.#directoryBytes += directoryRecordBytes(head, this.#contentBytes);
    this.#contentBytes += localHeaderBytes(head) + head.size;
    this.#count += 1;
  }

  get heldBytes(): number {
    return this.#log.heldBytes;
  }

  /** The bytes of the whole archive. */
  get bytes(): number {
    return this.#contentBytes + this.#directoryBytes + this.#end().length;
  }

  /** Two tags are equal only if the archives have equal bytes. No entry may be added afterwards. */
  get etag(): string {
    return (this.#etag ??= this.#hash.digest('base64url'));
  }

  /** Yields the bytes from `start` to before `end`. */
  async *parts(start = 0, end = this.bytes): AsyncGenerator<ZipPart> {
    let [at, passed] = [0, 0];
    for (const { index, head, key } of this.#entries()) {
      if (at >= end) return;
      const from = at + localHeaderBytes(head);
      const to = from + head.size;
      if (to > start) {
        const within = (offset: number): number => Math.min(Math.max(offset - from, 0), head.size);
        const entry = { index, at, name: head.name };
        yield {
          entry,
          head: overlap(localHeader(head), at, start, end),
          key,
          size: head.size,
          start: within(start),
          end: within(end),
        };
      }
      at = to;
      if ((passed += 1) % ENTRIES_AT_ONCE === 0) await otherWork();
    }
    if (at < end) yield* this.#directory(start, end);
  }

  async *#directory(start: number, end: number): AsyncGenerator<ZipPart> {
    let [at, offset, passed, bytes] = [this.#contentBytes, 0, 0, 0];
    let records: Buffer[] = [];
    for (const { head } of this.#entries()) {
      if (at >= end) break;
      const to = at + directoryRecordBytes(head, offset);
      if (to > start) bytes += records[records.push(overlap(directoryRecord(head, offset), at, start, end)) - 1]!.length;
      at = to;
      offset += localHeaderBytes(head) + head.size;
      if (bytes >= DIRECTORY_PART_BYTES) {
        yield onlyHead(Buffer.concat(records));
        [records, bytes] = [[], 0];
      }
      if ((passed += 1) % ENTRIES_AT_ONCE === 0) await otherWork();
    }
    if (at < end) records.push(overlap(this.#end(), at, start, end));
    yield onlyHead(Buffer.concat(records));
  }

  #end(): Buffer {
    return directoryEnd(this.#count, this.#directoryBytes, this.#contentBytes);
  }

  *#entries(): Generator<{ index: number; head: ZipHead; key: string }> {
    let index = 0;
    for (const piece of this.#log.pieces())
      for (let at = 0; at < piece.length; index += 1) {
        const head = headOf(piece, at);
        const keyAt = at + FIXED_BYTES + head.name.length;
        const keyBytes = piece.readUInt16LE(at + 2);
        if (!this.#leftOut.has(index)) yield { index, head, key: piece.toString('latin1', keyAt, keyAt + keyBytes) };
        at = keyAt + keyBytes;
      }
  }
}

const onlyHead = (head: Buffer): ZipPart => ({ entry: null, head, key: '', size: 0, start: 0, end: 0 });

/** Returns the part of `bytes`, which begin at `at`, from `start` to before `end`. */
const overlap = (bytes: Buffer, at: number, start: number, end: number): Buffer =>
  bytes.subarray(Math.max(0, start - at), Math.max(0, Math.min(bytes.length, end - at)));

/** Lengths of name and key, CRC-32, whether it is a folder, size, time, name, key. */
function packed({ path, modifiedAt, file }: PlannedEntry): Buffer {
  const [name, key] = [Buffer.from(path), Buffer.from(file?.key ?? '', 'latin1')];
  if (name.length > UINT16_MAX) throw new RangeError('a path in an archive is longer than 65,535 bytes');
  const fixed = Buffer.alloc(FIXED_BYTES);
  fixed.writeUInt16LE(name.length, 0);
  fixed.writeUInt16LE(key.length, 2);
  fixed.writeUInt32LE(file?.crc ?? 0, 4);
  fixed.writeUInt16LE(file ? 0 : 1, 8);
  fixed.writeDoubleLE(file?.size ?? 0, 10);
  fixed.writeDoubleLE(modifiedAt.getTime(), 18);
  return Buffer.concat([fixed, name, key]);
}

function headOf(record: Buffer, at: number): ZipHead {
  const nameAt = at + FIXED_BYTES;
  return {
    name: record.subarray(nameAt, nameAt + record.readUInt16LE(at)),
    crc: record.readUInt32LE(at + 4),
    isFolder: record.readUInt16LE(at + 8) === 1,
    size: record.readDoubleLE(at + 10),
    modifiedAt: new Date(record.readDoubleLE(at + 18)),
    isKnownBefore: true,
  };
}
