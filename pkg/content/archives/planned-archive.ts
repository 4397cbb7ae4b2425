import { Readable } from 'node:stream';
import type { RenamedList } from './folder-entries.ts';
import { readAhead } from './read-ahead.ts';
import type { ZipPart, ZipPlan } from './zip-plan.ts';

/** An archive that is in memory except for the contents of its files. */
export interface PlannedArchive {
  readonly plan: ZipPlan;
  readonly renamed: RenamedList;
}

/** Bytes from `start` to before `end`. */
export interface Section {
  readonly start: number;
  readonly end: number;
}

const LIST_KEY = 'list:';

/** Returns the key of the list of changed names in a plan: no content has such a key. */
export const listKey = ({ sha256 }: { readonly sha256: string }): string => `${LIST_KEY}${sha256}`;

/** The object in the store has a different size than its file. */
export class ContentShort extends Error {
  override readonly name = 'ContentShort';
  readonly part: ZipPart;

  constructor(part: ZipPart) {
    super(`a file of an archive did not have its ${part.size} bytes`);
    this.part = part;
  }
}

/**
 * Yields a section of an archive, and reads small contents ahead. `open` returns the bytes of a content, or all of them without
 * `range`. Throws ContentShort.
 */
export async function* sectionOf(
  { plan, renamed }: PlannedArchive,
  { start, end }: Section,
  open: (part: ZipPart, range?: Section) => Promise<Readable>,
): AsyncGenerator<Buffer> {
  const parts = async function* () {
    for await (const part of plan.parts(start, end)) yield { ...part, bytes: part.end - part.start };
  };
  const openPart = async (part: ZipPart): Promise<Readable> => {
    if (part.key.startsWith(LIST_KEY)) return Readable.from(sliced(renamed.text(), part), { objectMode: false });
    const isWhole = part.start === 0 && part.end === part.size;
    return isWhole ? open(part) : open(part, { start: part.start, end: part.end });
  };
  for await (const { item, content } of readAhead(parts(), openPart)) {
    if (item.head.length > 0) yield item.head;
    let sent = 0;
    for await (const chunk of content ?? []) {
      sent += chunk.length;
      if (sent > item.bytes) break;
      yield chunk;
    }
    if (sent !== item.bytes) throw new ContentShort(item);
  }
}

function* sliced(pieces: Iterable<Buffer>, { start, end }: Section): Generator<Buffer> {
  let at = 0;
  for (const piece of pieces) {
    const part = piece.subarray(Math.max(0, start - at), Math.max(0, end - at));
    if (part.length > 0) yield part;
    at += piece.length;
  }
}
