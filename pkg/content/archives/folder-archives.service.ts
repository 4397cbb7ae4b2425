import { Readable } from 'node:stream';
import type { Actor } from '../../api/actor.ts';
import { reply, type Reply, type ReplyHeaders, type RequestInfo } from '../../api/endpoint.ts';
import { noneMatchHits, parseEntityTags } from '../../api/etag.ts';
import { Problem } from '../../api/problem.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Objects } from '../../store/s3/objects.ts';
import { levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { attachment } from '../downloads/disposition.policy.ts';
import { rangeApplies, selectRange } from '../downloads/range.policy.ts';
import { findFolder, type FolderRecord } from '../model/folders/folders.sql.ts';
import type { Counted, Transfer, Transfers } from '../blobs/transfers.ts';
import { treeSize } from './archive.sql.ts';
import { ArchiveContents } from './archive-contents.ts';
import { entriesOf, RenamedList, topFolder } from './folder-entries.ts';
import { listKey, type PlannedArchive, type Section, sectionOf } from './planned-archive.ts';
import { ZipPlan } from './zip-plan.ts';
import { writeZip } from './zip-writer.ts';

/** Bytes that an entry takes in memory beside its name, at most: its packed directory record and the hash of its name. */
const ENTRY_BYTES = 96;
/** The memory of a small archive, and of the part of the directory that is not packed yet. */
const BASE_BYTES = 128 * 1024;
/** A name is stored in the directory, and once more in the list of changes if it was changed. */
const NAME_COPIES = 2;

/** A folder that is sent as an archive. */
export type ArchiveFolder = Pick<FolderRecord, 'id' | 'uuid' | 'name'>;

/** The part of an archive that is about to be sent. */
export interface SentArchive {
  /** Undefined: the archive has no length, and no ranges. */
  readonly etag: string | undefined;
  readonly isRange: boolean;
}

/**
 * Streams folders as ZIP archives, as fast as the client reads them. The folder is the top folder of the archive. It contains
 * every live file and folder below it, each file in its state when its page of 250 is read.
 *
 * If the CRC-32 of each file is known, everything but the contents is determined before the first byte. The archive then has a
 * length and an entity tag, and any range of it can be produced. Otherwise the archive is written while files are read.
 *
 * Invariants:
 * - Anyone who may read a folder may read everything below it, so access to single files is not checked.
 * - An archive is complete or the connection breaks. A file that cannot be read is never left out, unless the archive has no
 *   length and the file was permanently deleted meanwhile.
 * - An archive is one transfer of its user, or of the maker of its link. It holds small files of 256 KiB, or a part of a large
 *   one.
 * - The memory for its entries is reserved from the limit of all archives before it begins. A folder whose entries can never fit
 *   is refused.
 */
export class FolderArchives {
  readonly #db: Database;
  readonly #contents: ArchiveContents;
  readonly #transfers: Transfers;
  readonly #log: Logger;

  constructor(deps: { db: Database; objects: Objects; transfers: Transfers; log: Logger }) {
    this.#db = deps.db;
    this.#contents = new ArchiveContents(deps);
    this.#transfers = deps.transfers;
    this.#log = deps.log;
  }

  /** Returns a folder that the actor may read and that is not in the trash. One statement. Throws `not_found`. */
  async read(actor: Actor, id: string): Promise<FolderRecord> {
    const [folder, granted] = await Promise.all([findFolder(this.#db.tables, id), actor.permissionSet()]);
    if (!folder || folder.deletedAt !== null) throw new Problem('not_found');
    requireLevel(levelOn('folder', { actor, granted }, folder), 'read');
    return folder;
  }

  /**
   * Returns 200; 206 or 304 where the archive has a length. Takes three statements, and for each folder one for its files and
   * one for its folders, where it has any; one more for each further 250 files or 20 folders. Throws `not_found`,
   * `archive_too_large`, `range_not_satisfiable`, `too_many_transfers`, `unavailable`.
   */
  async open(actor: Actor, id: string, request: RequestInfo): Promise<Reply> {
    return this.send(await this.read(actor, id), { person: actor.userUuid }, request);
  }

  /**
   * Does the same for a live folder that the caller may read. The transfer counts against `counted`. `begun` is called before
   * anything is sent; it returns further headers, or throws the Problem to send instead.
   */
  async send(
    folder: ArchiveFolder,
    counted: Counted,
    request: RequestInfo,
    begun: (sent: SentArchive) => Promise<ReplyHeaders> = () => Promise.resolve({}),
  ): Promise<Reply> {
    const holds = await this.#memoryOf(folder);
    const transfer = this.#transfers.beginArchive(counted, holds, request.traffic);
    let isSent = false;
    try {
      const gone = request.signal;
      const planned = await this.#plan(folder, holds, AbortSignal.any([gone, transfer.signal]));
      const headers: ReplyHeaders = {
        'content-type': 'application/zip',
        'content-disposition': attachment(`${folder.name}.zip`),
        'x-content-type-options': 'nosniff',
        ...(planned
          ? { etag: `"${planned.plan.etag}"`, 'accept-ranges': 'bytes', 'cache-control': 'private, no-cache' }
          : { 'cache-control': 'private, no-store' }),
      };
      const send = async (
        status: 200 | 206,
        bytes: (signal: AbortSignal) => AsyncGenerator<Buffer>,
        more: ReplyHeaders = {},
      ): Promise<Reply> => {
        if (request.method === 'HEAD') return reply(status, Readable.from([]), { ...headers, ...more });
        const last = await begun({ etag: planned?.plan.etag, isRange: status === 206 });
        isSent = true;
        return reply(status, streamOf(bytes, { transfer, gone }), { ...headers, ...more, ...last });
      };
      if (!planned) return await send(200, (signal) => this.#written(folder, holds, signal));
      const { plan } = planned;
      const { headers: asked } = request;
      if (noneMatchHits(parseEntityTags('If-None-Match', asked['if-none-match']), plan.etag))
        return reply(304, undefined, headers);
      const range = request.method !== 'HEAD' && rangeApplies(asked['if-range'], plan.etag) ? asked['range'] : undefined;
      const selection = selectRange(range, plan.bytes);
      if (selection.kind === 'unsatisfiable')
        throw new Problem('range_not_satisfiable', undefined, { headers: { 'content-range': `bytes */${plan.bytes}` } });
      const isWhole = selection.kind === 'whole';
      const section = isWhole ? { start: 0, end: plan.bytes } : { start: selection.start, end: selection.end + 1 };
      return await send(isWhole ? 200 : 206, (signal) => this.#section(folder, planned, section, signal), {
        'content-length': String(section.end - section.start),
        ...(isWhole ? {} : { 'content-range': `bytes ${section.start}-${section.end - 1}/${plan.bytes}` }),
      });
    } finally {
      if (!isSent) transfer.end();
    }
  }

  async #memoryOf({ id }: ArchiveFolder): Promise<number> {
    const most = this.#transfers.mostOfArchive;
    const { entries, nameBytes } = await treeSize(this.#db, id, Math.floor(most / ENTRY_BYTES));
    const holds = BASE_BYTES + entries * ENTRY_BYTES + nameBytes * NAME_COPIES;
    if (holds > most) throw tooLarge();
    return holds;
  }

  /** Returns null if the CRC-32 of some file is not known. */
  async #plan(folder: ArchiveFolder, holds: number, signal: AbortSignal): Promise<PlannedArchive | null> {
    const [plan, renamed] = [new ZipPlan(), new RenamedList()];
    for await (const { path, modifiedAt, file, list } of entriesOf(this.#db, topFolder(this.#db, folder.id), renamed)) {
      signal.throwIfAborted();
      if (file?.crc === null) return null;
      if (list) {
        const sums = list.sums();
        plan.add({ path, modifiedAt, file: { size: list.bytes, crc: sums.crc, key: listKey(sums) } });
      } else plan.add({ path, modifiedAt, ...(file ? { file: { size: file.size, crc: file.crc, key: file.blobName } } : {}) });
      // It has grown meanwhile.
      if (plan.heldBytes + renamed.heldBytes > holds) throw tooLarge();
    }
    return { plan, renamed };
  }

  async *#section(folder: ArchiveFolder, planned: PlannedArchive, section: Section, signal: AbortSignal) {
    const open = ({ key }: { key: string }, range?: Section): Promise<Readable> => this.#contents.get(key, signal, range);
    yield* this.#logged(folder, signal, () => sectionOf(planned, section, open));
  }

  /** Yields an archive without a length. */
  async *#written(folder: ArchiveFolder, holds: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    const renamed = new RenamedList();
    const entries = entriesOf(this.#db, topFolder(this.#db, folder.id), renamed);
    const hold = (bytes: number): void => {
      if (bytes + renamed.heldBytes > holds)
        throw new Error(`the folder grew while its archive was written, which may hold ${holds} bytes`);
    };
    yield* this.#logged(folder, signal, () => writeZip(this.#contents.of(entries, signal), hold));
  }

  async *#logged(folder: ArchiveFolder, signal: AbortSignal, bytes: () => AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* bytes();
    } catch (error) {
      if (!signal.aborted) this.#log.warn({ err: error, folder: folder.uuid }, 'an archive broke off');
      throw error;
    }
  }
}

/** Sends bytes until they end, the transfer is stopped or the client disconnects, and then ends the transfer. */
function streamOf(
  bytes: (signal: AbortSignal) => AsyncGenerator<Buffer>,
  { transfer, gone }: { transfer: Transfer; gone: AbortSignal },
): Readable {
  const ended = new AbortController();
  const signal = AbortSignal.any([gone, transfer.signal, ended.signal]);
  const output = Readable.from(bytes(signal), { objectMode: false, highWaterMark: 1 });
  const stop = (): void => void output.destroy(signal.reason as Error);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  output.once('close', () => {
    ended.abort();
    transfer.end();
  });
  return output;
}

const tooLarge = (): Problem =>
  new Problem(
    'archive_too_large',
    'The folder has too many files and folders for one archive. Download the folders in it one by one.',
  );
