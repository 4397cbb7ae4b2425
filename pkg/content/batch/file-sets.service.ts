import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { Actor } from '../../api/actor.ts';
import type { Events } from '../../events/events.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../model/access/authorized-transactions.ts';
import { hiddenAncestors, isOwnedBy } from '../model/access/inherited-access.policy.ts';
import { fileTag } from '../model/content.tags.ts';
import { openFolder } from '../model/folders/folders.sql.ts';
import { purgeLockedFiles } from '../trash/folder-trash.sql.ts';
import { pathFault, pathOf } from '../model/names/names.policy.ts';
import { fileUpdated } from '../model/files/files.events.ts';
import { decided, type SetResult } from '../model/files/files.service.ts';
import { type FileRecord, findFiles, lockFiles } from '../model/files/files.sql.ts';
import { fileSeenBy } from '../model/files/files.view.ts';

const GRANTED = `
  SELECT DISTINCT resource_id AS id FROM permissions WHERE resource_type = 'file' AND resource_id = ANY ($1::bigint[])`;

/** $1 the files that must be at $2, the folder, or, without one, each in the root of its owner. */
const TAKEN = `
  SELECT f.id FROM files f WHERE f.id = ANY ($1::bigint[]) AND CASE WHEN $2::bigint IS NULL
    THEN EXISTS (SELECT FROM files o WHERE o.folder_id IS NULL AND o.owner_id = f.owner_id AND o.name = f.name
      AND o.deleted_at IS NULL)
    ELSE EXISTS (SELECT FROM files o WHERE o.folder_id = $2 AND o.name = f.name AND o.deleted_at IS NULL) END`;
/** $1 files in the trash. Selects those whose folder no longer exists, or has another file of the name by now. */
const NOT_RESTORABLE = `
  SELECT f.id FROM files f LEFT JOIN folders d ON d.id = f.folder_id
  WHERE f.id = ANY ($1::bigint[]) AND CASE WHEN f.folder_id IS NULL
    THEN EXISTS (SELECT FROM files o WHERE o.folder_id IS NULL AND o.owner_id = f.owner_id AND o.name = f.name
      AND o.deleted_at IS NULL)
    ELSE d.deleted_at IS NOT NULL
      OR EXISTS (SELECT FROM files o WHERE o.folder_id = f.folder_id AND o.name = f.name AND o.deleted_at IS NULL) END`;
const HOLD_FOLDERS = `
  SELECT FROM folders WHERE id IN (SELECT folder_id FROM files WHERE uuid = ANY ($1::uuid[])) ORDER BY id FOR SHARE`;

const changed = (set: string): string => `
  UPDATE files f SET ${set} WHERE f.id = ANY ($1::bigint[]) RETURNING f.id, f.path, f.revision, f.updated_at AS "updatedAt"`;
const MOVE = changed(`folder_id = $2, path = $3::text || '/' || f.name`);
const RESTORE = changed('deleted_at = NULL, trashed_with = NULL, expires_at = NULL');

type ChangedRow = Pick<FileRecord, 'id' | 'path' | 'revision'> & { readonly updatedAt: Date };

/**
 * Makes the same change to many files in a few statements, and decides each as `FileMoves` and `FileTrash` would. It leaves
 * special cases to them (`left`): a name that is taken, a grant that would end, a move by somebody who is not the owner.
 */
