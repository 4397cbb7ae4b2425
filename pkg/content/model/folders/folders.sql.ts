import { Problem } from '../../../api/problem.ts';
import type { Uuid } from '../../../api/schemas.ts';
import type { Executor, Tx } from '../../../store/postgres/database.ts';
import type { Caller } from '../access/caller.ts';
import { type Ancestor, levelOn, requireLevel } from '../access/inherited-access.policy.ts';
import { ancestorsOf, unchangedSince } from '../files/files.sql.ts';

/** A live folder with its owner's name and the folders above it; the last of these is the folder itself. */
export interface FolderRecord {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly path: string;
  readonly depth: number;
  readonly isSystem: boolean;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deletedAt: Date | null;
  /** The folder with which it was moved to the trash, or null if it was deleted by itself. */
  readonly trashedWith: number | null;
  /** For a folder in the trash, the time of its permanent deletion. */
  readonly expiresAt: Date | null;
  readonly ownerId: number;
  readonly ownerUuid: string;
  readonly ownerName: string;
  readonly ownerIsSystem: boolean;
  readonly parentId: number | null;
  readonly parentUuid: string | null;
  /** Internal ids from the root down to the folder itself, joined by dots. */
  readonly ancestry: string;
  readonly ancestors: readonly Ancestor[];
}

/** Returns SQL for the time when a file or folder in the trash is deleted permanently; null for a live one. */
export const expiryOf = (alias: string): string => `coalesce(${alias}.expires_at, ${alias}.deleted_at + interval '30 days')`;

/**
 * Returns SQL for the folders `r` from which a person sees everything below: the topmost of their own folders, and those
 * granted. `me` is a parameter, `granted` an SQL expression of uuids; without it, no folder is granted.
 */
export const seenFrom = (me: string, granted?: string): string =>
  `(r.owner_id = ${me} AND NOT EXISTS (SELECT FROM folders u WHERE u.id = r.parent_id AND u.owner_id = ${me})${
    granted === undefined ? '' : ` OR r.uuid = ANY (${granted})`
  })`;

/** The columns of a FolderRecord. They require `FROM folders` with FOLDER_JOINS, which names the table `d`. */
export const FOLDER_COLUMNS = `
    d.id, d.uuid, d.name, d.path, d.depth, d.is_system AS "isSystem", d.revision, d.created_at AS "createdAt",
    d.updated_at AS "updatedAt", d.deleted_at AS "deletedAt",
    d.trashed_with AS "trashedWith", ${expiryOf('d')} AS "expiresAt",
    d.owner_id AS "ownerId", o.uuid AS "ownerUuid", coalesce(o.display_name, o.username) AS "ownerName",
    coalesce(o.is_system, false) AS "ownerIsSystem", p.id AS "parentId", p.uuid AS "parentUuid",
    ltree2text(d.ancestry) AS ancestry,
    ${ancestorsOf('d')} AS ancestors`;

export const FOLDER_JOINS = 'd LEFT JOIN users o ON o.id = d.owner_id LEFT JOIN folders p ON p.id = d.parent_id';

const find = (columns: string): string =>
  `SELECT ${columns} FROM folders ${FOLDER_JOINS} WHERE d.uuid = $1 AND d.deleted_at IS NULL`;
const FIND = find(FOLDER_COLUMNS);

const LOCK = find(`${FOLDER_COLUMNS}, ${unchangedSince('d', 'folders')}`);
const LOCKED = { share: `${LOCK} FOR SHARE OF d`, update: `${LOCK} FOR UPDATE OF d` } as const;

/**
 * Takes one statement. With `lock`, the folder does not change until the end of the transaction; a second statement runs if the
 * folder changed during the wait for the lock.
 */
export async function findFolder(
  sql: Pick<Executor, 'prepared'>,
  uuid: string,
  lock?: 'share' | 'update',
): Promise<FolderRecord | null> {
  if (lock) {
    const [locked] = await sql.prepared<FolderRecord & { isUnchanged: boolean }>(`content-folder-${lock}`, LOCKED[lock], [uuid]);
    if (!locked) return null;
    const { isUnchanged, ...folder } = locked;
    if (isUnchanged) return folder;
  }
  const [folder] = await sql.prepared<FolderRecord>('content-folder', FIND, [uuid]);
  return folder ?? null;
}

