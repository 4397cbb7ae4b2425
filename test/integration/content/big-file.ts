import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

const CHUNK = 1 << 16;

function* chunks(size: number): Generator<Buffer> {
  for (let at = 0; at < size; at += CHUNK) {
    const chunk = Buffer.alloc(Math.min(CHUNK, size - at), at / CHUNK);
    if (chunk.length >= 8) chunk.writeDoubleBE(at);
    yield chunk;
  }
}

/** `size` bytes that are the same each time and different at every offset; made as they are read, so that any size fits. */
export const content = (size: number): Readable => Readable.from(chunks(size), { objectMode: false });

/** Their SHA-256, hex. */
export function digest(size: number): string {
  const hash = createHash('sha256');
  for (const chunk of chunks(size)) hash.update(chunk);
  return hash.digest('hex');
}
