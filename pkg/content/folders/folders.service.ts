import { grantsTag } from '../../access/tags.ts';
import type { Actor, Level } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { requireMatch } from '../../api/etag.ts';
import { invalid, Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Events } from '../../events/events.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import { CheckViolation, sqlState } from '../../store/postgres/errors.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { endOutOfReachBelow, rightsOfMove } from '../access/delegated-grants.sql.ts';
import { type Granted, hiddenAncestors, isOwnedBy, levelOn, requireLevel, requireMove } from '../access/inherited-access.policy.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../access/authorized-transactions.ts';
import { nameConflict, orNameConflict } from '../names/name-conflict.ts';
import { FOLDERS_TAG } from '../content.tags.ts';
import { alternativeName, pathFault, pathOf, tooLongPath } from '../names/names.policy.ts';
import { findChild, findFolder, type FolderRecord, insertFolder, lockTree, openFolder, requireOpen, type Tree } from './folders.sql.ts';
import { folderEtag, folderSeenBy, presentFolder } from './folders.view.ts';
import { moveFolder } from './move.sql.ts';
import type { FolderChanges, FolderView, NewFolder } from './folders.schema.ts';

/**
 * Folders: a root per owner, unique names among live siblings (the database's unique index decides races).
 * A new folder belongs to its creator, also inside another user's folder; below a course's folder it belongs to the system user, like that one,
 * so that a user who leaves the course keeps no rights there.
 *
 * Invariants:
 * - However many changes race, no folder is below itself, and the path, depth and ancestry of each are those of its parent and its name.
 * - A change of a folder concerns all below it or nothing, in one transaction; each live file below it has one event.
 * - A folder that the system manages is changed by the system alone.
 */
