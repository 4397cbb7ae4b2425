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
import type { Transfer, Transfers } from '../transfers/transfer-limits.ts';
import { type ArchivedFile, filesIn, foldersOf, isCurrent } from './archive.sql.ts';
import { type ZipEntry, ZipWriter } from './zip-writer.ts';

/** Files up to this size are read before their turn, AHEAD of them at once: an archive of small ones does not wait for each. */
const SMALL_BYTES = 64 * 1024;
const AHEAD = 8;

/** A file whose turn comes; `content` undefined: it is opened then. A promise that gives null: it was deleted meanwhile. */
interface Coming {
  readonly file: ArchivedFile;
  readonly path: string;
  readonly content: Promise<Buffer | null> | undefined;
}

/**
 * Folders as ZIP archives, streamed as fast as the client takes them. The folder is the archive's top folder; in it is what is live below it, each file
 * as it is when its page of 1,000 is read.
 *
 * Invariants:
 * - Whoever reads a folder reads all below it, so no file is decided by itself.
 * - An archive is whole or the connection breaks: a file that cannot be read is never left out, unless it was deleted meanwhile.
 * - One archive is one transfer of its user, and holds AHEAD small files or a part of one large one.
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

  /** 200. Two statements, and one more for each folder and each further 1,000 files in it. Throws `not_found`, `too_many_transfers`. */
  async open(actor: Actor, id: string, request: RequestInfo): Promise<Reply> {
    const folder = await this.read(actor, id);
    const headers = {
      'content-type': 'application/zip',
      'content-disposition': attachment(`${folder.name}.zip`),
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    };
    if (request.method === 'HEAD') return reply(200, Readable.from([]), headers);
    const transfer = this.#transfers.begin('download', actor.userUuid, request.traffic);
    return reply(200, this.#stream(folder, transfer, request.signal), headers);
  }

  #stream(folder: FolderRecord, transfer: Transfer, gone: AbortSignal): Readable {
    const ended = new AbortController();
    const signal = AbortSignal.any([gone, transfer.signal, ended.signal]);
    const zip = new ZipWriter(signal);
    zip.output.once('close', () => {
      ended.abort();
      transfer.end();
    });
    this.#write(folder, zip, signal).catch((error: unknown) => {
      if (!signal.aborted) this.#log.warn({ err: error, folder: folder.uuid }, 'an archive broke off');
      zip.output.destroy(error instanceof Error ? error : new Error(String(error)));
    });
    return zip.output;
  }

  async #write(folder: FolderRecord, zip: ZipWriter, signal: AbortSignal): Promise<void> {
    for await (const { id, path: folderPath, updatedAt } of foldersOf(this.#db, folder.id)) {
      await zip.addFolder({ path: `${folderPath}/`, modifiedAt: updatedAt });
      for await (const { file, path, content } of this.#coming(id, folderPath, signal)) {
        const body = content ? await content : await this.#get(file, signal);
        if (body === null) continue;
        await this.#add(zip, { path, modifiedAt: file.updatedAt }, Buffer.isBuffer(body) ? Readable.from([body]) : body, file.size, signal);
      }
    }
    zip.end();
  }

  async #add(zip: ZipWriter, entry: ZipEntry, content: Readable, size: number, signal: AbortSignal): Promise<void> {
    const stop = (): void => void content.destroy();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await zip.addFile(entry, { content, size });
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** The files of a folder, small ones read ahead. */
  async *#coming(folderId: number, folderPath: string, signal: AbortSignal): AsyncGenerator<Coming> {
    const ahead: Coming[] = [];
    try {
      for await (const file of filesIn(this.#db, folderId)) {
        const content = file.size > SMALL_BYTES ? undefined : this.#readSmall(file, signal);
        content?.catch(() => undefined); // thrown at its turn
        ahead.push({ file, path: `${folderPath}/${file.name}`, content });
        if (ahead.length === AHEAD) yield ahead.shift()!;
      }
      yield* ahead.splice(0);
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
      return (await this.#objects.get(file.blobName, { signal })).body;
    } catch (error) {
      if (error instanceof ObjectMissing && !(await isCurrent(this.#db, file))) return null;
      if (error instanceof ObjectMissing) this.#log.error({ file: file.uuid }, 'the object of a file is missing');
      throw error;
    }
  }
}
