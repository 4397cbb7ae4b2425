import { Readable } from 'node:stream';
import type { Logger } from '../../runtime/log.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { ObjectMissing, type Objects } from '../../store/s3/objects.ts';
import { type ArchivedFile, isCurrent } from './archive.sql.ts';
import type { NamedEntry } from './folder-entries.ts';
import type { Section } from './planned-archive.ts';
import { readAhead } from './read-ahead.ts';
import type { ZipEntry } from './zip-writer.ts';

/** Reads the contents of the files in an archive from the object store. */
export class ArchiveContents {
  readonly #db: Sql;
  readonly #objects: Objects;
  readonly #log: Logger;

  constructor(deps: { db: Sql; objects: Objects; log: Logger }) {
    this.#db = deps.db;
    this.#objects = deps.objects;
    this.#log = deps.log;
  }

  /** Yields files with their contents, small ones read ahead. Files that were deleted for ever before their turn are left out. */
  async *of(entries: AsyncIterable<NamedEntry>, signal: AbortSignal): AsyncGenerator<ZipEntry> {
    const sized = async function* () {
      for await (const entry of entries) yield { ...entry, bytes: entry.file?.size ?? entry.list?.bytes ?? 0 };
    };
    const open = ({ file, list }: NamedEntry): Promise<Readable | null> =>
      list ? Promise.resolve(Readable.from(list.text(), { objectMode: false })) : this.#getFile(file!, signal);
    for await (const { item, content } of readAhead(sized(), open)) {
      const { path, modifiedAt, file, list, bytes: size } = item;
      if (content) yield { path, modifiedAt, ...(file || list ? { file: { size, content } } : {}) };
    }
  }

  /** Returns null if the file was deleted and purged meanwhile. */
  async #getFile(file: ArchivedFile, signal: AbortSignal): Promise<Readable | null> {
    try {
      return await this.get(file.blobName, signal);
    } catch (error) {
      if (error instanceof ObjectMissing && !(await isCurrent(this.#db, file))) return null;
      if (error instanceof ObjectMissing) this.#log.error({ file: file.uuid }, 'the object of a file is missing');
      throw error;
    }
  }

  /** Reads until the signal is aborted. The end of a range is exclusive. Throws ObjectMissing. */
  async get(key: string, signal: AbortSignal, range?: Section): Promise<Readable> {
    const { body } = await this.#objects.get(key, {
      signal,
      ...(range ? { range: { start: range.start, end: range.end - 1 } } : {}),
    });
    const stop = (): void => void body.destroy(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    body.once('close', () => signal.removeEventListener('abort', stop));
    body.on('error', () => undefined); // whoever reads it sees it
    return body;
  }
}