/** Returns live folders. One statement, or none if there are no ids. */
export const foldersById = async (sql: Executor, ids: readonly number[]): Promise<FolderRecord[]> =>
  ids.length === 0
    ? []
    : sql.prepared<FolderRecord>('content-folders-by-id', FIND.replace('d.uuid = $1', 'd.id = ANY ($1::bigint[])'), [ids]);

/** Like `foldersById`, by uuid. */
export const foldersByUuid = async (sql: Executor, uuids: readonly string[]): Promise<FolderRecord[]> =>
  uuids.length === 0
    ? []
    : sql.prepared<FolderRecord>('content-folders-by-uuid', FIND.replace('d.uuid = $1', 'd.uuid = ANY ($1::uuid[])'), [uuids]);

const ON_PATH = `${FIND.replace(
  'd.uuid = $1',
  `d.id = ANY (string_to_array(
    ltree2text((SELECT t.ancestry FROM folders t WHERE t.uuid = $1 AND t.deleted_at IS NULL)), '.')::bigint[])`,
)} ORDER BY d.depth`;

/** Returns the folders above a live folder, the highest first, then itself; none if there is no such folder. One statement. */
export const foldersOnPath = (sql: Pick<Executor, 'prepared'>, uuid: string): Promise<FolderRecord[]> =>
  sql.prepared<FolderRecord>('content-folder-path', ON_PATH, [uuid]);

/** Returns null if the name is taken. One statement. The database checks the depth. */
export async function insertFolder(
  tx: Tx,
  row: {
    readonly uuid: string;
    readonly name: string;
    readonly path: string;
    readonly parentId: number | null;
    readonly ownerId: number;
  },
): Promise<{ readonly id: number } | null> {
  const [inserted] = await tx.query<{ id: number }>(
    'INSERT INTO folders (uuid, name, path, parent_id, owner_id) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING id',
    [row.uuid, row.name, row.path, row.parentId, row.ownerId],
  );
  return inserted ?? null;
}

/** Finds a live folder by its name in a parent folder or in an owner's root. One statement. */
export async function findChild(
  sql: Executor,
  { parentId, ownerId, name }: { readonly parentId: number | null; readonly ownerId: number; readonly name: string },
): Promise<FolderRecord | null> {
  const location = parentId === null ? 'd.parent_id IS NULL AND d.owner_id = $1' : 'd.parent_id = $1';
  const [row] = await sql.query<FolderRecord>(
    `SELECT ${FOLDER_COLUMNS} FROM folders ${FOLDER_JOINS} WHERE ${location} AND d.name = $2 AND d.deleted_at IS NULL`,
    [parentId ?? ownerId, name],
  );
  return row ?? null;
}

/** Returns the first of these names that is free in a parent folder or an owner's root; null if all are taken. One statement. */
export async function freeName(
  sql: Executor,
  { parentId, ownerId }: { readonly parentId: number | null; readonly ownerId: number },
  names: readonly string[],
): Promise<string | null> {
  const location = parentId === null ? 'd.parent_id IS NULL AND d.owner_id = $1' : 'd.parent_id = $1';
  const [free] = await sql.query<{ name: string }>(
    `SELECT n.name FROM unnest($2::text[]) WITH ORDINALITY n (name, at)
     WHERE NOT EXISTS (SELECT FROM folders d WHERE ${location} AND d.name = n.name AND d.deleted_at IS NULL)
     ORDER BY n.at LIMIT 1`,
    [parentId ?? ownerId, names],
  );
  return free?.name ?? null;
}

/**
 * Returns a live folder into which the actor may write. It cannot move until the end of the transaction. Throws `not_found`,
 * `forbidden`.
 */
export async function openFolder(sql: Executor, caller: Caller, uuid: string, field: string): Promise<FolderRecord> {
  return requireOpen(caller, await findFolder(sql, uuid, 'share'), field);
}

