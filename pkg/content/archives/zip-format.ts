/** An entry as the archive describes it. */
export interface ZipHead {
  /** UTF-8, at most 65,535 bytes. */
  readonly name: Buffer;
  readonly modifiedAt: Date;
  readonly isFolder: boolean;
  /** Bytes; 0 of a folder. */
  readonly size: number;
  /** CRC-32. */
  readonly crc: number;
  /** True if the header states size and CRC-32 before the content; else a descriptor states them after it. */
  readonly isKnownBefore: boolean;
}

/** The most entries, and the most bytes of a name, that their fields of 16 bits can say. */
export const UINT16_MAX = 0xffff;
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

/** Returns whether the file's sizes take 8 bytes each. */
const isLarge = ({ size }: ZipHead): boolean => size >= UINT32_MAX;
/** Returns whether an offset takes 8 bytes. */
const isFar = (offset: number): boolean => offset >= UINT32_MAX;
const flagsOf = ({ isKnownBefore }: ZipHead): number => NAMES_ARE_UTF8 | (isKnownBefore ? 0 : SIZES_FOLLOW);

const LOCAL_BYTES = 30;
const RECORD_BYTES = 46;
const TIMESTAMP_BYTES = 9;
const zip64Bytes = (numbers: number): number => (numbers > 0 ? 4 + numbers * 8 : 0);

/** Returns the length of an entry's local header: walks over a plan need it more often than the header itself. */
export const localHeaderBytes = (entry: ZipHead): number =>
  LOCAL_BYTES + entry.name.length + timestampBytes(entry.modifiedAt) + zip64Bytes(isLarge(entry) ? 2 : 0);

/** Returns the length of an entry's record in the directory. */
export const directoryRecordBytes = (entry: ZipHead, offset: number): number =>
  RECORD_BYTES +
  entry.name.length +
  timestampBytes(entry.modifiedAt) +
  zip64Bytes((isLarge(entry) ? 2 : 0) + (isFar(offset) ? 1 : 0));

/** Returns a local header. Its length depends on name, time and size alone. */
export function localHeader(entry: ZipHead): Buffer {
  const { name, modifiedAt, isKnownBefore, crc } = entry;
  const large = isLarge(entry);
  // Sizes that follow the content are 0 here; the extra field says that they have 8 bytes each (§4.3.9.2).
  const size = isKnownBefore ? entry.size : 0;
  const extra = Buffer.concat([timestamp(modifiedAt), ...(large ? [zip64(size, size)] : [])]);
  const header = Buffer.alloc(LOCAL_BYTES);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(large ? VERSION_ZIP64 : VERSION, 4);
  header.writeUInt16LE(flagsOf(entry), 6);
  header.writeUInt32LE(dosTime(modifiedAt), 10);
  header.writeUInt32LE(isKnownBefore ? crc : 0, 14);
  header.writeUInt32LE(large ? UINT32_MAX : size, 18);
  header.writeUInt32LE(large ? UINT32_MAX : size, 22);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

export function dataDescriptor(entry: ZipHead): Buffer {
  const large = isLarge(entry);
  const descriptor = Buffer.alloc(large ? 24 : 16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(entry.crc, 4);
  for (const at of large ? [8, 16] : [8, 12]) {
    if (large) descriptor.writeBigUInt64LE(BigInt(entry.size), at);
    else descriptor.writeUInt32LE(entry.size, at);
  }
  return descriptor;
}

/** `offset`: of the entry's local header. */
export function directoryRecord(entry: ZipHead, offset: number): Buffer {
  const { name, modifiedAt, isFolder, crc, size } = entry;
  const large = isLarge(entry);
  const far = isFar(offset);
  const beyond = [...(large ? [size, size] : []), ...(far ? [offset] : [])];
  const extra = Buffer.concat([timestamp(modifiedAt), ...(beyond.length > 0 ? [zip64(...beyond)] : [])]);
  const record = Buffer.alloc(RECORD_BYTES);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(MADE_BY, 4);
  record.writeUInt16LE(beyond.length > 0 ? VERSION_ZIP64 : VERSION, 6);
  record.writeUInt16LE(flagsOf(entry), 8);
  record.writeUInt32LE(dosTime(modifiedAt), 12);
  record.writeUInt32LE(crc, 16);
  record.writeUInt32LE(large ? UINT32_MAX : size, 20);
  record.writeUInt32LE(large ? UINT32_MAX : size, 24);
  record.writeUInt16LE(name.length, 28);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE((((isFolder ? FOLDER_MODE : FILE_MODE) << 16) | (isFolder ? DOS_FOLDER : 0)) >>> 0, 38);
  record.writeUInt32LE(far ? UINT32_MAX : offset, 42);
  return Buffer.concat([record, name, extra]);
}

/**
 * Returns the end record of the directory; before it, where a number needs more bytes, the end record of Zip64 and its locator.
 * `size` and `offset`: the directory's.
 */
export function directoryEnd(count: number, size: number, offset: number): Buffer {
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

/** Returns the extra field of Zip64 with those numbers of the entry that need 8 bytes. */
function zip64(...numbers: readonly number[]): Buffer {
  const field = Buffer.alloc(zip64Bytes(numbers.length));
  field.writeUInt16LE(0x0001, 0);
  field.writeUInt16LE(numbers.length * 8, 2);
  numbers.forEach((number, index) => field.writeBigUInt64LE(BigInt(number), 4 + index * 8));
  return field;
}

/** Returns the length of the extra field with the time; 0 if the time does not fit. */
function timestampBytes(time: Date): number {
  const seconds = secondsOf(time);
  return seconds < 0 || seconds > INT32_MAX ? 0 : TIMESTAMP_BYTES;
}

const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1000);

/** Returns Info-ZIP's extra field with the time in UTC; empty if the time does not fit. */
function timestamp(time: Date): Buffer {
  const field = Buffer.alloc(timestampBytes(time));
  if (field.length === 0) return field;
  field.writeUInt16LE(0x5455, 0);
  field.writeUInt16LE(5, 2);
  field.writeUInt8(1, 4);
  field.writeInt32LE(secondsOf(time), 5);
  return field;
}

/** Returns time and date of MS-DOS, in UTC and steps of 2 s, from 1980 to 2107. */
function dosTime(time: Date): number {
  const year = time.getUTCFullYear() - 1980;
  if (year < 0) return (1 << 21) | (1 << 16);
  if (year > 127) return (((127 << 9) | (12 << 5) | 31) << 16) >>> 0;
  const date = (year << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  return ((date << 16) | (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1)) >>> 0;
}
