import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

export interface Measures {
  readonly bytes: number;
  /** Lines, as COPY ends each row with one. */
  readonly rows: number;
  /** Hex. */
  readonly sha256: string;
}

export interface Measured {
  /** The same bytes. It fails with RepositoryError or what the source fails with. */
  readonly stream: Readable;
  /** Of what has gone through. */
  result(): Measures;
}

const NEWLINE = 0x0a;

/**
 * Counts and hashes what goes through. `atEnd` may throw: then the stream fails instead of ending, and who stores it keeps
 * nothing.
 */
export function measured(source: AsyncIterable<Buffer>, atEnd?: (sha256: string) => void): Measured {
  const hash = createHash('sha256');
  let [bytes, rows] = [0, 0];
  let sha256: string | undefined;
  const through = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      bytes += chunk.length;
      hash.update(chunk);
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) rows += 1;
      yield chunk;
    }
    sha256 = hash.digest('hex');
    atEnd?.(sha256);
  };
  return {
    stream: Readable.from(through(), { objectMode: false }),
    result: () => ({ bytes, rows, sha256: sha256 ?? '' }),
  };
}

/** Reads to the end and gives what `result` gives. */
export async function measure(source: AsyncIterable<Buffer>): Promise<Measures> {
  const { stream, result } = measured(source);
  for await (const _ of stream);
  return result();
}
