import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/**
 * Contents up to this size are read before their turn, at most AHEAD of them and AHEAD_BYTES at once, so that an archive of
 * small files does not wait for each.
 */
const SMALL_BYTES = 64 * 1024;
const AHEAD = 8;
const AHEAD_BYTES = 256 * 1024;

/** An entry with a content of `size` bytes; 0: it has no content to open. */
export interface Sized {
  readonly bytes: number;
}

/** Undefined `content`: it is opened at its turn. */
interface Ahead<T> {
  readonly item: T;
  readonly content: Promise<Buffer | null> | undefined;
}

/** Yields items with their contents, in their order. `open` returns null for a content that is gone. */
export async function* readAhead<T extends Sized>(
  items: AsyncIterable<T>,
  open: (item: T) => Promise<Readable | null>,
): AsyncGenerator<{ item: T; content: AsyncIterable<Buffer> | null }> {
  const ahead: Ahead<T>[] = [];
  let bytes = 0;
  const isFull = (more: number): boolean => ahead.length === AHEAD || bytes + more > AHEAD_BYTES;
  const small = async (item: T): Promise<Buffer | null> => {
    if (item.bytes === 0) return Buffer.alloc(0);
    const body = await open(item);
    return body && buffer(body);
  };
  const first = async (): Promise<{ item: T; content: AsyncIterable<Buffer> | null }> => {
    const { item, content } = ahead.shift()!;
    if (!content) return { item, content: await open(item) };
    bytes -= item.bytes;
    const read = await content;
    return { item, content: read && only(read) };
  };
  try {
    for await (const item of items) {
      const isSmall = item.bytes <= SMALL_BYTES;
      const more = isSmall ? item.bytes : 0;
      while (isFull(more)) yield await first();
      const content = isSmall ? small(item) : undefined;
      content?.catch(() => undefined); // thrown at its turn
      bytes += more;
      ahead.push({ item, content });
    }
    while (ahead.length > 0) yield await first();
  } finally {
    await Promise.allSettled(ahead.flatMap(({ content }) => content ?? []));
  }
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes;
}
