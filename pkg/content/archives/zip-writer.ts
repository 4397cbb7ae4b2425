import { crc32 } from 'node:zlib';
import { PackedLog } from './packed-log.ts';

/** An entry of a ZIP archive; folders and files come in the order in which they are unpacked. */
export interface ZipEntry {
  /** With `/` between its parts and none at its beginning; that of a folder ends in `/`. At most 65,535 bytes of UTF-8. */
  readonly path: string;
  readonly modifiedAt: Date;
  /** Left out for a folder. */
  readonly file?: {
    /** Bytes; the archive breaks off where the content has another number. */
    readonly size: number;
    /** Asked for when its turn comes. */
    readonly content: AsyncIterable<Buffer>;
  };
}

/**
 * A ZIP archive as it is read: names in UTF-8, Zip64 where it is needed, nothing compressed, since most files are already.
 * (PKWARE APPNOTE 6.3.10; sizes and CRC-32 of a file follow its content, §4.3.9.)
 *
 * Nothing is read before it is asked for. In memory are one chunk of a file, and of each entry its packed record for the directory at the end, which
 * is unpacked piece by piece: about 30 bytes and what its name adds to that of the entry before. `hold` gets the bytes that are held so, and may throw.
 */
export async function* writeZip(entries: AsyncIterable<ZipEntry>, hold: (bytes: number) => void = () => undefined): AsyncGenerator<Buffer> {
  const directory = new PackedLog();
  let [offset, count] = [0, 0];
  for await (const entry of entries) {
    const name = Buffer.from(entry.path);
    if (name.length > UINT16_MAX) throw new RangeError('a path in an archive is longer than 65,535 bytes');
    const written: Written = { name, entry, offset, crc: 0, size: entry.file?.size ?? 0 };
    const header = localHeader(written);
    yield header;
    offset += header.length;
    if (entry.file) {
      let bytes = 0;
      for await (const chunk of entry.file.content) {
        written.crc = crc32(chunk, written.crc);
        bytes += chunk.length;
        if (bytes > written.size) break;
        yield chunk;
      }
      if (bytes !== written.size) throw new Error(`a file of an archive did not have its ${written.size} bytes`);
      const descriptor = dataDescriptor(written);
      yield descriptor;
      offset += bytes + descriptor.length;
    }
    directory.add(directoryRecord(written));
    hold(directory.heldBytes);
    count += 1;
  }
  yield* directory.pieces();
  yield directoryEnd(count, directory.bytes, offset);
}

interface Written {
  readonly name: Buffer;
  readonly entry: ZipEntry;
  /** Of its local header. */
  readonly offset: number;
  readonly size: number;
  crc: number;
}

const UINT16_MAX = 0xffff;
const UINT32_MAX = 0xffffffff;
const INT32_MAX = 0x7fffffff;

const FILE_MODE = 0o100644;
const FOLDER_MODE = 0o40755;
/** The flag that MS-DOS has for a folder. */
const DOS_FOLDER = 0x10;

const NAMES_ARE_UTF8 = 1 << 11;
const SIZES_FOLLOW = 1 << 3;
const VERSION = 20;
const VERSION_ZIP64 = 45;
/** Unix, so that the modes count. */
const MADE_BY = (3 << 8) | VERSION_ZIP64;

/** Whether the file's sizes take 8 bytes each. */
const isLarge = ({ size }: Written): boolean => size >= UINT32_MAX;
const flagsOf = ({ entry }: Written): number => NAMES_ARE_UTF8 | (entry.file ? SIZES_FOLLOW : 0);

