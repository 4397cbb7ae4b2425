import { type ListedEntry, Refused } from './archive-entry.ts';

const DESCRIPTOR_FLAG = 0x8;
const ENCRYPTED_FLAG = 0x1;
/** Written instead of what the zip64 field has. */
const IN_ZIP64 = 0xffffffff;

/**
 * Throws Refused if the local header does not match the entry of the central directory. A size or CRC that it leaves to the data
 * descriptor is 0.
 */
export function requireSame(entry: ListedEntry, { head, nameCrc }: { readonly head: Buffer; readonly nameCrc: number }): void {
  const flags = head.readUInt16LE(6);
  const isLater = (flags & DESCRIPTOR_FLAG) !== 0;
  const same = (at: number, wanted: number): boolean => {
    const found = head.readUInt32LE(at);
    return found === wanted || (isLater && found === 0) || (at !== 14 && found === IN_ZIP64);
  };
  const isSame =
    nameCrc === entry.nameCrc &&
    head.readUInt16LE(8) === entry.method &&
    (flags & ENCRYPTED_FLAG) === (entry.flags & ENCRYPTED_FLAG) &&
    same(14, entry.crc) &&
    same(18, entry.packed) &&
    same(22, entry.size);
  if (!isSame) throw new Refused('has an entry whose local header is not what the central directory says');
}

interface Span {
  readonly offset: number;
  readonly end: number;
  readonly nameCrc: number;
}

/**
 * Throws Refused if entries overlap each other or the central directory, which begins at `directory`. An entry that is listed
 * twice is tolerated. Returns, for each offset, the offset of the next structure.
 */
export function requireApart(spans: Span[], directory: number): ReadonlyMap<number, number> {
  spans.sort((a, b) => a.offset - b.offset || a.end - b.end);
  const ends = new Map<number, number>();
  for (const [at, span] of spans.entries()) {
    const before = spans[at - 1];
    if (before?.offset === span.offset) {
      if (before.end !== span.end || before.nameCrc !== span.nameCrc) throw new Refused('has entries that overlap');
      continue;
    }
    if (before) ends.set(before.offset, span.offset);
    if (before && before.end > span.offset) throw new Refused('has entries that overlap');
    if (span.end > directory) throw new Refused('has entries that overlap its central directory');
    ends.set(span.offset, directory);
  }
  return ends;
}
