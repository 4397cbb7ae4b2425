import type { Caller } from '../model/access/caller.ts';
import { grantsTag } from '../../access/tags.ts';
import type { Level } from '../../api/actor.ts';
import type { RequestInfo } from '../../api/endpoint.ts';
import { requireMatch } from '../../api/etag.ts';
import { invalid, Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Events } from '../../events/events.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { CheckViolation, sqlState } from '../../store/postgres/errors.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { endOutOfReachBelow, rightsOfMove } from '../model/access/delegated-grants.sql.ts';
import { hiddenAncestors, isOwnedBy, levelOn, requireLevel, requireMove } from '../model/access/inherited-access.policy.ts';
import { FOLDERS_TAG } from '../model/content.tags.ts';
import { pathFault, pathOf, tooLongPath } from '../model/names/names.policy.ts';
import { type FolderRecord, requireOpen, type Tree } from '../model/folders/folders.sql.ts';
import { folderEtag, folderSeenBy } from '../model/folders/folders.view.ts';
import { moveFolder } from './move.sql.ts';

/** The parent of a folder, now or after a move. */
export type Parent = Pick<FolderRecord, 'id' | 'uuid' | 'path' | 'depth' | 'ancestry' | 'ancestors'>;

/** Moves folders, for a change and for a restoration. */
export class FolderMoves {
  readonly #cache: TaggedCache;
  readonly #events: Events;
  readonly #clock: Clock;

  constructor(deps: { cache: TaggedCache; events: Events; clock: Clock }) {
    this.#cache = deps.cache;
    this.#events = deps.events;
    this.#clock = deps.clock;
  }

  /**
   * Gives a folder, whose tree is locked, this name and parent (null: none), and returns the result. A folder that has them
   * already stays as it is. Nobody gets more rights, and grants that were given through the folders that it leaves end. One
   * statement, two more if it leaves folders, one more if the actor owns neither it nor a folder above it. Throws
   * UniqueViolation, `forbidden`, `validation_failed` (too deep, too long a path).
   */
  async move(
    tx: Tx,
    caller: Caller,
    folder: FolderRecord,
    to: { readonly name: string; readonly parent: Parent | null },
  ): Promise<FolderRecord> {
    const { actor } = caller;
    const { name, parent } = to;
    const isMove = (parent?.id ?? null) !== folder.parentId;
    if (!isMove && name === folder.name) return folder;
    if (isMove && parent !== null && !isOwnedBy(folder, actor)) {
      const moved = { ...folder, kind: 'folder' } as const;
      requireMove(actor, moved, parent.ancestors, await rightsOfMove(tx, actor, moved, parent.ancestors, this.#clock.now()));
    }
    const path = pathOf(parent?.path ?? null, name);
    const hidden = hiddenAncestors(caller, parent?.ancestors ?? []);
    const moved = await orTooDeep(
      { hidden, field: isMove ? 'parent_id' : 'name' },
      moveFolder(tx, folder, { name, path, parent }, this.#clock.now()),
    );
    if (moved.deliveries > 0) this.#events.notifyAfterCommit(tx);
    const ancestors = [...(parent?.ancestors ?? []), { uuid: folder.uuid, ownerId: folder.ownerId }];
    const concerned = await endOutOfReachBelow(tx, folder.id, folder.ancestors, ancestors);
    this.#cache.invalidate(tx, FOLDERS_TAG, ...concerned.map(grantsTag));
    const { revision, updatedAt } = moved;
    const located = { parentId: parent?.id ?? null, parentUuid: parent?.uuid ?? null, depth: ancestors.length - 1, ancestors };
    const ancestry = [...(parent === null ? [] : [parent.ancestry]), folder.id].join('.');
    return { ...folder, ...located, ancestry, name, path, revision, updatedAt };
  }
}

/** Throws `not_found` and `forbidden` as `requireLevel`, `forbidden` for a folder of the system, `precondition_failed`. */
export function requireChangeable(caller: Caller, folder: FolderRecord, wanted: Level, ifMatch: RequestInfo['ifMatch']): void {
  requireLevel(levelOn('folder', caller, folder), wanted);
  if (folder.isSystem) throw new Problem('forbidden', 'The system manages this folder; it cannot be renamed, moved or deleted.');
  requireMatch(ifMatch, folderEtag(folderSeenBy(caller, folder)));
}

/**
 * Returns the folder that it moves into; null: none. An undefined `parentId` leaves it where it is, and so does the parent that
 * the actor is shown, which is null if they cannot see it. Throws `not_found` and `forbidden` (the target, the root of another
 * user), `conflict` (into itself or below), `validation_failed` (the path).
 */
export function destination(
  caller: Caller,
  { folder, target }: Tree & { readonly folder: FolderRecord },
  { name, parent_id }: { readonly name?: string | undefined; readonly parent_id?: Uuid | null | undefined },
): Parent | null {
  const parent = parentFor(caller, { folder, target }, parent_id);
  if (parent?.ancestors.some(({ uuid }) => uuid === folder.uuid))
    throw new Problem('conflict', 'A folder cannot be moved into itself, nor into a folder below it.');
  const fault = pathFault(pathOf(parent?.path ?? null, name ?? folder.name), hiddenAncestors(caller, parent?.ancestors ?? []));
  if (fault !== null) throw invalid('name', fault);
  return parent;
}

function parentFor(
  caller: Caller,
  { folder, target }: Tree & { readonly folder: FolderRecord },
  id: Uuid | null | undefined,
): Parent | null {
  if (id === undefined || id === folderSeenBy(caller, folder).parentUuid) return parentOf(folder);
  if (id !== null) return requireOpen(caller, target, 'parent_id');
  if (folder.ownerId === caller.actor.userId) return null;
  throw new Problem('forbidden', 'Only the owner of a folder can move it to their root.');
}

/** Returns the folder that it is in; null: none. */
export const parentOf = ({ parentId, parentUuid, name, path, depth, ancestry, ancestors }: FolderRecord): Parent | null =>
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

/** Runs a move that Postgres may refuse because of something below the folder; the refusal becomes `validation_failed`. */
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
