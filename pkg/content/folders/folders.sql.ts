import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { type Ancestor, type Granted, levelOn, requireLevel } from '../access/inherited-access.policy.ts';
import { ancestorsOf } from '../files/files.sql.ts';

/** A live folder with its owner's name and the folders above it, itself the last. */
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
  readonly ownerId: number;
  readonly ownerUuid: string;
  readonly ownerName: string;
  readonly ownerIsSystem: boolean;
  readonly parentUuid: string | null;
  readonly ancestors: readonly Ancestor[];
}

const FIND = `
  SELECT d.id, d.uuid, d.name, d.path, d.depth, d.is_system AS "isSystem", d.revision, d.created_at AS "createdAt", d.updated_at AS "updatedAt",
    d.owner_id AS "ownerId", o.uuid AS "ownerUuid", coalesce(o.display_name, o.username) AS "ownerName",
    coalesce(o.is_system, false) AS "ownerIsSystem", p.uuid AS "parentUuid",
    ${ancestorsOf('d')} AS ancestors
  FROM folders d LEFT JOIN users o ON o.id = d.owner_id LEFT JOIN folders p ON p.id = d.parent_id
  WHERE d.uuid = $1 AND d.deleted_at IS NULL`;

const LOCKED = { share: `${FIND} FOR SHARE OF d`, update: `${FIND} FOR UPDATE OF d` } as const;

/** One statement. `lock`: until the end of the transaction the folder stays as it is. */
export async function findFolder(sql: Executor, uuid: string, lock?: 'share' | 'update'): Promise<FolderRecord | null> {
  const [row] = await (lock
    ? sql.prepared<FolderRecord>(`content-folder-${lock}`, LOCKED[lock], [uuid])
    : sql.prepared<FolderRecord>('content-folder', FIND, [uuid]));
  return row ?? null;
}

/** A live folder into which the actor may write, held where it is until the end of the transaction. Throws `not_found`, `forbidden`. */
export async function openFolder(sql: Executor, actor: Actor, granted: Granted, uuid: string, field: string): Promise<FolderRecord> {
  const folder = await findFolder(sql, uuid, 'share');
  const level = folder && levelOn('folder', actor, folder, granted);
  if (!folder || level === null)
    throw new Problem('not_found', `${field}: there is no such folder.`, { details: [{ field, message: 'there is no such folder' }] });
  requireLevel(level, 'write');
  return folder;
}
