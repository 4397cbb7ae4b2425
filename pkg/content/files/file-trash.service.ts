import type { Actor } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { invalid, Problem } from '../../api/problem.ts';
import type { Caller } from '../model/access/caller.ts';
import { grantsTag } from '../../access/tags.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { Events } from '../../events/events.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import { unlessTaken } from '../../store/postgres/savepoint.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { requestPurge } from '../blobs/objects.jobs.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { endOutOfReach } from '../model/access/delegated-grants.sql.ts';
import { hiddenAncestors } from '../model/access/inherited-access.policy.ts';
import { fileTag } from '../model/content.tags.ts';
import { fileCreated, fileUpdated } from '../model/files/files.events.ts';
import type { FileRestoration, FileView } from '../model/files/files.schema.ts';
import { decided, lockFile } from '../model/files/files.service.ts';
import { type FileRecord, findFiles, lockFiles } from '../model/files/files.sql.ts';
import { fileSeenBy, presentFile } from '../model/files/files.view.ts';
import { holdFolderOf } from '../model/folders/folders.sql.ts';
import { ENTRY_BYTES } from '../model/metadata-bytes.ts';
import { nameConflict, orNameConflict } from '../model/names/name-conflict.ts';
import { extensionOf, pathFault, pathOf } from '../model/names/names.policy.ts';
import { alternativeName, NAME_ATTEMPTS } from '../model/names/alternative-names.policy.ts';
import type { TrashSchedule } from '../trash/trash-schedule.ts';
import { changesOf, destinationOf, type FileLocation } from './file-moves.service.ts';

/** Bytes of versions, of the metadata that are still there, and the versions after the first. */
const FREE = `
  UPDATE users SET storage_used = greatest(0, storage_used - $2::bigint
    - (SELECT coalesce(sum(${ENTRY_BYTES}), 0) FROM file_metadata m WHERE m.file_id = $3)),
    entries = greatest(0, entries - (SELECT count(*) FROM file_versions v WHERE v.file_id = $3 AND v.version_number > 1))
    WHERE id = $1`;

/**
 * Moves files to the trash, restores them, and deletes them permanently.
 *
 * Invariants:
 * - A deletion and a restoration each emit one event in the same transaction. Purging a file from the trash emits none, since
 *   trashing it emitted one.
 * - A permanent deletion frees its owner's quota by all its versions and requests that their objects are purged, in the same
 *   transaction.
 */
export class FileTrash {
  readonly #cache: TaggedCache;
  readonly #transactions: AuthorizedTransactions;
  readonly #jobs: JobRequests;
  readonly #events: Events;
  readonly #clock: Clock;
  readonly #schedule: TrashSchedule;

  constructor(deps: { db: Database; cache: TaggedCache; jobs: JobRequests; events: Events; clock: Clock; trash: TrashSchedule }) {
    this.#cache = deps.cache;
    this.#transactions = authorizedTransactions(deps);
    this.#jobs = deps.jobs;
    this.#events = deps.events;
    this.#clock = deps.clock;
    this.#schedule = deps.trash;
  }

