import type { Actor } from '../../api/actor.ts';
import { invalid, Problem } from '../../api/problem.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database } from '../../store/postgres/database.ts';
import { CheckViolation } from '../../store/postgres/errors.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { hiddenAncestors, levelOn, requireLevel } from '../access/inherited-access.policy.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../access/authorized-transactions.ts';
import { orNameConflict } from '../names/name-conflict.ts';
import { pathFault, pathOf } from '../names/names.policy.ts';
import { findFolder, openFolder } from './folders.sql.ts';
import { folderSeenBy, presentFolder } from './folders.view.ts';
import type { FolderView, NewFolder } from './folders.schema.ts';

/**
 * Folders: a root per owner, unique names among live siblings (the database's unique index decides races).
 * A new folder belongs to its creator, also inside another user's folder; below a course's folder it belongs to the system user, like that one,
 * so that a user who leaves the course keeps no rights there.
 */
export class Folders {
  readonly #db: Database;
  readonly #transactions: AuthorizedTransactions;
  readonly #random: Random;

  constructor(deps: { db: Database; cache: TaggedCache; random: Random }) {
    this.#db = deps.db;
    this.#transactions = authorizedTransactions(deps);
    this.#random = deps.random;
  }

  /** Throws `name_conflict`, `not_found` and `forbidden` (the parent), `validation_failed` (too deep, too long a path). */
  async create(actor: Actor, input: NewFolder): Promise<FolderView> {
    return this.#transactions.run(actor, async (tx, granted) => {
      const parent = input.parent_id ? await openFolder(tx, actor, granted, input.parent_id, 'parent_id') : null;
      const path = pathOf(parent?.path ?? null, input.name);
      const fault = pathFault(path, hiddenAncestors(actor, parent?.ancestors ?? [], granted));
      if (fault !== null) throw invalid('name', fault);
      const uuid = this.#random.uuid();
      const ownerId = parent?.ownerIsSystem ? parent.ownerId : actor.userId;
      const row = { uuid, name: input.name, path, parentId: parent?.id ?? null, ownerId };
      try {
        await orNameConflict(tx.folders.insert(row));
      } catch (error) {
        if (error instanceof CheckViolation && error.constraint === 'folders_depth_check')
          throw invalid('parent_id', 'is too deep to hold another folder');
        throw error;
      }
      const folder = await findFolder(tx, uuid);
      if (!folder) throw new Problem('internal');
      return presentFolder(folderSeenBy(actor, granted, folder));
    });
  }

  async read(actor: Actor, id: string): Promise<FolderView> {
    const [folder, granted] = await Promise.all([findFolder(this.#db.tables, id), actor.permissionSet()]);
    if (!folder) throw new Problem('not_found');
    requireLevel(levelOn('folder', actor, folder, granted), 'read');
    return presentFolder(folderSeenBy(actor, granted, folder));
  }
}
