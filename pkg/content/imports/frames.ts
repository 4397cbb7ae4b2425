import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** A message between the reader of an archive and its parent: a letter, the length of the payload in four bytes, the payload. */
export interface Frame {
  readonly type: string;
  readonly payload: Buffer;
}

export const HEAD_BYTES = 5;
/** Limit of one frame, so that neither side buffers more from the other. */
export const FRAME_MAX_BYTES = 1024 * 1024;

/** Returns the header of a frame; the payload follows it. */
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

export const typeIn = (head: Buffer): string => String.fromCharCode(head[0] ?? 0);

/** Throws where it is more than FRAME_MAX_BYTES. */
export function lengthIn(head: Buffer): number {
  const length = head.readUInt32LE(1);
  if (length > FRAME_MAX_BYTES) throw new RangeError(`a frame of ${length} bytes`);
  return length;
}

/**
 * Yields the frames of a stream. Copies pieces as they come, so that each becomes garbage while it is young. Throws what
 * `lengthIn` throws.
 */
export async function* framesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Frame, undefined> {
  const head = Buffer.alloc(HEAD_BYTES);
  let headBytes = 0;
  let payload: Buffer | undefined;
  let filled = 0;
  for await (const chunk of stream) {
    for (let rest = chunk; ;) {
      if (headBytes < HEAD_BYTES) {
        const copied = rest.copy(head, headBytes);
        headBytes += copied;
        rest = rest.subarray(copied);
        if (headBytes < HEAD_BYTES) break;
      }
      const length = lengthIn(head);
      if (payload === undefined && rest.length >= length) {
        payload = rest.subarray(0, length);
        rest = rest.subarray(length);
      } else {
        payload ??= Buffer.allocUnsafeSlow(length);
        const copied = rest.copy(payload, filled);
        filled += copied;
        rest = rest.subarray(copied);
        if (filled < length) break;
      }
      yield { type: typeIn(head), payload };
      [headBytes, payload, filled] = [0, undefined, 0];
    }
  }
  return undefined;
}

/** Resolves when more may be written, or the stream is closed. */
export async function drained(stream: Writable): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]);
  } finally {
    over.abort(); // takes the other listener away
  }
}