export class FileSets {
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
   * Moves files to a folder, or with null to the root. Takes six statements and those of the events. Throws `not_found` and
   * `forbidden` for the folder, UniqueViolation where a name is taken meanwhile.
   */
  move(actor: Actor, ids: readonly string[], folderId: string | null): Promise<SetResult> {
    return this.#transactions.run(actor, async (tx, caller) => {
      const folder = folderId === null ? null : await openFolder(tx, caller, folderId, 'folder_id');
      await lockFiles(tx, ids);
      const { files, refused } = decided(caller, ids, await findFiles(tx, ids), 'write');
      const moving = files.filter((file) => (fileSeenBy(caller, file).folder?.uuid ?? null) !== folderId);
      const path = folder?.path ?? null;
      const hidden = hiddenAncestors(caller, folder?.ancestors ?? []);
      const mayMove = (file: FileRecord): boolean => (folder === null ? file.ownerId === actor.userId : isOwnedBy(file, actor));
      const plain = moving.filter((file) => mayMove(file) && pathFault(pathOf(path, file.name), hidden) === null);
      const special = await idsOf(tx, `${GRANTED} UNION ${TAKEN}`, plain, [folder?.id ?? null]);
      const chosen = firstOfName(
        plain.filter(({ id }) => !special.has(id)),
        ({ name }) => name,
      );
      const rows = await this.#change(tx, MOVE, chosen, [folder?.id ?? null, path ?? '']);
      const destination = folder && { id: folder.id, uuid: folder.uuid, name: folder.name };
      const after = chosen.map((file) => ({ ...file, ...rows.get(file.id), folder: destination }));
      await this.#emit(tx, after, ['folder']);
      return { refused, left: leftOf(moving, chosen) };
    });
  }

  /**
   * Restores files from the trash to where they were; live ones stay as they are. Takes six statements and those of the events.
   * Throws UniqueViolation where a name is taken meanwhile.
   */
  restore(actor: Actor, ids: readonly string[]): Promise<SetResult> {
    return this.#transactions.run(actor, async (tx, caller) => {
      await tx.query(HOLD_FOLDERS, [ids]);
      await lockFiles(tx, ids);
      const { files, refused } = decided(caller, ids, await findFiles(tx, ids), 'write', 'any');
      const trashed = files.filter(({ deletedAt }) => deletedAt !== null);
      const special = await idsOf(tx, NOT_RESTORABLE, trashed);
      const chosen = firstOfName(
        trashed.filter(({ id }) => !special.has(id)),
        ({ name, folder, ownerId }) => JSON.stringify([folder?.id ?? null, folder ? null : ownerId, name]),
      );
      const rows = await this.#change(tx, RESTORE, chosen);
      await this.#emit(
        tx,
        chosen.map((file) => ({ ...file, ...rows.get(file.id), deletedAt: null })),
        ['restored'],
      );
      return { refused, left: leftOf(trashed, chosen) };
    });
  }

  /**
   * Deletes files for ever, from the trash or directly, and requests one job that deletes their objects. Takes three
   * statements.
   */
  purge(actor: Actor, ids: readonly string[]): Promise<SetResult> {
    return this.#transactions.run(actor, async (tx, caller) => {
      await lockFiles(tx, ids);
      const { files, refused } = decided(caller, ids, await findFiles(tx, ids), 'admin', 'any');
      if (files.length === 0) return { refused };
      await purgeLockedFiles(
        tx,
        files.map(({ id }) => id),
        this.#clock.now(),
      );
      this.#events.notifyAfterCommit(tx);
      this.#cache.invalidate(tx, USERS_TAG, ...files.map(({ uuid }) => fileTag(uuid)));
      return { refused };
    });
  }

  async #change(
    tx: Tx,
    sql: string,
    files: readonly FileRecord[],
    params: readonly unknown[] = [],
  ): Promise<ReadonlyMap<number, Pick<FileRecord, 'path' | 'revision' | 'updatedAt'>>> {
    if (files.length === 0) return new Map();
    const rows = await tx.query<ChangedRow>(sql, [files.map(({ id }) => id), ...params]);
    return new Map(rows.map(({ id, path, revision, updatedAt }) => [id, { path, revision, updatedAt: updatedAt.toISOString() }]));
  }

  async #emit(tx: Tx, after: readonly FileRecord[], changes: Parameters<typeof fileUpdated>[1]): Promise<void> {
    const events = after.map((file) => fileUpdated(file, changes));
    await this.#events.emitAll(tx, 'file.updated', events);
    this.#cache.invalidate(tx, ...after.map(({ uuid }) => fileTag(uuid)));
  }
}

/** Returns the first of the files that would have the same name in one folder. */
function firstOfName(files: readonly FileRecord[], keyOf: (file: FileRecord) => string): FileRecord[] {
  const seen = new Set<string>();
  return files.filter((file) => {
    const key = keyOf(file);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const leftOf = (all: readonly FileRecord[], done: readonly FileRecord[]): ReadonlySet<string> => {
  const ids = new Set(done.map(({ id }) => id));
  return new Set(all.filter(({ id }) => !ids.has(id)).map(({ uuid }) => uuid));
};

async function idsOf(
  tx: Tx,
  sql: string,
  files: readonly FileRecord[],
  params: readonly unknown[] = [],
): Promise<ReadonlySet<number>> {
  if (files.length === 0) return new Set();
  const rows = await tx.query<{ id: number }>(sql, [files.map(({ id }) => id), ...params]);
  return new Set(rows.map(({ id }) => id));
}
