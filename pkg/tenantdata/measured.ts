import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

export interface Measures {
  readonly bytes: number;
  /** The number of lines: COPY ends each row with one. */
  readonly rows: number;
  /** Hex. */
  readonly sha256: string;
}

export interface Measured {
  /** The same bytes. It fails with RepositoryError or with the error of the source. */
  readonly stream: Readable;
  /** Returns the measures of what has gone through. */
  result(): Measures;
}

const NEWLINE = 0x0a;

/**
 * Counts and hashes what goes through. If `atEnd` throws, the stream fails instead of ending, so a consumer that stores it keeps
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

/** Reads to the end and returns the measures. */
export async function measure(source: AsyncIterable<Buffer>): Promise<Measures> {
  const { stream, result } = measured(source);
  for await (const _ of stream);
  return result();
}