export class Folders {
  readonly #db: Database;
  readonly #transactions: AuthorizedTransactions;
  readonly #cache: TaggedCache;
  readonly #events: Events;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: { db: Database; cache: TaggedCache; events: Events; clock: Clock; random: Random }) {
    this.#db = deps.db;
    this.#transactions = authorizedTransactions(deps);
    this.#cache = deps.cache;
    this.#events = deps.events;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /**
   * `created` is false where `on_conflict` let one that is there be taken. Throws `name_conflict`, `not_found` and `forbidden` (the parent),
   * `validation_failed` (too deep, too long a path).
   */
  async create(actor: Actor, input: NewFolder): Promise<{ created: boolean; folder: FolderView }> {
    return this.#transactions.run(actor, async (tx, granted) => {
      const parent = input.parent_id ? await openFolder(tx, actor, granted, input.parent_id, 'parent_id') : null;
      const ownerId = parent?.ownerIsSystem ? parent.ownerId : actor.userId;
      for (let attempt = 0; attempt <= RENAME_ATTEMPTS; attempt += 1) {
        const name = attempt === 0 || input.on_conflict === 'reuse' ? input.name : alternativeName(input.name, attempt);
        const path = pathOf(parent?.path ?? null, name);
        const fault = pathFault(path, hiddenAncestors(actor, parent?.ancestors ?? [], granted));
        if (fault !== null) throw invalid('name', fault);
        const uuid = await this.#insert(tx, { name, path, parentId: parent?.id ?? null, ownerId });
        const present =
          uuid === null && input.on_conflict === 'reuse' ? await findChild(tx, { parentId: parent?.id ?? null, ownerId, name }) : null;
        const folder = uuid === null ? present : await findFolder(tx, uuid);
        if (folder) return { created: uuid !== null, folder: presentFolder(folderSeenBy(actor, granted, folder)) };
        if (input.on_conflict === 'fail') break;
      }
      throw nameConflict();
    });
  }

  /** The folder's uuid; null: its name is taken. */
  async #insert(tx: Tx, row: { name: string; path: string; parentId: number | null; ownerId: number }): Promise<Uuid | null> {
    const uuid = this.#random.uuid();
    try {
      return (await insertFolder(tx, { uuid, ...row })) ? uuid : null;
    } catch (error) {
      if (error instanceof CheckViolation && error.constraint === 'folders_depth_check')
        throw invalid('parent_id', 'is too deep to hold another folder');
      throw error;
    }
  }

  async read(actor: Actor, id: string): Promise<FolderView> {
    const [folder, granted] = await Promise.all([findFolder(this.#db.tables, id), actor.permissionSet()]);
    if (!folder) throw new Problem('not_found');
    requireLevel(levelOn('folder', actor, folder, granted), 'read');
    return presentFolder(folderSeenBy(actor, granted, folder));
  }

  /**
   * PUT and PATCH: renames and moves. A move needs write on the folder and on the destination and gives nobody more rights; into the root only the owner
   * moves. Four statements: what it is, the locks, what it is under them, and the change of all below (one more for each 20,000
   * files). Two more where it leaves folders of others that
   * gave rights, one more for whoever owns neither it nor a folder above it. Throws `not_found`, `forbidden`, `precondition_failed`, `name_conflict`,
   * `conflict` (into itself or below), `validation_failed` (too deep, too long a path).
   */
  async change(actor: Actor, id: Uuid, patch: FolderChanges, ifMatch: RequestInfo['ifMatch']): Promise<FolderView> {
    return this.#transactions.run(actor, async (tx, granted) => {
      const { folder, parent, path } = await lockTree(tx, { folder: id, target: patch.parent_id ?? undefined }, (tree) =>
        planChange(actor, granted, tree, patch, ifMatch),
      );
      const ancestors = [...(parent?.ancestors ?? []), { uuid: folder.uuid, ownerId: folder.ownerId }];
      const isMove = (parent?.id ?? null) !== folder.parentId;
      if (isMove && parent !== null && !isOwnedBy(folder, actor)) {
        const moved = { ...folder, kind: 'folder' } as const;
        requireMove(actor, moved, parent.ancestors, await rightsOfMove(tx, actor, moved, parent.ancestors, this.#clock.now()));
      }
      const name = patch.name ?? folder.name;
      if (!isMove && name === folder.name) return presentFolder(folderSeenBy(actor, granted, folder));
      const moved = await orTooDeep(
        { hidden: hiddenAncestors(actor, parent?.ancestors ?? [], granted), field: isMove ? 'parent_id' : 'name' },
        orNameConflict(moveFolder(tx, folder, { name, path, parent }, this.#clock.now())),
      );
      if (moved.deliveries > 0) this.#events.notifyAfterCommit(tx);
      const concerned = await endOutOfReachBelow(tx, folder.id, folder.ancestors, ancestors);
      this.#cache.invalidate(tx, FOLDERS_TAG, ...concerned.map(grantsTag));
      const located = { parentId: parent?.id ?? null, parentUuid: parent?.uuid ?? null, depth: ancestors.length - 1, ancestors };
      const { revision, updatedAt } = moved;
      return presentFolder(folderSeenBy(actor, granted, { ...folder, ...located, name, path, revision, updatedAt }));
    });
  }
}

/** Alternatives to a name that are tried. */
const RENAME_ATTEMPTS = 100;

/** Where a folder is or will be. */
type Parent = Pick<FolderRecord, 'id' | 'uuid' | 'path' | 'depth' | 'ancestry' | 'ancestors'>;

/** What a change of a folder makes of it: its parent (null: none) and its path. Throws what forbids it, but for rights that a move may not give. */
function planChange(
  actor: Actor,
  granted: Granted,
  { folder, target }: Tree,
  patch: FolderChanges,
  ifMatch: RequestInfo['ifMatch'],
): { folder: FolderRecord; parent: Parent | null; path: string } {
  if (!folder || folder.deletedAt !== null) throw new Problem('not_found');
  requireChangeable(actor, granted, folder, 'write', ifMatch);
  const parent = destination(actor, granted, { folder, target }, patch.parent_id);
  if (parent?.ancestors.some(({ uuid }) => uuid === folder.uuid))
    throw new Problem('conflict', 'A folder cannot be moved into itself, nor into a folder below it.');
  const path = pathOf(parent?.path ?? null, patch.name ?? folder.name);
  const fault = pathFault(path, hiddenAncestors(actor, parent?.ancestors ?? [], granted));
  if (fault !== null) throw invalid('name', fault);
  return { folder, parent, path };
}

/** Throws `not_found` and `forbidden` as `requireLevel`, `forbidden` for a folder of the system, `precondition_failed`. */
function requireChangeable(actor: Actor, granted: Granted, folder: FolderRecord, wanted: Level, ifMatch: RequestInfo['ifMatch']): void {
  requireLevel(levelOn('folder', actor, folder, granted), wanted);
  if (folder.isSystem) throw new Problem('forbidden', 'The system manages this folder; nobody renames, moves or deletes it.');
  requireMatch(ifMatch, folderEtag(folderSeenBy(actor, granted, folder)));
}

/** The folder that it will be in. `undefined` leaves it where it is, and so does what is shown as its parent: null for whoever sees none. */
function destination(
  actor: Actor,
  granted: Granted,
  { folder, target }: { folder: FolderRecord; target: FolderRecord | null },
  parentId: Uuid | null | undefined,
): Parent | null {
  if (parentId === undefined || parentId === folderSeenBy(actor, granted, folder).parentUuid) return parentOf(folder);
  if (parentId !== null) return requireOpen(actor, granted, target, 'parent_id');
  if (folder.ownerId === actor.userId) return null;
  throw new Problem('forbidden', 'Only the owner of a folder can move it to their root.');
}

const parentOf = ({ parentId, parentUuid, name, path, depth, ancestry, ancestors }: FolderRecord): Parent | null =>
  parentId === null || parentUuid === null
    ? null
    : {
        id: parentId,
        uuid: parentUuid,
        path: path.slice(0, -(name.length + 1)),
        depth: depth - 1,
        ancestry: ancestry.slice(0, ancestry.lastIndexOf('.')),
        ancestors: ancestors.slice(0, -1),
      };

/** A move that Postgres may refuse because of something below the folder: `validation_failed`. */
async function orTooDeep<T>({ hidden, field }: { hidden: number; field: string }, write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof CheckViolation && error.constraint === 'folders_depth_check')
      throw invalid('parent_id', 'is too deep to hold this folder and those below it');
    if (sqlState(error) === TOO_LONG) throw invalid(field, tooLongPath(hidden));
    throw error;
  }
}

/** PostgreSQL, Appendix A: string_data_right_truncation. */
const TOO_LONG = '22001';
