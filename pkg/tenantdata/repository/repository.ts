import type { Readable } from 'node:stream';

/** Where backups are kept: names with `/` in them, each with bytes. */
export interface Repository {
  /** As a person knows it: a path, or s3://bucket/prefix. */
  readonly name: string;
  /** Stores the whole body or nothing. A later one of the same name replaces it. */
  put(name: string, body: Readable | Buffer, size?: number): Promise<void>;
  /** Throws RepositoryError where there is none. */
  get(name: string): Promise<Readable>;
  /** Names that begin with `prefix`, which ends in `/`, in the order of their bytes. */
  list(prefix: string): AsyncIterable<{ readonly name: string; /** bytes */ readonly size: number }>;
  /** Those that are not there are fine. */
  delete(names: readonly string[]): Promise<void>;
  close(): void;
}

/** Something is wrong with the repository or with what is kept there. The message is for a person. */
export class RepositoryError extends Error {
  override readonly name = 'RepositoryError';
}

/** The whole of a small body. Throws RepositoryError beyond `most` bytes: it is not what it should be. */
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
