import { type Level, LEVELS } from '../../api/actor.ts';
import {
  integerKey,
  keyset,
  type KeysetRequest,
  nameKey,
  Parameters,
  type Statement,
  timeKey,
} from '../../store/postgres/keyset.ts';
import type { Resource } from '../model/access/inherited-access.policy.ts';
import { ACCESS_SORT_FIELDS, SHARED_SORT_FIELDS } from './access-lists.schema.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** A reason why somebody has access, as JSON. */
export interface ReasonRow {
  readonly via: 'owner' | 'grant' | 'group' | 'folder';
  readonly permission: string | null;
  readonly group: Named | null;
  readonly folder: Named | null;
  readonly expiresAt: string | null;
}

export interface AccessRow {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly level: Level;
  readonly reasons: readonly ReasonRow[];
}

type AccessSort = (typeof ACCESS_SORT_FIELDS)[number] | 'id';
const NAME = 'coalesce(u.display_name, u.username)';

export const ACCESS = keyset<AccessRow, AccessSort>({
  keys: { name: nameKey(NAME, ({ name }) => name), id: integerKey('u.id', ({ id }) => id) },
  fields: ACCESS_SORT_FIELDS,
  fallback: 'name',
  tieBreaker: 'id',
});

const RANK = `array_position(ARRAY[${LEVELS.map((level) => `'${level}'`).join(', ')}], `;
const reason = (
  via: string,
  { permission = 'NULL::uuid', group = 'NULL::jsonb', folder = 'NULL::jsonb', ends = 'NULL::timestamptz' } = {},
) =>
  `jsonb_build_object('via', ${via}, 'permission', ${permission}, 'group', ${group}, 'folder', ${folder}, 'expiresAt', ${ends})`;
const named = (alias: string): string =>
  `CASE WHEN ${alias}.uuid IS NOT NULL THEN jsonb_build_object('id', ${alias}.uuid, 'name', ${alias}.name) END`;

/**
 * Lists the people who have access to a file or folder, each with all reasons, the strongest first. The reasons are ownership of
 * it or of a folder above it, and unexpired grants on any of these to the person or one of their groups. People who cannot sign
 * in are left out. One statement, which reads everybody for each page.
 */
export function accessList(
  resource: Resource & { readonly kind: 'file' | 'folder'; readonly id: number },
  now: Date,
  request: KeysetRequest<AccessSort>,
): Statement {
  const params = new Parameters();
  const [kind, id, owner] = [params.add(resource.kind), params.add(resource.id), params.add(resource.ownerId)];
  const above = resource.ancestors.map(({ uuid }) => uuid).filter((uuid) => resource.kind === 'file' || uuid !== resource.uuid);
  const via = `CASE WHEN t.uuid IS NOT NULL THEN 'folder' WHEN p.group_id IS NOT NULL THEN 'group' ELSE 'grant' END`;
  const sql = `
    WITH target AS MATERIALIZED (
      SELECT 'folder' AS type, a.id, a.uuid, a.name, a.owner_id FROM folders a WHERE a.uuid = ANY (${params.add(above)}::uuid[])
      UNION ALL SELECT ${kind}::text, ${id}::bigint, NULL::uuid, NULL::text, ${owner}::bigint
    ), reasons AS (
      SELECT t.owner_id AS user_id, 'admin' AS level,
        ${reason(`CASE WHEN t.uuid IS NULL THEN 'owner' ELSE 'folder' END`, { folder: named('t') })} AS reason FROM target t
      UNION ALL
      SELECT coalesce(p.user_id, m.user_id), p.permission_level,
        ${reason(via, { permission: 'p.uuid', group: named('g'), folder: named('t'), ends: 'p.expires_at' })}
      FROM target t JOIN permissions p ON p.resource_type = t.type AND p.resource_id = t.id
        LEFT JOIN groups g ON g.id = p.group_id LEFT JOIN group_members m ON m.group_id = p.group_id
      WHERE p.expires_at IS NULL OR p.expires_at > ${params.add(now)}
    ), people AS (
      SELECT r.user_id, (ARRAY[${LEVELS.map((level) => `'${level}'`).join(', ')}])[max(${RANK}r.level))] AS level,
        jsonb_agg(r.reason ORDER BY ${RANK}r.level) DESC, r.reason ->> 'via' DESC, r.reason::text) AS reasons
      FROM reasons r WHERE r.user_id IS NOT NULL GROUP BY r.user_id
    )
    SELECT u.id, u.uuid, ${NAME} AS name, p.level, p.reasons FROM people p JOIN users u ON u.id = p.user_id
    WHERE ${['(u.is_active OR u.is_system)', ...ACCESS.after(request, params)].join(' AND ')}
    ORDER BY ${ACCESS.orderBy(request)} LIMIT ${params.add(request.limit + 1)}`;
  return { sql, params: params.values };
}

/** The grant by which a file or folder is shared with somebody. */
export interface SharedRow {
  readonly id: number;
  readonly type: 'file' | 'folder';
  /** Internal id of the file or folder. */
  readonly itemId: number;
  readonly name: string;
  readonly level: Level;
  readonly grantedBy: string;
  readonly grantedAt: Date;
  readonly expiresAt: Date | null;
}

type SharedSort = (typeof SHARED_SORT_FIELDS)[number] | 'id';

export const SHARED = keyset<SharedRow, SharedSort>({
  keys: {
    granted_at: timeKey('s.granted_at', ({ grantedAt }) => grantedAt),
    name: nameKey('s.name', ({ name }) => name),
    id: integerKey('s.id', ({ id }) => id),
  },
  fields: SHARED_SORT_FIELDS,
  fallback: '-granted_at',
  tieBreaker: 'id',
});

/**
 * Lists the live files and folders of others that a user has a grant on. Each appears once, with the highest grant; of several
 * equal ones, with the one that lasts longest.
 */
export function sharedList(userId: number, now: Date, request: KeysetRequest<SharedSort>): Statement {
  const params = new Parameters();
  const me = params.add(userId);
  const sql = `
    WITH mine AS MATERIALIZED (
      SELECT DISTINCT ON (p.resource_type, p.resource_id) p.* FROM permissions p
      WHERE (p.user_id = ${me} OR p.group_id IN (SELECT m.group_id FROM group_members m WHERE m.user_id = ${me}))
        AND (p.expires_at IS NULL OR p.expires_at > ${params.add(now)})
      ORDER BY p.resource_type, p.resource_id, ${RANK}p.permission_level) DESC, p.expires_at DESC NULLS FIRST, p.id
    ), shared AS (
      SELECT p.*, coalesce(f.name, d.name) AS name FROM mine p
        LEFT JOIN files f ON p.resource_type = 'file' AND f.id = p.resource_id AND f.deleted_at IS NULL AND f.owner_id <> ${me}
        LEFT JOIN folders d ON p.resource_type = 'folder' AND d.id = p.resource_id AND d.deleted_at IS NULL
          AND d.owner_id <> ${me}
      WHERE f.id IS NOT NULL OR d.id IS NOT NULL
    )
    SELECT s.id, s.resource_type AS type, s.resource_id AS "itemId", s.name, s.permission_level AS level, b.uuid AS "grantedBy",
      s.granted_at AS "grantedAt", s.expires_at AS "expiresAt"
    FROM shared s JOIN users b ON b.id = s.granted_by WHERE ${['true', ...SHARED.after(request, params)].join(' AND ')}
    ORDER BY ${SHARED.orderBy(request)} LIMIT ${params.add(request.limit + 1)}`;
  return { sql, params: params.values };
}
