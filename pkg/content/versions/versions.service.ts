import type { Actor } from '../../api/actor.ts';
import type { Reply, RequestInfo } from '../../api/endpoint.ts';
import { listPage, type Page } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { Events } from '../../events/events.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { fileTag } from '../model/content.tags.ts';
import type { Downloads } from '../downloads/downloads.service.ts';
import { fileUpdated } from '../model/files/files.events.ts';
import { type Files, lockFile } from '../model/files/files.service.ts';
import type { FileView } from '../model/files/files.schema.ts';
import { fileSeenBy, presentFile } from '../model/files/files.view.ts';
import type { Counted } from '../blobs/transfers.ts';
import { requestPurge } from '../blobs/objects.jobs.ts';
import { countBytes } from '../blobs/quota-reservation.sql.ts';
import { insertVersion } from '../model/files/file-writer.sql.ts';
import type { VersionQuery, VersionView } from './versions.schema.ts';
import type { VersionSchedule } from '../model/files/version-schedule.ts';
import { deleteVersion, findVersion, VERSION_COLUMNS, VERSION_TABLES, VERSIONS } from './versions.sql.ts';
import { presentVersion } from './versions.view.ts';

/**
 * Versions of files. Uploads create them (`Uploads`); this class shows, downloads, restores and deletes them.
 *
 * Invariants:
 * - Numbers of a file grow by one with each version, however many writers race, and none is used again: the file's row is
 *   locked, and the current version, which has the highest number, is never deleted.
 * - A restored version is a new one with the object of the old one: no bytes are copied. The object stays until the last
 *   version that has it is gone. Only versions of one file share an object.
 * - Each version counts its size against the file's owner; deleting a version frees its bytes at once.
 */
export class Versions {
  readonly #db: Database;
  readonly #cache: TaggedCache;
  readonly #transactions: AuthorizedTransactions;
  readonly #files: Files;
  readonly #downloads: Downloads;
  readonly #events: Events;
  readonly #jobs: JobRequests;
  readonly #schedule: VersionSchedule;
  readonly #clock: Clock;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    files: Files;
    downloads: Downloads;
    events: Events;
    jobs: JobRequests;
    schedule: VersionSchedule;
    clock: Clock;
  }) {
    this.#db = deps.db;
    this.#cache = deps.cache;
    this.#transactions = authorizedTransactions(deps);
    this.#files = deps.files;
    this.#downloads = deps.downloads;
    this.#events = deps.events;
    this.#jobs = deps.jobs;
    this.#schedule = deps.schedule;
    this.#clock = deps.clock;
  }

  /** Takes one statement, and one more where the file is not cached. Throws `not_found`. */
  async list(actor: Actor, fileId: Uuid, query: VersionQuery): Promise<Page<VersionView>> {
    const file = await this.#files.read(actor, fileId);
    return listPage(this.#db, query, {
      keyset: VERSIONS,
      columns: VERSION_COLUMNS,
      from: VERSION_TABLES,
      where: (params) => [`v.file_id = ${params.add(file.id)}`],
      present: (row) => presentVersion(file, row),
    });
  }

  /** Takes one statement, and one more where the file is not cached. Throws `not_found`. */
  async get(actor: Actor, fileId: Uuid, number: number): Promise<VersionView> {
    const file = await this.#files.read(actor, fileId);
    const version = await findVersion(this.#db.tables, file.id, number);
    if (!version) throw new Problem('not_found');
    return presentVersion(file, version);
  }

  /**
   * Returns the content of a version, as `Downloads.open` does for a file. Takes the statements of `get`. Throws `not_found`,
   * `range_not_satisfiable`, `too_many_transfers`.
   */
  async open(
    actor: Actor,
    fileId: Uuid,
    number: number,
    request: RequestInfo,
    counted: Counted = { person: actor.userUuid },
  ): Promise<Reply> {
    const file = await this.#files.read(actor, fileId);
    const version = await findVersion(this.#db.tables, file.id, number);
    if (!version) throw new Problem('not_found');
    const { size, checksum, blobName } = version;
    return this.#downloads.send({ ...file, version: number, size, checksum, blobName }, counted, request);
  }

  /**
   * Restores a version: makes a new one with the content of the old one, or returns the file unchanged if that is the current
   * one. Takes five statements. Throws `not_found`, `forbidden` below write, `quota_exceeded`, `precondition_failed` for the
   * file's entity tag.
   */
  async restore(actor: Actor, fileId: Uuid, number: number, { comment, ifMatch }: Restoration): Promise<FileView> {
    await this.#schedule.ensure();
    return this.#transactions.run(actor, async (tx, caller) => {
      const file = await lockFile(tx, caller, fileId, 'write', { ifMatch });
      if (file.version === number) return presentFile(fileSeenBy(caller, file));
      const version = await findVersion(tx, file.id, number);
      if (!version) throw new Problem('not_found');
      const { blobName: key, size, checksum, crc32, isEncrypted } = version;
      const restored = await insertVersion(tx, file, {
        blob: { key, size, checksum, crc32, isEncrypted },
        mimeType: file.mimeType,
        createdBy: actor.userId,
        comment: comment ?? null,
      });
      await countBytes(tx, file.ownerId, size, { now: this.#clock.now() });
      await this.#events.emit(tx, 'file.updated', fileUpdated(restored, ['content']));
      this.#cache.invalidate(tx, fileTag(file.uuid), USERS_TAG);
      return presentFile(fileSeenBy(caller, restored));
    });
  }

  /**
   * Deletes an old version permanently. Three statements. Throws `not_found`, `forbidden` below admin, since nobody can restore
   * it, and `conflict` for the current one.
   */
  async remove(actor: Actor, fileId: Uuid, number: number, ifMatch: RequestInfo['ifMatch']): Promise<void> {
    await this.#transactions.run(actor, async (tx, caller) => {
      const file = await lockFile(tx, caller, fileId, 'admin', { ifMatch });
      if (file.version === number)
        throw new Problem('conflict', 'This is the current version. Upload or restore another one first, or delete the file.');
      const deleted = await deleteVersion(tx, file, number);
      if (!deleted) throw new Problem('not_found');
      if (!deleted.shared) await requestPurge(this.#jobs, tx, [deleted.blobName]);
      this.#cache.invalidate(tx, USERS_TAG);
    });
  }
}

interface Restoration {
  readonly comment?: string | undefined;
  readonly ifMatch: RequestInfo['ifMatch'];
}
