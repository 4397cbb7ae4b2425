import { CORRUPT, Refused } from './archive-entry.ts';
import { MIB } from '../../runtime/bytes.ts';

export const ENTRIES_MAX = 50_000;
export const DIRECTORY_MAX_BYTES = 128 * MIB;
/** The end of the central directory with the longest comment, and before it the locator of zip64's. */
export const END_MAX_BYTES = 22 + 65_535 + 20;

const END = 0x06054b50;
const LOCATOR = 0x07064b50;

/**
 * Throws Refused if the last END_MAX_BYTES of an archive, or all of it, show that it is not an archive, or has too many entries.
 * This costs one read, so that the request can report it. The job checks the fields of zip64.
 */
export function requireEnd(tail: Buffer, size: number): void {
  for (let at = tail.length - 22; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END) continue;
    if (at + 22 + tail.readUInt16LE(at + 20) !== tail.length) throw new Refused(CORRUPT);
    if (at >= 20 && tail.readUInt32LE(at - 20) === LOCATOR) return;
    if (tail.readUInt16LE(at + 4) !== 0) throw new Refused('is one of several parts');
    if (tail.readUInt16LE(at + 10) > ENTRIES_MAX) throw new Refused(`has more than ${ENTRIES_MAX} entries`);
    const end = size - tail.length + at;
    if (tail.readUInt32LE(at + 16) + tail.readUInt32LE(at + 12) > end) throw new Refused(CORRUPT);
    return;
  }
  throw new Refused(CORRUPT);
}
