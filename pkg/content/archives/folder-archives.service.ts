import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Actor } from '../../api/actor.ts';
import { reply, type Reply, type RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Database } from '../../store/postgres/database.ts';
import { ObjectMissing, type Objects } from '../../store/s3/objects.ts';
import { levelOn, requireLevel } from '../access/inherited-access.policy.ts';
import { attachment } from '../downloads/disposition.policy.ts';
import { findFolder, type FolderRecord } from '../folders/folders.sql.ts';
import type { Transfer, Transfers } from '../transfers/transfers.ts';
import { type ArchivedFile, isCurrent, treeSize } from './archive.sql.ts';
import { type Coming, entriesOf } from './folder-entries.ts';
import { PackedLog } from './packed-log.ts';
import { writeZip } from './zip-writer.ts';

/** Files up to this size are read before their turn, so many and so many bytes at once: an archive of small ones does not wait for each. */
const SMALL_BYTES = 64 * 1024;
const AHEAD = 8;
const AHEAD_BYTES = 256 * 1024;

/** What an entry holds in memory beside its name, at most: its record of the directory, packed, and the hash of its name. */
const ENTRY_BYTES = 96;
/** For an archive that is small, and for the piece of the directory that is not packed yet. */
const BASE_BYTES = 128 * 1024;
/** A name is in the directory, and in the list of changes where it was changed. */
const NAME_COPIES = 2;

/** A file whose turn comes; `content` undefined: it is opened then. A promise that gives null: it was deleted meanwhile. */
interface Ahead {
  readonly file: ArchivedFile;
  readonly content: Promise<Buffer | null> | undefined;
}

/**
 * Folders as ZIP archives, streamed as fast as the client takes them. The folder is the archive's top folder; in it is what is live below it, each file
 * as it is when its page of 250 is read.
 *
 * Invariants:
 * - Whoever reads a folder reads all below it, so no file is decided by itself.
 * - An archive is whole or the connection breaks: a file that cannot be read is never left out, unless it was deleted meanwhile.
 * - One archive is one transfer of its user, and holds small files of AHEAD_BYTES or a part of one large one.
 * - What its directory holds is taken from what all archives may hold before it begins; a folder for which that cannot be enough is refused.
 */
export class FolderArchives {
  readonly #db: Database;
  readonly #objects: Objects;
  readonly #transfers: Transfers;
  readonly #log: Logger;

  constructor(deps: { db: Database; objects: Objects; transfers: Transfers; log: Logger }) {
    this.#db = deps.db;
    this.#objects = deps.objects;
    this.#transfers = deps.transfers;
    this.#log = deps.log;
  }

  /** A folder that the actor may read and that is not in the trash. One statement. Throws `not_found`. */
  async read(actor: Actor, id: string): Promise<FolderRecord> {
    const [folder, granted] = await Promise.all([findFolder(this.#db.tables, id), actor.permissionSet()]);
    if (!folder || folder.deletedAt !== null) throw new Problem('not_found');
    requireLevel(levelOn('folder', actor, folder, granted), 'read');
    return folder;
  }

  /**
   * 200. Three statements, and of each folder one for its files and one for its folders, where it has any; one more for each further 250 files or 20
   * folders. Throws `not_found`, `archive_too_large`, `too_many_transfers`, `unavailable`.
   */
  async open(actor: Actor, id: string, request: RequestInfo): Promise<Reply> {
    const folder = await this.read(actor, id);
    const headers = {
      'content-type': 'application/zip',
      'content-disposition': attachment(`${folder.name}.zip`),
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    };
    if (request.method === 'HEAD') return reply(200, Readable.from([]), headers);
    const holds = await this.#memoryOf(folder);
    const transfer = this.#transfers.beginArchive(actor.userUuid, holds, request.traffic);
    return reply(200, this.#stream(folder, { transfer, holds, gone: request.signal }), headers);
  }

  async #memoryOf({ id }: FolderRecord): Promise<number> {
    const most = this.#transfers.mostOfArchive;
    const { entries, nameBytes } = await treeSize(this.#db, id, Math.floor(most / ENTRY_BYTES));
    const holds = BASE_BYTES + entries * ENTRY_BYTES + nameBytes * NAME_COPIES;
    if (holds > most)
      throw new Problem(
        'archive_too_large',
        'The folder has too many files and folders for one archive. Download the folders in it one by one.',
      );
    return holds;
  }

  #stream(folder: FolderRecord, { transfer, holds, gone }: { transfer: Transfer; holds: number; gone: AbortSignal }): Readable {
    const ended = new AbortController();
    const signal = AbortSignal.any([gone, transfer.signal, ended.signal]);
    const output = Readable.from(this.#archive(folder, holds, signal), { objectMode: false, highWaterMark: 1 });
    const stop = (): void => void output.destroy(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    output.once('close', () => {
      ended.abort();
      transfer.end();
    });
    return output;
  }

  async *#archive(folder: FolderRecord, holds: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    const renamed = new PackedLog();
    try {
      yield* writeZip(entriesOf(this.#db, folder.id, { contents: (files) => this.#contents(files, signal), renamed }), (bytes) => {
        if (bytes + renamed.heldBytes > holds)
          throw new Error(`the folder grew while its archive was written, which may hold ${holds} bytes`);
      });
    } catch (error) {
      if (!signal.aborted) this.#log.warn({ err: error, folder: folder.uuid }, 'an archive broke off');
      throw error;
    }
  }

  /** Files with their contents, small ones read ahead. */
  async *#contents(files: AsyncIterable<ArchivedFile>, signal: AbortSignal): AsyncGenerator<Coming> {
    const ahead: Ahead[] = [];
    let bytes = 0;
    const isFull = (more: number): boolean => ahead.length === AHEAD || bytes + more > AHEAD_BYTES;
    const first = async (): Promise<Coming> => {
      const { file, content } = ahead.shift()!;
      if (!content) return { file, content: await this.#get(file, signal) };
      bytes -= file.size;
      const small = await content;
      return { file, content: small && only(small) };
    };
    try {
      for await (const file of files) {
        const size = file.size > SMALL_BYTES ? 0 : file.size;
        while (isFull(size)) yield await first();
        const content = file.size > SMALL_BYTES ? undefined : this.#readSmall(file, signal);
        content?.catch(() => undefined); // thrown at its turn
        bytes += size;
        ahead.push({ file, content });
      }
      while (ahead.length > 0) yield await first();
    } finally {
      await Promise.allSettled(ahead.flatMap(({ content }) => content ?? []));
    }
  }

  async #readSmall(file: ArchivedFile, signal: AbortSignal): Promise<Buffer | null> {
    const body = await this.#get(file, signal);
    return body && buffer(body);
  }

  /** Null: deleted and purged meanwhile. */
  async #get(file: ArchivedFile, signal: AbortSignal): Promise<Readable | null> {
    try {
      const { body } = await this.#objects.get(file.blobName, { signal });
      const stop = (): void => void body.destroy(signal.reason as Error);
      signal.addEventListener('abort', stop, { once: true });
      body.once('close', () => signal.removeEventListener('abort', stop));
      body.on('error', () => undefined); // whoever reads it sees it
      return body;
    } catch (error) {
      if (error instanceof ObjectMissing && !(await isCurrent(this.#db, file))) return null;
      if (error instanceof ObjectMissing) this.#log.error({ file: file.uuid }, 'the object of a file is missing');
      throw error;
    }
  }
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes;
}