/** Like `openFolder`, for a folder that was already read; null, or a folder in the trash, is `not_found`. */
export function requireOpen(caller: Caller, folder: FolderRecord | null, field: string): FolderRecord {
  const level = folder && levelOn('folder', caller, folder);
  if (!folder || folder.deletedAt !== null || level === null)
    throw new Problem('not_found', `${field}: there is no such folder.`, {
      details: [{ field, message: 'there is no such folder' }],
    });
  requireLevel(level, 'write');
  return folder;
}

const HOLD_FOLDER = `
  SELECT d.id, d.deleted_at IS NULL AS "isOpen" FROM folders d
  WHERE d.id = (SELECT f.folder_id FROM files f WHERE f.uuid = $1) AND ($2::uuid IS NULL OR d.uuid = $2) FOR SHARE`;

/**
 * Locks the folder of a file until the end of the transaction, unless `named` is another folder. Returns its internal id, or null
 * if the file has no folder, the folder is in the trash, or `named` is another folder. One statement.
 */
export async function holdFolderOf(tx: Tx, fileUuid: string, named: Uuid | null): Promise<number | null> {
  const [folder] = await tx.query<{ id: number; isOpen: boolean }>(HOLD_FOLDER, [fileUuid, named]);
  return folder?.isOpen ? folder.id : null;
}

/** Returns the uuid of a folder's parent, whatever its state; null if it has none. One statement. */
export async function findParent(sql: Executor, uuid: string): Promise<string | null> {
  const [row] = await sql.query<{ uuid: string }>(
    'SELECT p.uuid FROM folders d JOIN folders p ON p.id = d.parent_id WHERE d.uuid = $1',
    [uuid],
  );
  return row?.uuid ?? null;
}

/** A folder that is to change with everything below it, and its new parent. Null if there is none. */
export interface Tree {
  readonly folder: FolderRecord | null;
  readonly target: FolderRecord | null;
}

/**
 * `$3`: the ids of the locked folders. A tree is held if all of its folders are locked. EXCEPT reads each side once; `<> ALL` in
 * a plan without the parameter's value compares every pair.
 */
const FIND_TREE = `
  SELECT ${FOLDER_COLUMNS}, d.id = ANY ($3::bigint[]) AND (d.uuid <> $1 OR NOT EXISTS (
    SELECT b.id FROM folders b WHERE b.ancestry <@ d.ancestry EXCEPT SELECT unnest($3::bigint[]))) AS "isHeld"
  FROM folders ${FOLDER_JOINS} WHERE d.uuid IN ($1, $2)`;

const LOCK_TREE = `
  SELECT id FROM folders WHERE id IN (
    SELECT b.id FROM folders d JOIN folders b ON b.ancestry <@ d.ancestry WHERE d.uuid = $1
    UNION SELECT id FROM folders WHERE uuid = $2)
  ORDER BY id FOR UPDATE`;

/**
 * Locks a folder with all folders below it, and the target, until the end of the transaction. Meanwhile nothing below the folder
 * is moved, added or removed, and the target stays where it is. Folders are locked in the order of their ids, so concurrent
 * transactions wait for each other and do not deadlock.
 *
 * `decide` receives the folders in their present state, in the trash or not, and throws if the change is forbidden. It runs once
 * before anything is locked, so that nobody locks what they may not change, and again after each wait for the locks. Three
 * statements if nobody else changes the tree.
 */
export async function lockTree<T>(
  sql: Pick<Executor, 'prepared'>,
  uuids: { folder: string; target?: string | undefined },
  decide: (tree: Tree) => T,
): Promise<T> {
  const [folderId, targetId] = [uuids.folder, uuids.target ?? null];
  for (let held: readonly number[] = []; ;) {
    const rows = await sql.prepared<FolderRecord & { isHeld: boolean }>('content-tree', FIND_TREE, [folderId, targetId, held]);
    const of = (uuid: string | null): FolderRecord | null => rows.find((row) => row.uuid === uuid) ?? null;
    const decided = decide({ folder: of(folderId), target: of(targetId) });
    if (rows.every(({ isHeld }) => isHeld)) return decided;
    held = (await sql.prepared<{ id: number }>('content-tree-lock', LOCK_TREE, [folderId, targetId])).map(({ id }) => id);
  }
}
