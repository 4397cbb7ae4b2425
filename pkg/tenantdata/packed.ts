import { createGunzip, createGzip } from 'node:zlib';
import { measured, type Measures } from './measured.ts';
import { type Repository, RepositoryError } from './repository/repository.ts';

/** Bounds for the content of a packed file. */
export interface Bounds {
  /** Bytes of a line. */
  readonly line: number;
  /** Bytes in total; default: no bound. */
  readonly total?: number;
}

/** The bound of a table's row, far above what a tenant can write; Postgres holds a whole row in memory. */
export const ROW_BOUND = { line: 64 << 20 };

const NEWLINE = 0x0a;
const EMPTY = Buffer.alloc(0);

/** Packs a file into a repository. Returns the measures of its content. */
export async function storePacked(repository: Repository, name: string, content: AsyncIterable<Buffer>): Promise<Measures> {
  const { stream, result } = measured(content);
  const packed = createGzip();
  stream.on('error', (error) => packed.destroy(error));
  await repository.put(name, stream.pipe(packed));
  return result();
}

/**
 * Returns the content of a packed text file. Throws RepositoryError if it is damaged or exceeds its bounds. Some KiB of gzip can
 * unpack to gigabytes, so it holds only one chunk.
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
          `${name} has more than the ${total} bytes that were written: it is damaged, altered, or part of another backup`,
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

/** Returns the lines of a file whose lines are bounded. */
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
