import type { Actor } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Events } from '../../events/events.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { hiddenAncestors, levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { orNameConflict } from '../model/names/name-conflict.ts';
import { destination, FolderMoves, requireChangeable } from './folder-moves.ts';
import { findFolder, foldersOnPath, lockTree, openFolder } from '../model/folders/folders.sql.ts';
import { folderSeenBy, presentFolder } from '../model/folders/folders.view.ts';
import { makeFolder } from '../model/folders/new-folder.ts';
import type { FolderChanges, FolderView, NewFolder } from '../model/folders/folders.schema.ts';

/**
 * Folders: a root per owner, unique names among live siblings (the database's unique index decides races).
 * A new folder belongs to its creator, also inside another user's folder; below a course's folder it belongs to the system user,
 * like that one, so that a user who leaves the course keeps no rights there.
 *
 * Invariants:
 * - However many changes race, no folder is below itself, and the path, depth and ancestry of each are those of its parent and
 *   its name.
 * - A change of a folder applies to everything below it or to nothing, in one transaction; each live file below emits one event.
 * - Only the system changes folders that it manages.
 */
export class Folders {
  readonly #db: Database;
  readonly #transactions: AuthorizedTransactions;
  readonly #moves: FolderMoves;
  readonly #random: Random;

  constructor(deps: { db: Database; cache: TaggedCache; events: Events; clock: Clock; random: Random }) {
    this.#db = deps.db;
    this.#transactions = authorizedTransactions(deps);
    this.#moves = new FolderMoves(deps);
    this.#random = deps.random;
  }

  /**
   * `created` is false if `on_conflict` selected an existing folder. Throws `name_conflict`, `not_found` and `forbidden` (the
   * parent), `validation_failed` (too deep, too long a path).
   */
  async create(actor: Actor, input: NewFolder): Promise<{ created: boolean; folder: FolderView }> {
    return this.#transactions.run(actor, async (tx, caller) => {
      const parent = input.parent_id ? await openFolder(tx, caller, input.parent_id, 'parent_id') : null;
      const { created, folder } = await makeFolder(tx, { caller, random: this.#random }, parent, input);
      return { created, folder: presentFolder(folderSeenBy(caller, folder)) };
    });
  }

  async read(actor: Actor, id: string): Promise<FolderView> {
    const [folder, granted] = await Promise.all([findFolder(this.#db.tables, id), actor.permissionSet()]);
    const caller = { actor, granted };
    if (!folder) throw new Problem('not_found');
    requireLevel(levelOn('folder', caller, folder), 'read');
    return presentFolder(folderSeenBy(caller, folder));
  }

  /**
   * Returns the folders on the path to one, from the highest that the actor may see down to itself. Takes one statement. Throws
   * `not_found`.
   */
  async path(actor: Actor, id: string): Promise<FolderView[]> {
    const [folders, granted] = await Promise.all([foldersOnPath(this.#db.tables, id), actor.permissionSet()]);
    const caller = { actor, granted };
    const folder = folders.at(-1);
    if (!folder) throw new Problem('not_found');
    requireLevel(levelOn('folder', caller, folder), 'read');
    const seen = folders.slice(hiddenAncestors(caller, folder.ancestors));
    return seen.map((each) => presentFolder(folderSeenBy(caller, each)));
  }

  /**
   * Renames and moves a folder (PUT and PATCH). A move requires write access to the folder and the destination and gives nobody
   * more rights; only the owner may move to the root. Four statements: read, lock, read again, and change everything below (one
   * more for each 20,000 files). Two more if it leaves folders of others that gave rights, one more if the actor owns neither it
   * nor a folder above it. Throws `not_found`, `forbidden`, `precondition_failed`, `name_conflict`, `conflict` (into itself or
   * below), `validation_failed` (too deep, too long a path).
   */
  async change(actor: Actor, id: Uuid, patch: FolderChanges, ifMatch: RequestInfo['ifMatch']): Promise<FolderView> {
    return this.#transactions.run(actor, async (tx, caller) => {
      const { folder, parent } = await lockTree(
        tx,
        { folder: id, target: patch.parent_id ?? undefined },
        ({ folder, target }) => {
          if (!folder || folder.deletedAt !== null) throw new Problem('not_found');
          requireChangeable(caller, folder, 'write', ifMatch);
          return { folder, parent: destination(caller, { folder, target }, patch) };
        },
      );
      const moved = await orNameConflict(this.#moves.move(tx, caller, folder, { name: patch.name ?? folder.name, parent }));
      return presentFolder(folderSeenBy(caller, moved));
    });
  }
}
