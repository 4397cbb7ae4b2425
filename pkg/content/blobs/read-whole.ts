import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ObjectMissing, type Objects } from '../../store/s3/objects.ts';

export interface Read {
  /** Hex SHA-256. */
  readonly checksum: string;
  readonly crc32: number;
  /** bytes */
  readonly size: number;
}

/** Reads an object to its end. Null: the object is missing. */
export async function readWhole(objects: Objects, key: string, signal: AbortSignal): Promise<Read | null> {
  try {
    const { body } = await objects.get(key, { signal });
    const hash = createHash('sha256');
    let [size, crc] = [0, 0];
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      hash.update(chunk);
      crc = crc32(chunk, crc);
    }
    return { checksum: hash.digest('hex'), crc32: crc, size };
  } catch (error) {
    if (error instanceof ObjectMissing) return null;
    throw error;
  }
}
