import type { Readable } from 'node:stream';

/** Stores backups: names with `/` in them, each with bytes. */
export interface Repository {
  /** The repository's name for people: a path, or s3://bucket/prefix. */
  readonly name: string;
  /** Stores the whole body or nothing. A later body of the same name replaces it. */
  put(name: string, body: Readable | Buffer, size?: number): Promise<void>;
  /** Throws RepositoryError if the name does not exist. */
  get(name: string): Promise<Readable>;
  /** Lists names that begin with `prefix`, which ends in `/`, in the order of their bytes. */
  list(prefix: string): AsyncIterable<{ readonly name: string; /** bytes */ readonly size: number }>;
  /** Ignores names that do not exist. */
  delete(names: readonly string[]): Promise<void>;
  close(): void;
}

/** A fault of the repository or of its contents. The message is for a person. */
export class RepositoryError extends Error {
  override readonly name = 'RepositoryError';
}

/** Returns the whole of a small body. Throws RepositoryError beyond `most` bytes, when it is not what it should be. */
export async function readWhole(body: Readable, name: string, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > most) throw new RepositoryError(`${name} is damaged: it has more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
