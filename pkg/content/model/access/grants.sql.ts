import type { Level } from '../../../api/actor.ts';
import type { Tx } from '../../../store/postgres/database.ts';
import type { Sql } from '../../../store/postgres/pool.ts';
import type { NewGrant } from './grants.schema.ts';

/** The resource of a grant, by kind and uuid. */
export type Resource = { readonly kind: 'file' | 'folder'; readonly uuid: string };

export interface GrantRow {
  readonly id: number;
  readonly uuid: string;
  readonly userId: string | null;
  readonly groupId: string | null;
  readonly level: Level;
  readonly grantedBy: string;
  readonly grantedAt: Date;
  readonly expiresAt: Date | null;
}

/** The columns of a GrantRow; wants GRANT_TABLES. */
export const GRANT_COLUMNS = `
  p.id, p.uuid, u.uuid AS "userId", g.uuid AS "groupId", p.permission_level AS level, b.uuid AS "grantedBy",
  p.granted_at AS "grantedAt", p.expires_at AS "expiresAt"`;
export const GRANT_TABLES = `
  permissions p JOIN users b ON b.id = p.granted_by
  LEFT JOIN users u ON u.id = p.user_id LEFT JOIN groups g ON g.id = p.group_id`;

/** Whom a grant is for. */
export type Grantee = Pick<NewGrant, 'user_id' | 'group_id'>;

const OF_GRANTEE = `SELECT ${GRANT_COLUMNS} FROM ${GRANT_TABLES}
  WHERE p.resource_type = $1 AND p.resource_id = $2 AND (u.uuid = $3 OR g.uuid = $4) FOR UPDATE OF p`;

/** Locks and returns the grant of a person or group on a file or folder, as `lockGrant` does. One statement. */
export async function lockGrantOf(
  tx: Tx,
  { user_id, group_id }: Grantee,
  kind: Resource['kind'],
  resourceId: number,
): Promise<GrantRow | null> {
  const [row] = await tx.query<GrantRow>(OF_GRANTEE, [kind, resourceId, user_id ?? null, group_id ?? null]);
  return row ?? null;
}

const FIND = `
  SELECT ${GRANT_COLUMNS} FROM ${GRANT_TABLES} WHERE p.uuid = $1 AND p.resource_type = $2 AND p.resource_id = $3 FOR UPDATE OF p`;

/** Returns a grant on a file or folder (its internal id), locked until the end of the transaction. One statement. */
export async function lockGrant(tx: Tx, uuid: string, kind: Resource['kind'], resourceId: number): Promise<GrantRow | null> {
  const [row] = await tx.prepared<GrantRow>('content-grant', FIND, [uuid, kind, resourceId]);
  return row ?? null;
}

export interface GrantOfGroupRow extends GrantRow {
  readonly kind: Resource['kind'];
  /** Internal id of the file or folder. */
  readonly resourceId: number;
}

/** Internal ids. */
export interface ResourceIds {
  readonly folders: readonly number[];
  readonly files: readonly number[];
}

const OF_GROUP = `SELECT ${GRANT_COLUMNS}, p.resource_type AS kind, p.resource_id AS "resourceId" FROM ${GRANT_TABLES}
  WHERE g.uuid = $1 AND (
    p.resource_type = 'folder' AND p.resource_id = ANY ($2::bigint[])
    OR p.resource_type = 'file' AND p.resource_id = ANY ($3::bigint[]))`;

/** Returns the grants of a group on these. Takes one statement; none for no resources. An unknown group has none. */
export const grantsOfGroup = async (
  sql: Sql,
  groupUuid: string,
  { folders, files }: ResourceIds,
): Promise<readonly GrantOfGroupRow[]> =>
  folders.length + files.length === 0 ? [] : sql.query<GrantOfGroupRow>(OF_GROUP, [groupUuid, folders, files]);
