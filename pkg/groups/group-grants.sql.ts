import type { Level } from '../api/actor.ts';
import { listPage, type Page } from '../api/paging.ts';
import { integerKey, keyset, timeKey } from '../store/postgres/keyset.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { type GroupGrant, GROUP_GRANT_SORT_FIELDS, type GroupGrantQuery } from './group-grants.schema.ts';

interface GrantRow {
  readonly id: number;
  readonly uuid: string;
  readonly type: 'file' | 'folder';
  readonly itemId: string;
  readonly name: string;
  readonly level: Level;
  readonly granterId: string;
  readonly granter: string;
  readonly grantedAt: Date;
  readonly expiresAt: Date | null;
}

const GRANTS = keyset<GrantRow, (typeof GROUP_GRANT_SORT_FIELDS)[number] | 'id'>({
  keys: { granted_at: timeKey('p.granted_at', ({ grantedAt }) => grantedAt), id: integerKey('p.id', ({ id }) => id) },
  fields: GROUP_GRANT_SORT_FIELDS,
  fallback: '-granted_at',
  tieBreaker: 'id',
});

/** Returns a page of the live grants to a group, without those on what is in the trash. Runs one statement. */
export const listGroupGrants = (sql: Sql, group: string, now: Date, query: GroupGrantQuery): Promise<Page<GroupGrant>> =>
  listPage(sql, query, {
    keyset: GRANTS,
    columns: `p.id, p.uuid, p.resource_type AS type, coalesce(f.uuid, d.uuid) AS "itemId", coalesce(f.name, d.name) AS name,
      p.permission_level AS level, b.uuid AS "granterId", coalesce(b.display_name, b.username) AS granter,
      p.granted_at AS "grantedAt", p.expires_at AS "expiresAt"`,
    from: `groups g JOIN permissions p ON p.group_id = g.id JOIN users b ON b.id = p.granted_by
      LEFT JOIN files f ON p.resource_type = 'file' AND f.id = p.resource_id AND f.deleted_at IS NULL
      LEFT JOIN folders d ON p.resource_type = 'folder' AND d.id = p.resource_id AND d.deleted_at IS NULL`,
    where: (params) => [
      `g.uuid = ${params.add(group)}`,
      '(f.id IS NOT NULL OR d.id IS NOT NULL)',
      `(p.expires_at IS NULL OR p.expires_at > ${params.add(now)})`,
    ],
    present: (row) => ({
      id: row.uuid,
      resource: { type: row.type, id: row.itemId, name: row.name },
      permission_level: row.level,
      granted_by: { id: row.granterId, name: row.granter },
      granted_at: row.grantedAt.toISOString(),
      expires_at: row.expiresAt?.toISOString() ?? null,
    }),
  });
