import type { Actor } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { invalid, Problem } from '../../api/problem.ts';
import type { Caller } from '../model/access/caller.ts';
import { grantsTag } from '../../access/tags.ts';
import type { Events } from '../../events/events.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { endOutOfReach, rightsOfMove } from '../model/access/delegated-grants.sql.ts';
import { hiddenAncestors, isOwnedBy, requireMove } from '../model/access/inherited-access.policy.ts';
import { fileTag } from '../model/content.tags.ts';
import { fileUpdated } from '../model/files/files.events.ts';
import type { FileChanges, FileView } from '../model/files/files.schema.ts';
import { lockFile } from '../model/files/files.service.ts';
import type { FileRecord } from '../model/files/files.sql.ts';
import { fileSeenBy, presentFile } from '../model/files/files.view.ts';
import { openFolder } from '../model/folders/folders.sql.ts';
import { orNameConflict } from '../model/names/name-conflict.ts';
import { extensionOf, pathFault, pathOf } from '../model/names/names.policy.ts';

/** The location of a file, now or after a move; `path` is the folder's, null in the owner's root. */
export type FileLocation = Pick<FileRecord, 'folder' | 'ancestors'> & { readonly path: string | null };

/**
 * Renames and moves files.
 *
 * Invariants:
 * - No two live files of one folder, or of one owner's root, have the same name; the database's unique index decides.
 * - A change emits one event in the same transaction.
 */
export class FileMoves {
  readonly #cache: TaggedCache;
  readonly #transactions: AuthorizedTransactions;
  readonly #events: Events;
  readonly #clock: Clock;

  constructor(deps: { db: Database; cache: TaggedCache; events: Events; clock: Clock }) {
    this.#cache = deps.cache;
    this.#transactions = authorizedTransactions(deps);
    this.#events = deps.events;
    this.#clock = deps.clock;
  }

  /**
   * Renames and moves. A move requires write access to the destination and gives nobody more rights; only the owner may move to
   * the root. Throws `name_conflict`.
   */
  async change(actor: Actor, id: string, patch: FileChanges, ifMatch: RequestInfo['ifMatch']): Promise<FileView> {
    return this.#transactions.run(actor, async (tx, caller) => {
      const file = await lockFile(tx, caller, id, 'write', { ifMatch });
      const location = await destinationOf(tx, caller, file, patch.folder_id, this.#clock.now());
      const name = patch.name ?? file.name;
      const path = pathOf(location.path, name);
      const fault = pathFault(path, hiddenAncestors(caller, location.ancestors));
      if (fault !== null) throw invalid('name', fault);
      if (name === file.name && location.folder?.id === file.folder?.id) return presentFile(fileSeenBy(caller, file));
      const changes = { name, path, extension: extensionOf(name), folderId: location.folder?.id ?? null };
      const [row] = await orNameConflict(tx.files.update({ id: file.id }, changes));
      if (!row) throw new Problem('not_found');
      if (location.folder?.id !== file.folder?.id)
        this.#cache.invalidate(tx, ...(await endOutOfReach(tx, file, location.ancestors)).map(grantsTag));
      this.#cache.invalidate(tx, fileTag(id));
      const { revision, updatedAt } = row;
      const changed = { ...file, ...changes, folder: location.folder, revision, updatedAt: updatedAt.toISOString() };
      await this.#emitChanges(tx, file, changed);
      return presentFile(fileSeenBy(caller, { ...changed, ancestors: location.ancestors }));
    });
  }

  async #emitChanges(tx: Tx, before: FileRecord, after: FileRecord): Promise<void> {
    const changes = changesOf(before, after);
    if (changes.length > 0) await this.#events.emit(tx, 'file.updated', fileUpdated(after, changes));
  }
}

/**
 * Returns the folder that the file moves to. `undefined` leaves it where it is, and so does the folder id that the actor is
 * shown, which is null if they cannot see its folder.
 */
export async function destinationOf(
  tx: Tx,
  caller: Caller,
  file: FileRecord,
  folderId: string | null | undefined,
  now: Date,
): Promise<FileLocation> {
  const seen = fileSeenBy(caller, file).folder?.uuid ?? null;
  if (folderId === undefined || folderId === seen) return locationOf(file);
  if (folderId === null) {
    if (file.ownerId === caller.actor.userId) return { folder: null, ancestors: [], path: null };
    throw new Problem('forbidden', 'Only the owner of a file can move it to their root folder.');
  }
  const folder = await openFolder(tx, caller, folderId, 'folder_id');
  if (!isOwnedBy(file, caller.actor))
    requireMove(caller.actor, file, folder.ancestors, await rightsOfMove(tx, caller.actor, file, folder.ancestors, now));
  return { folder, ancestors: folder.ancestors, path: folder.path };
}

export const changesOf = (before: FileRecord, after: FileRecord): ('name' | 'folder')[] => [
  ...(after.name === before.name ? [] : (['name'] as const)),
  ...(after.folder?.id === before.folder?.id ? [] : (['folder'] as const)),
];

const locationOf = (file: FileRecord): FileLocation => ({
  folder: file.folder,
  ancestors: file.ancestors,
  path: file.folder ? file.path.slice(0, -(file.name.length + 1)) : null,
});
