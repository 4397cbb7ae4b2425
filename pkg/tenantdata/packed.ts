import { createGunzip, createGzip } from 'node:zlib';
import { measured, type Measures } from './measured.ts';
import { type Repository, RepositoryError } from './repository/repository.ts';

/** What a packed file may unpack to. */
export interface Bounds {
  /** Bytes of a line. */
  readonly line: number;
  /** Bytes of all; left out: no bound. */
  readonly total?: number;
}

/** Of a row of a table. What a tenant can write is far below; Postgres holds a whole row in memory. */
export const ROW_BOUND = { line: 64 << 20 };

const NEWLINE = 0x0a;
const EMPTY = Buffer.alloc(0);

/** Packs a file into a repository. Gives what went in. */
export async function storePacked(repository: Repository, name: string, content: AsyncIterable<Buffer>): Promise<Measures> {
  const { stream, result } = measured(content);
  const packed = createGzip();
  stream.on('error', (error) => packed.destroy(error));
  await repository.put(name, stream.pipe(packed));
  return result();
}

/**
 * A packed text file of a repository. Fails with RepositoryError where it is damaged or beyond its bounds: some KiB of gzip
 * unpack to gigabytes, so nothing is held but a chunk.
 */
export async function* unpacked(
  repository: Repository,
  name: string,
  { line, total = Infinity }: Bounds,
): AsyncGenerator<Buffer> {
  const packed = await repository.get(name);
  const through = packed.pipe(createGunzip());
  packed.on('error', (error) => through.destroy(error));
  let [length, bytes] = [0, 0];
  const add = (count: number): void => {
    length += count;
    if (length > line) throw new RepositoryError(`${name} is damaged: a line has more than ${line} bytes`);
  };
  try {
    for await (const chunk of through as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > total)
        throw new RepositoryError(
          `${name} has more than the ${total} bytes that were written: it is damaged, altered, or of another backup`,
        );
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        add(at - from);
        length = 0;
        from = at + 1;
      }
      add(chunk.length - from);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof RepositoryError
      ? error
      : new RepositoryError(`${name} is damaged: ${(error as Error).message}`, { cause: error });
  } finally {
    packed.destroy();
  }
}

/** The lines of a file whose lines are bounded. */
export async function* linesOf(file: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = EMPTY;
  for await (const chunk of file) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([rest, chunk.subarray(from, at)]).toString('utf8');
      rest = EMPTY;
      from = at + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
  }
  if (rest.length > 0) yield rest.toString('utf8');
}