  /** Moves the file to the trash. Throws `not_found` when it is there already. */
  async trash(actor: Actor, id: string, ifMatch: RequestInfo['ifMatch']): Promise<void> {
    await this.#schedule.ensure();
    await this.#transactions.run(actor, async (tx, caller) => {
      const file = await lockFile(tx, caller, id, 'write', { ifMatch });
      const deletedAt = this.#clock.now();
      await tx.files.update({ id: file.id }, { deletedAt, expiresAt: this.#schedule.expiryOf(deletedAt) });
      await this.#events.emit(tx, 'file.deleted', {
        ...fileCreated(file),
        deleted_at: deletedAt.toISOString(),
        permanent: false,
      });
      this.#cache.invalidate(tx, fileTag(id));
    });
  }

  /**
   * Moves many files to the trash; returns why each refused file was refused, by its id. Four statements, and one for each 1,000
   * events.
   */
  async trashAll(actor: Actor, ids: readonly string[]): Promise<ReadonlyMap<string, Problem>> {
    await this.#schedule.ensure();
    return this.#transactions.run(actor, async (tx, caller) => {
      await lockFiles(tx, ids);
      const { files, refused } = decided(caller, ids, await findFiles(tx, ids), 'write');
      const deletedAt = this.#clock.now();
      const changes = { deletedAt, expiresAt: this.#schedule.expiryOf(deletedAt) };
      if (files.length > 0) await tx.files.update({ id: files.map(({ id }) => id) }, changes);
      const deletions = files.map((file) => ({ ...fileCreated(file), deleted_at: deletedAt.toISOString(), permanent: false }));
      await this.#events.emitAll(tx, 'file.deleted', deletions);
      this.#cache.invalidate(tx, ...files.map(({ uuid }) => fileTag(uuid)));
      return refused;
    });
  }

  /** Deletes the file permanently, from the trash or directly. Requires the level admin, since it cannot be restored. */
  async purge(actor: Actor, id: string, ifMatch: RequestInfo['ifMatch']): Promise<void> {
    await this.#transactions.run(actor, async (tx, caller) => {
      const file = await lockFile(tx, caller, id, 'admin', { ifMatch, state: 'any' });
      const versions = await tx.fileVersions.list({ fileId: file.id });
      await tx.permissions.delete({ resourceType: 'file', resourceId: file.id });
      const freed = versions.reduce((sum, { size }) => sum + size, 0);
      await tx.query(FREE, [file.ownerId, freed, file.id]);
      await tx.files.delete({ id: file.id });
      await requestPurge(
        this.#jobs,
        tx,
        versions.map(({ blobName }) => blobName),
      );
      if (file.deletedAt === null) {
        const deletedAt = this.#clock.now().toISOString();
        await this.#events.emit(tx, 'file.deleted', { ...fileCreated(file), deleted_at: deletedAt, permanent: true });
      }
      this.#cache.invalidate(tx, fileTag(id), USERS_TAG);
    });
  }

  /**
   * Restores a file from the trash to its former folder or another one; a live file stays as it is. Throws `name_conflict` if its
   * name was taken meanwhile, and `conflict` if its folder is in the trash and the request names no other.
   */
  async restore(actor: Actor, id: string, input: FileRestoration, ifMatch: RequestInfo['ifMatch']): Promise<FileView> {
    return this.#transactions.run(actor, async (tx, caller) => {
      // Locked before the file, as a deletion of the folder locks it.
      const openFolderId = await holdFolderOf(tx, id, input.folder_id ?? null);
      const file = await lockFile(tx, caller, id, 'write', { ifMatch, state: 'any' });
      if (file.deletedAt === null) return presentFile(fileSeenBy(caller, file));
      const location = await destinationOf(tx, caller, file, input.folder_id, this.#clock.now());
      if (location.folder !== null && location.folder.id === file.folder?.id && location.folder.id !== openFolderId)
        throw new Problem(
          'conflict',
          'The folder of this file is in the trash; restore the folder first, or name another with folder_id.',
        );
      const { row, changes } = await this.#restoreAs(tx, caller, file, location, input.on_conflict);
      if (location.folder?.id !== file.folder?.id)
        this.#cache.invalidate(tx, ...(await endOutOfReach(tx, file, location.ancestors)).map(grantsTag));
      this.#cache.invalidate(tx, fileTag(id));
      const { revision, updatedAt } = row;
      const restored = {
        ...file,
        ...changes,
        folder: location.folder,
        deletedAt: null,
        revision,
        updatedAt: updatedAt.toISOString(),
      };
      await this.#events.emit(tx, 'file.updated', fileUpdated(restored, ['restored', ...changesOf(file, restored)]));
      return presentFile(fileSeenBy(caller, { ...restored, ancestors: location.ancestors }));
    });
  }

  /** Throws `name_conflict`; with `rename`, only if no alternative name is free. */
  async #restoreAs(
    tx: Tx,
    caller: Caller,
    file: FileRecord,
    location: FileLocation,
    onConflict: FileRestoration['on_conflict'],
  ): Promise<{ row: { revision: number; updatedAt: Date }; changes: { name: string; path: string } }> {
    const hidden = hiddenAncestors(caller, location.ancestors);
    for (let attempt = 0; attempt <= (onConflict === 'rename' ? NAME_ATTEMPTS : 0); attempt += 1) {
      const name = attempt === 0 ? file.name : alternativeName(file.name, attempt);
      const path = pathOf(location.path, name);
      const fault = pathFault(path, hidden);
      if (fault !== null) throw invalid('folder_id', fault);
      const changes = { name, path };
      const columns = {
        ...changes,
        extension: extensionOf(name),
        folderId: location.folder?.id ?? null,
        deletedAt: null,
        trashedWith: null,
        expiresAt: null,
      };
      const update = () => tx.files.update({ id: file.id }, columns);
      const [row] = (await (onConflict === 'rename' ? unlessTaken(tx, update) : orNameConflict(update()))) ?? [];
      if (row) return { row, changes };
    }
    throw nameConflict();
  }
}
