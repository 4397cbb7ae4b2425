import type { Actor } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { requireMatch } from '../../api/etag.ts';
import { Problem } from '../../api/problem.ts';
import type { Events } from '../../events/events.ts';
import type { Sessions } from '../../access/sessions.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { ObjectMissing } from '../../store/s3/objects.ts';
import { originParameter } from '../../store/postgres/origin.ts';
import { StoreUnavailableError } from '../../store/unavailable.ts';
import { allows, levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { findFile } from '../model/files/files.sql.ts';
import { fileEtag, fileSeenBy, presentFile, type SeenFile } from '../model/files/files.view.ts';
import type { FileCopy, FileView } from '../model/files/files.schema.ts';
import type { Files } from '../model/files/files.service.ts';
import { pathFault, pathOf } from '../model/names/names.policy.ts';
import type { Transfers } from '../blobs/transfers.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { alreadyReserved, contentLength, type Upload, type UploadDestination } from './upload.ts';
import type { VersionSchedule } from '../versions/version-schedule.ts';
import { copyFields, type UploadTarget, findUploadTarget } from './uploads.sql.ts';
import { UploadCommits } from './upload-commits.ts';
import { type FilePart, readForm } from './multipart.ts';
import { NewFiles } from './new-files.ts';
import { Reservation } from '../blobs/quota-reservation.service.ts';
import {
  sentName,
  UNKNOWN_TYPE,
  UPLOAD_FIELDS,
  type UploadFields,
  uploadFields,
  uploadName,
  uploadType,
  VERSION_FIELDS,
  versionFields,
} from './uploads.schema.ts';

/**
 * Uploads: multipart bytes go straight to S3, then one statement that uploads share (`NewFiles`), or one short transaction, makes
 * them a file or a version.
 *
 * Invariants:
 * - No transaction is open while bytes flow.
 * - Rights are checked again once the bytes are here, however long they took.
 * - A quota (current content, versions and trash of the file's owner) is never exceeded, however many uploads race: it is decided
 *   under the lock of the owner's row. Running uploads exceed it by their first step at most (`Reservation`).
 * - A failed upload leaves no row and no readable object.
 * - Up to 8 MiB two statements: quota and folder before the bytes; file with version 1, quota and event after them. Otherwise
 *   five: after the bytes folder, file with version 1, quota and event in a transaction. One more for each step of 8 MiB after
 *   the first.
 */
export class Uploads {
  readonly #db: Database;
  readonly #sessions: Sessions;
  readonly #transactions: AuthorizedTransactions;
  readonly #files: Files;
  readonly #blobs: Blobs;
  readonly #transfers: Transfers;
  readonly #events: Events;
  readonly #newFiles: NewFiles;
  readonly #commits: UploadCommits;
  readonly #versions: VersionSchedule;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #bucket: string;
  readonly #maxBytes: number;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    sessions: Sessions;
    files: Files;
    blobs: Blobs;
    transfers: Transfers;
    events: Events;
    versions: VersionSchedule;
    clock: Clock;
    random: Random;
    log: Logger;
    bucket: string;
    /** Of one file, in bytes. */
    maxBytes: number;
  }) {
    this.#db = deps.db;
    this.#sessions = deps.sessions;
    this.#transactions = authorizedTransactions(deps);
    this.#files = deps.files;
    this.#blobs = deps.blobs;
    this.#transfers = deps.transfers;
    this.#events = deps.events;
    this.#newFiles = new NewFiles(deps);
    this.#commits = new UploadCommits(deps);
    this.#versions = deps.versions;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#log = deps.log;
    this.#bucket = deps.bucket;
    this.#maxBytes = deps.maxBytes;
  }

  /** A new file, or with `on_conflict=replace` perhaps a new version of the one that has its name (`created` false). */
  async create(actor: Actor, request: RequestInfo): Promise<{ created: boolean; file: SeenFile }> {
    return this.#upload(actor, request, async (destination) => {
      const form = await this.#read(request, destination, UPLOAD_FIELDS, (part) => this.#receive(actor, destination, part));
      const fields = uploadFields(form.fields);
      const now = await this.#reauthenticate(actor);
      const stored = await this.#storeAtOnce(now, form.file, fields);
      if (stored) return { created: true, file: stored };
      if (fields.on_conflict === 'replace') await this.#versions.ensure();
      return this.#transactions.run(now, async (tx, granted) => {
        const { created, file } = await this.#commits.commit(tx, now, granted, form.file, fields);
        return { created, file: fileSeenBy(now, granted, file) };
      });
    });
  }

  /** New content for a file: its next version. The file keeps its name. */
  async addVersion(actor: Actor, id: string, request: RequestInfo): Promise<FileView> {
    const file = await this.#files.read(actor, id);
    requireLevel(levelOn('file', actor, file, await actor.permissionSet()), 'write');
    requireMatch(request.ifMatch, fileEtag(file));
    return this.#upload(actor, request, async (destination) => {
      const form = await this.#read(request, destination, VERSION_FIELDS, async (part) => {
        sentName(part);
        const claimed = uploadType(part, file.name);
        const target = await findUploadTarget(this.#db.tables, file.ownerId, this.#clock.now());
        if (!target) throw new Problem('not_found');
        return this.#store(actor, destination, part, claimed, target);
      });
      const comment = versionFields(form.fields).comment ?? null;
      await this.#versions.ensure();
      const now = await this.#reauthenticate(actor);
      return this.#transactions.run(now, async (tx, granted) => {
        const locked = await this.#files.lock(tx, now, granted, id, 'write', { ifMatch: request.ifMatch });
        return presentFile(fileSeenBy(now, granted, await this.#commits.replaceContent(tx, now, locked, form.file, comment)));
      });
    });
  }

  /**
   * A copy of a file that the actor may read, which they own and pay for: content, metadata and their own tags, no grants and no
   * older versions. Six statements, and one more each where the file is not cached, in a folder, and above 8 MiB. Throws
   * `not_found` (also where the file goes meanwhile), `forbidden`,
   * `name_conflict`, `quota_exceeded`, `too_many_transfers`, `validation_failed` (too long a path).
   */
  async copy(actor: Actor, id: string, input: FileCopy, request: RequestInfo): Promise<SeenFile> {
    const source = await this.#files.read(actor, id);
    const folderId = (input.folder_id === undefined ? source.folder?.uuid : input.folder_id) ?? undefined;
    const target = await findUploadTarget(
      this.#db.tables,
      actor.userId,
      this.#clock.now(),
      folderId === undefined ? {} : { folderId },
    );
    if (!target) throw new Problem('unauthenticated');
    if (folderId !== undefined)
      requireLevel(target.folder && levelOn('folder', actor, target.folder, await actor.permissionSet()), 'write');
    const fields: UploadFields = { on_conflict: input.on_conflict, ...(folderId === undefined ? {} : { folder_id: folderId }) };
    return this.#upload(
      actor,
      request,
      async ({ key, into, reservation, signal }) => {
        const mimeType = source.mimeType ?? UNKNOWN_TYPE;
        const from = { key: source.blobName, size: source.size, checksum: source.checksum, crc32: null };
        const options = { into, quota: target, reservation, contentType: mimeType, uploader: actor.userUuid, signal };
        const blob = await this.#blobs.copy(key, from, options).catch((error: unknown) => {
          throw error instanceof ObjectMissing ? new Problem('not_found', undefined, { cause: error }) : error;
        });
        into.committing();
        const now = await this.#reauthenticate(actor);
        return this.#transactions.run(now, async (tx, granted) => {
          const present = await findFile(tx, id);
          if (!present || present.deletedAt !== null) throw new Problem('not_found');
          requireLevel(levelOn('file', now, present, granted), 'read');
          const { file } = await this.#commits.commit(
            tx,
            now,
            granted,
            { name: input.name ?? source.name, nameField: 'name', mimeType, target, blob },
            fields,
          );
          await copyFields(tx, { id: present.id, key: source.blobName }, file, { userId: now.userId, now: this.#clock.now() });
          return fileSeenBy(now, granted, file);
        });
      },
      source.size,
    );
  }

  /**
   * Whether a file may be made of `part`, as far as it can be said before its content is here. Throws what `createReserved` does
   * for it.
   */
  async requireTarget(actor: Actor, part: Omit<FilePart, 'stream' | 'signal'>): Promise<void> {
    await this.#target(actor, part);
  }

  /**
   * As `create`, of content whose bytes are reserved as `reservation`. `also` is of the transaction that makes the file. Gives
   * the file's id.
   */
  async createReserved(
    actor: Actor,
    part: FilePart,
    reservation: string,
    also: (tx: Tx, file: string) => Promise<void>,
  ): Promise<string> {
    const key = await this.#blobs.newKey();
    return this.#blobs.discardUnlessCommitted(async (into) => {
      const destination = { key, into, reservation: alreadyReserved(reservation), isReserved: true, signal: part.signal };
      const upload = await this.#receive(actor, destination, part);
      const fields = uploadFields(part.fields);
      const now = await this.#reauthenticate(actor);
      if (fields.on_conflict === 'replace') await this.#versions.ensure();
      return this.#transactions.run(now, async (tx, granted) => {
        const { file } = await this.#commits.commit(tx, now, granted, upload, fields);
        await also(tx, file.uuid);
        return file.uuid;
      });
    });
  }

  /** Runs an upload; if it fails, deletes its object and releases its reservation. */
  async #upload<T>(
    actor: Actor,
    request: RequestInfo,
    run: (destination: UploadDestination) => Promise<T>,
    most = contentLength(request),
  ): Promise<T> {
    const transfer = this.#transfers.begin('upload', { person: actor.userUuid }, request.traffic);
    try {
      return await this.#reserving(most, (destination) =>
        run({ ...destination, signal: AbortSignal.any([request.signal, transfer.signal]) }),
      );
    } finally {
      transfer.end();
    }
  }

  async #reserving<T>(most: number | undefined, run: (destination: Omit<UploadDestination, 'signal'>) => Promise<T>): Promise<T> {
    const key = await this.#blobs.newKey();
    const [sql, uuid] = [this.#db.tables, this.#random.uuid()];
    const reservation = new Reservation({ sql, uuid, most, clock: this.#clock, log: this.#log });
    try {
      return await this.#blobs.discardUnlessCommitted((into) => run({ key, into, reservation }));
    } catch (error) {
      const released = reservation.release();
      if (!(error instanceof StoreUnavailableError)) await released;
      throw error;
    }
  }

  /**
   * The uploader once the bytes are here, with session, roles and grants read again. One round trip to Redis, no SQL when warm.
   * Throws `unauthenticated`, `forbidden`.
   */
  async #reauthenticate(actor: Actor): Promise<Actor> {
    const now = await this.#sessions.authenticate(actor);
    if (!now.permissions.has('write:files')) throw new Problem('forbidden', 'Requires the permission write:files.');
    return now;
  }

  #read<T>(
    request: RequestInfo,
    { signal }: UploadDestination,
    fields: readonly string[],
    receive: (part: FilePart) => Promise<T>,
  ) {
    const { stream, headers } = request;
    return readForm(
      { stream, signal, contentType: headers['content-type'] },
      { file: 'file', fields, maxFileBytes: this.#maxBytes },
      receive,
    );
  }

  /** Refuses before the bytes flow whatever can be refused then. */
  async #receive(actor: Actor, destination: UploadDestination, part: FilePart): Promise<Upload> {
    const { name, claimed, target } = await this.#target(actor, part);
    const quota = destination.isReserved ? { ...target, remainingBytes: Infinity } : target;
    return { name, target, ...(await this.#store(actor, destination, part, claimed, quota)) };
  }

  async #target(
    actor: Actor,
    part: Omit<FilePart, 'stream' | 'signal'>,
  ): Promise<{ name: string; claimed: string; target: UploadTarget }> {
    const name = uploadName(part);
    const claimed = uploadType(part, name);
    const fields = uploadFields(part.fields);
    const target = await findUploadTarget(this.#db.tables, actor.userId, this.#clock.now(), {
      ...(fields.folder_id === undefined ? {} : { folderId: fields.folder_id }),
      ...(fields.on_conflict === 'replace' ? { replacing: name } : {}),
    });
    if (!target) throw new Problem('unauthenticated');
    if (fields.folder_id !== undefined) {
      const granted = await actor.permissionSet();
      requireLevel(target.folder && levelOn('folder', actor, target.folder, granted), 'write');
    }
    return { name, claimed, target };
  }

  async #store(
    actor: Actor,
    { key, ...to }: UploadDestination,
    { stream, signal }: FilePart,
    contentType: string,
    quota: UploadTarget,
  ): Promise<Pick<Upload, 'blob' | 'mimeType'>> {
    const stored = await this.#blobs.store(key, stream, { ...to, quota, contentType, uploader: actor.userUuid, signal });
    to.into.committing();
    return stored;
  }

  /** A new file by the one statement that it shares with other uploads. Null: the transaction decides, and says what is wrong. */
  async #storeAtOnce(actor: Actor, { name, mimeType, target, blob }: Upload, fields: UploadFields): Promise<SeenFile | null> {
    const { folder } = target;
    if (fields.on_conflict === 'replace' || blob.reservation !== undefined || folder?.uuid !== fields.folder_id) return null;
    const granted = await actor.permissionSet();
    if (folder && !allows(levelOn('folder', actor, folder, granted), 'write')) return null;
    const path = pathOf(folder?.path ?? null, name);
    if (pathFault(path, 0) !== null) return null;
    const uuid = this.#random.uuid();
    const event = this.#events.fileCreated({ id: uuid, name, size: blob.size, owner_id: actor.userUuid });
    const stored = await this.#newFiles.store({
      uuid,
      name,
      path,
      mimeType,
      folder,
      blob,
      event,
      origin: originParameter(),
      ownerId: actor.userId,
      bucket: this.#bucket,
    });
    if (!stored) return null;
    const owner = { ownerUuid: actor.userUuid, ownerName: target.ownerName };
    return fileSeenBy(actor, granted, { ...stored, ...owner, folder, ancestors: folder?.ancestors ?? [] });
  }
}