function localHeader(written: Written): Buffer {
  const { name, entry } = written;
  const large = isLarge(written);
  // The sizes in it are 0: they follow the content, and that they have 8 bytes each is what the field says (§4.3.9.2).
  const extra = Buffer.concat([timestamp(entry.modifiedAt), ...(large ? [zip64(0, 0)] : [])]);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(large ? VERSION_ZIP64 : VERSION, 4);
  header.writeUInt16LE(flagsOf(written), 6);
  header.writeUInt32LE(dosTime(entry.modifiedAt), 10);
  header.writeUInt32LE(large ? UINT32_MAX : 0, 18);
  header.writeUInt32LE(large ? UINT32_MAX : 0, 22);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

function dataDescriptor(written: Written): Buffer {
  const large = isLarge(written);
  const descriptor = Buffer.alloc(large ? 24 : 16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(written.crc, 4);
  for (const at of large ? [8, 16] : [8, 12]) {
    if (large) descriptor.writeBigUInt64LE(BigInt(written.size), at);
    else descriptor.writeUInt32LE(written.size, at);
  }
  return descriptor;
}

function directoryRecord(written: Written): Buffer {
  const { name, entry, crc, size, offset } = written;
  const large = isLarge(written);
  const far = offset >= UINT32_MAX;
  const beyond = [...(large ? [size, size] : []), ...(far ? [offset] : [])];
  const extra = Buffer.concat([timestamp(entry.modifiedAt), ...(beyond.length > 0 ? [zip64(...beyond)] : [])]);
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(MADE_BY, 4);
  record.writeUInt16LE(beyond.length > 0 ? VERSION_ZIP64 : VERSION, 6);
  record.writeUInt16LE(flagsOf(written), 8);
  record.writeUInt32LE(dosTime(entry.modifiedAt), 12);
  record.writeUInt32LE(crc, 16);
  record.writeUInt32LE(large ? UINT32_MAX : size, 20);
  record.writeUInt32LE(large ? UINT32_MAX : size, 24);
  record.writeUInt16LE(name.length, 28);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE((((entry.file ? FILE_MODE : FOLDER_MODE) << 16) | (entry.file ? 0 : DOS_FOLDER)) >>> 0, 38);
  record.writeUInt32LE(far ? UINT32_MAX : offset, 42);
  return Buffer.concat([record, name, extra]);
}

/** The end of the directory; before it, where a number needs more bytes, that of Zip64 and what points to it. `size` and `offset`: the directory's. */
function directoryEnd(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  for (const at of [8, 10]) end.writeUInt16LE(Math.min(count, UINT16_MAX), at);
  end.writeUInt32LE(Math.min(size, UINT32_MAX), 12);
  end.writeUInt32LE(Math.min(offset, UINT32_MAX), 16);
  if (count < UINT16_MAX && size < UINT32_MAX && offset < UINT32_MAX) return end;

  const end64 = Buffer.alloc(56);
  end64.writeUInt32LE(0x06064b50, 0);
  end64.writeBigUInt64LE(44n, 4);
  end64.writeUInt16LE(MADE_BY, 12);
  end64.writeUInt16LE(VERSION_ZIP64, 14);
  for (const at of [24, 32]) end64.writeBigUInt64LE(BigInt(count), at);
  end64.writeBigUInt64LE(BigInt(size), 40);
  end64.writeBigUInt64LE(BigInt(offset), 48);

  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + size), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end64, locator, end]);
}

/** The extra field of Zip64 with those numbers of the entry that need 8 bytes. */
function zip64(...numbers: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + numbers.length * 8);
  field.writeUInt16LE(0x0001, 0);
  field.writeUInt16LE(numbers.length * 8, 2);
  numbers.forEach((number, index) => field.writeBigUInt64LE(BigInt(number), 4 + index * 8));
  return field;
}

/** Info-ZIP's extra field with the time in UTC; nothing where it does not fit. */
function timestamp(time: Date): Buffer {
  const seconds = Math.floor(time.getTime() / 1000);
  if (seconds < 0 || seconds > INT32_MAX) return Buffer.alloc(0);
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x5455, 0);
  field.writeUInt16LE(5, 2);
  field.writeUInt8(1, 4);
  field.writeInt32LE(seconds, 5);
  return field;
}

/** Time and date of MS-DOS, in UTC and steps of 2 s, from 1980 to 2107. */
function dosTime(time: Date): number {
  const year = time.getUTCFullYear() - 1980;
  if (year < 0) return (1 << 21) | (1 << 16);
  if (year > 127) return (((127 << 9) | (12 << 5) | 31) << 16) >>> 0;
  const date = (year << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  return ((date << 16) | (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1)) >>> 0;
}
