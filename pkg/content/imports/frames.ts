import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** What the reader of an archive and its parent say to each other: a letter, the length of what follows in four bytes, and that. */
export interface Frame {
  readonly type: string;
  readonly payload: Buffer;
}

export const HEAD_BYTES = 5;
/** Of one frame, so that neither side holds more of the other. */
export const FRAME_MAX_BYTES = 1024 * 1024;

/** What stands before the payload. */
export function frameHead(type: string, length: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.write(type, 0, 1, 'latin1');
  head.writeUInt32LE(length, 1);
  return head;
}

export function jsonFrame(type: string, value: unknown): Buffer {
  const payload = Buffer.from(JSON.stringify(value));
  return Buffer.concat([frameHead(type, payload.length), payload]);
}

/** The frames of a stream. Throws where one is larger than FRAME_MAX_BYTES. */
export async function* framesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Frame, undefined> {
  let pending: Buffer[] = [];
  let bytes = 0;
  let wanted = HEAD_BYTES;
  for await (const chunk of stream) {
    pending.push(chunk);
    bytes += chunk.length;
    if (bytes < wanted) continue;
    let whole = pending.length === 1 ? chunk : Buffer.concat(pending, bytes);
    wanted = HEAD_BYTES;
    while (whole.length >= HEAD_BYTES) {
      const length = whole.readUInt32LE(1);
      if (length > FRAME_MAX_BYTES) throw new RangeError(`a frame of ${length} bytes`);
      wanted = HEAD_BYTES + length;
      if (whole.length < wanted) break;
      yield { type: String.fromCharCode(whole[0] ?? 0), payload: whole.subarray(HEAD_BYTES, wanted) };
      whole = whole.subarray(wanted);
      wanted = HEAD_BYTES;
    }
    pending = whole.length === 0 ? [] : [whole];
    bytes = whole.length;
  }
  return undefined;
}

/** When more may be written, or the stream is closed. */
export async function drained(stream: Writable): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]);
  } finally {
    over.abort(); // takes the other listener away
  }
}
