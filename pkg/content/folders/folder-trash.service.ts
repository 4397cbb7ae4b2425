import type { Actor, Level } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { Events } from '../../events/events.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import { unlessTaken } from '../../store/postgres/savepoint.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import type { Caller } from '../model/access/caller.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { allows, levelOn } from '../model/access/inherited-access.policy.ts';
import { FOLDERS_TAG } from '../model/content.tags.ts';
import { alternativeName, NAME_ATTEMPTS } from '../model/names/alternative-names.policy.ts';
import { nameConflict, orNameConflict } from '../model/names/name-conflict.ts';
import type { TrashSchedule } from '../trash/trash-schedule.ts';
import { destination, FolderMoves, type Parent, requireChangeable } from './folder-moves.ts';
import { findParent, type FolderRecord, freeName, lockTree, type Tree } from '../model/folders/folders.sql.ts';
import { folderSeenBy, presentFolder } from '../model/folders/folders.view.ts';
import { purgeTree, restoreTree, trashTree } from '../trash/folder-trash.sql.ts';
import type { FolderRestoration, FolderView } from '../model/folders/folders.schema.ts';

/**
 * Moves folders to the trash, restores them, and deletes them permanently, each with everything below it.
 *
 * Invariants:
 * - The live content of a folder goes to the trash with it, and is restored with it or in part. Content that was deleted earlier
 *   stays in the trash, and is permanently deleted with the folder.
 * - Each live file below emits one event in the transaction of the change.
 * - A permanent deletion frees the quota of all versions below, and has their objects deleted.
 * - If a restoration races with a permanent deletion, the second one sees the result of the first.
 */
export class FolderTrash {
  readonly #transactions: AuthorizedTransactions;
  readonly #cache: TaggedCache;
  readonly #events: Events;
  readonly #clock: Clock;
  readonly #moves: FolderMoves;
  readonly #schedule: TrashSchedule;

  constructor(deps: { db: Database; cache: TaggedCache; events: Events; clock: Clock; trash: TrashSchedule }) {
    this.#transactions = authorizedTransactions(deps);
    this.#cache = deps.cache;
    this.#events = deps.events;
    this.#clock = deps.clock;
    this.#moves = new FolderMoves(deps);
    this.#schedule = deps.trash;
  }

  /** Takes four statements. Throws `not_found` (also where it is in the trash already), `forbidden`, `precondition_failed`. */
  async trash(actor: Actor, id: Uuid, ifMatch: RequestInfo['ifMatch']): Promise<void> {
    await this.#schedule.ensure();
    await this.#transactions.run(actor, async (tx, caller) => {
      const folder = await this.#lock(tx, caller, id, 'write', { ifMatch, state: 'live' });
      const now = this.#clock.now();
      this.#written(tx, await trashTree(tx, folder, now, this.#schedule.expiryOf(now)));
    });
  }

  /**
   * Deletes a folder permanently, from the trash or directly. Requires the level admin. Takes six statements. Throws `not_found`,
   * `forbidden`, `precondition_failed`.
   */
  async purge(actor: Actor, id: Uuid, ifMatch: RequestInfo['ifMatch']): Promise<void> {
    await this.#transactions.run(actor, async (tx, caller) => {
      const folder = await this.#lock(tx, caller, id, 'admin', { ifMatch, state: 'any' });
      await purgeTree(tx, folder, this.#clock.now());
      this.#events.notifyAfterCommit(tx);
      this.#cache.invalidate(tx, FOLDERS_TAG, USERS_TAG);
    });
  }

  /**
   * Restores a folder from the trash; a live one stays as it is. Five statements, one more to another folder or name, three more
   * with `rename`. Throws `not_found`, `forbidden`, `precondition_failed`, `name_conflict`, `conflict` (its folder is in the
   * trash), `validation_failed` (too deep, too long a path).
   */
  async restore(actor: Actor, id: Uuid, input: FolderRestoration, ifMatch: RequestInfo['ifMatch']): Promise<FolderView> {
    return this.#transactions.run(actor, async (tx, caller) => {
      // A folder in the trash is not moved, so this is where it will be, unless another is named; null may stand for a parent
      // that the actor does not see.
      const target = input.parent_id ?? (await findParent(tx, id));
      const { folder, parent } = await lockTree(tx, { folder: id, target: target ?? undefined }, (tree) => {
        const folder = requireTrashed(caller, tree, 'write', { ifMatch, state: 'any' });
        return {
          folder,
          parent: folder.deletedAt === null ? null : restoredTo(caller, { ...tree, folder }, input.parent_id),
        };
      });
      const restored = folder.deletedAt === null ? folder : await this.#restore(tx, caller, folder, parent, input);
      return presentFolder(folderSeenBy(caller, restored));
    });
  }

  async #restore(
    tx: Tx,
    caller: Caller,
    folder: FolderRecord,
    parent: Parent | null,
    { on_conflict }: FolderRestoration,
  ): Promise<FolderRecord> {
    const as = async (name: string): Promise<FolderRecord> => {
      const moved = await this.#moves.move(tx, caller, folder, { name, parent });
      this.#written(tx, await restoreTree(tx, moved, this.#clock.now()));
      return { ...moved, deletedAt: null, trashedWith: null, expiresAt: null, revision: moved.revision + 1 };
    };
    if (on_conflict !== 'rename') return orNameConflict(as(folder.name));
    const location = { parentId: parent?.id ?? null, ownerId: folder.ownerId };
    const names = Array.from({ length: NAME_ATTEMPTS + 1 }, (_, at) =>
      at === 0 ? folder.name : alternativeName(folder.name, at),
    );
    // Each attempt writes everything below, so that it uses a name that is free. It is repeated if somebody takes that name
    // meanwhile.
    for (const _ of names) {
      const name = await freeName(tx, location, names);
      const restored = name === null ? undefined : await unlessTaken(tx, () => as(name));
      if (restored) return restored;
    }
    throw nameConflict();
  }

  #lock(
    tx: Tx,
    caller: Caller,
    id: Uuid,
    wanted: Level,
    of: { ifMatch: RequestInfo['ifMatch']; state: 'live' | 'any' },
  ): Promise<FolderRecord> {
    return lockTree(tx, { folder: id }, (tree) => requireTrashed(caller, tree, wanted, of));
  }

  #written(tx: Tx, deliveries: number): void {
    if (deliveries > 0) this.#events.notifyAfterCommit(tx);
    this.#cache.invalidate(tx, FOLDERS_TAG);
  }
}

/** `any`: also in the trash, where those with write access see it. */
function requireTrashed(
  caller: Caller,
  { folder }: Tree,
  wanted: Level,
  { ifMatch, state }: { ifMatch: RequestInfo['ifMatch']; state: 'live' | 'any' },
): FolderRecord {
  if (!folder) throw new Problem('not_found');
  const isHidden = state === 'live' || !allows(levelOn('folder', caller, folder), 'write');
  if (folder.deletedAt !== null && isHidden) throw new Problem('not_found');
  requireChangeable(caller, folder, wanted, ifMatch);
  return folder;
}

/** Returns the folder that it comes back to. `target`: the requested folder, else its former one. */
function restoredTo(
  caller: Caller,
  tree: Tree & { readonly folder: FolderRecord },
  parent_id: Uuid | null | undefined,
): Parent | null {
  const parent = destination(caller, tree, { parent_id });
  if (parent !== null && parent.id === tree.folder.parentId && tree.target?.deletedAt !== null)
    throw new Problem(
      'conflict',
      'The folder that this was in is in the trash; restore that first, or name another with parent_id.',
    );
  return parent;
}
