import { rolesWith } from '../../api/role-permissions.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';
import { integerKey, keyset, timeKey } from '../../store/postgres/keyset.ts';
import type { Ancestor } from '../model/access/inherited-access.policy.ts';
import { LINK_POLICY, type LinkPolicy } from '../../settings/link-policy.sql.ts';
import { ancestorsOf } from '../model/files/files.sql.ts';
import { foldedName } from '../model/names/names.sql.ts';
import { requireLawful } from './link-rules.policy.ts';
import { SHARE_SORT_FIELDS, type ShareMode } from './shares.schema.ts';

/** A share link of a live file or folder, with the facts that decide who is admin of it. */
export interface ShareRow {
  readonly id: number;
  readonly uuid: string;
  readonly token: string;
  readonly kind: 'file' | 'folder';
  readonly mode: ShareMode;
  readonly resourceUuid: string;
  readonly resourceName: string;
  readonly ownerId: number;
  readonly ancestors: readonly Ancestor[];
  readonly creatorUuid: string;
  readonly creatorName: string;
  readonly passwordHash: string | null;
  readonly expiresAt: Date | null;
  readonly maxDownloads: number | null;
  readonly downloadCount: number;
  readonly isActive: boolean;
  readonly createdAt: Date;
  /** The tenant's current policy for links. */
  readonly policy: LinkPolicy;
}

/** The columns of a ShareRow. The statement needs `s SHARE_JOINS`, where `s` is a row of shares. */
export const SHARE_COLUMNS = `
  s.id, s.uuid, s.token, s.mode, CASE WHEN s.file_id IS NULL THEN 'folder' ELSE 'file' END AS kind,
  coalesce(f.uuid, d.uuid) AS "resourceUuid", coalesce(f.name, d.name) AS "resourceName",
  coalesce(f.owner_id, d.owner_id) AS "ownerId",
  ${ancestorsOf('d')} AS ancestors, c.uuid AS "creatorUuid", coalesce(c.display_name, c.username) AS "creatorName",
  s.password_hash AS "passwordHash", s.expires_at AS "expiresAt",
  s.max_downloads AS "maxDownloads", s.download_count AS "downloadCount", s.is_active AS "isActive", s.created_at AS "createdAt",
  ${LINK_POLICY} AS policy`;
/** `f`: the file of a link. `d`: the folder of that file, or the folder of the link. */
export const SHARE_JOINS = `s LEFT JOIN files f ON f.id = s.file_id
  LEFT JOIN folders d ON d.id = CASE WHEN s.file_id IS NULL THEN s.folder_id ELSE f.folder_id END
  JOIN users c ON c.id = s.created_by`;
/** The condition that the file or folder of link `s` is not in the trash. */
export const IS_LIVE = 'CASE WHEN s.file_id IS NULL THEN d.deleted_at ELSE f.deleted_at END IS NULL';

/** The name of what link `s` shares, without case and accents. */
export const FOLDED_NAME = `CASE WHEN s.file_id IS NULL THEN ${foldedName('d.name')} ELSE f.name_search END`;

type ShareSort = (typeof SHARE_SORT_FIELDS)[number] | 'id';

export const SHARES = keyset<ShareRow, ShareSort>({
  keys: { created_at: timeKey('s.created_at', ({ createdAt }) => createdAt), id: integerKey('s.id', ({ id }) => id) },
  fields: SHARE_SORT_FIELDS,
  fallback: '-created_at',
  tieBreaker: 'id',
});

/**
 * The condition that the maker of link `s` is admin of its file `f` in folder `d`, or of its folder `d`, at the time of the
 * parameter `now`. Like `levelOn`, it holds for the owner of these or of a folder above, and for holders of an unexpired grant on
 * one of them.
 */
export const makerIsAdmin = (now: string): string => `(f.owner_id = s.created_by
  OR EXISTS (SELECT FROM folders a WHERE a.id = ANY (string_to_array(ltree2text(d.ancestry), '.')::bigint[])
    AND a.owner_id = s.created_by)
  OR EXISTS (
    SELECT FROM (
      SELECT 'file' AS type, f.id UNION ALL SELECT 'folder', unnest(string_to_array(ltree2text(d.ancestry), '.')::bigint[])
    ) t JOIN permissions p ON p.resource_type = t.type AND p.resource_id = t.id
    WHERE p.permission_level = 'admin' AND (p.expires_at IS NULL OR p.expires_at > ${now})
      AND (p.user_id = s.created_by OR p.group_id IN (SELECT m.group_id FROM group_members m WHERE m.user_id = s.created_by))))`;

/** The condition that the roles of user `c`, the maker of link `s`, let them share files. */
export const MAKER_MAY_SHARE = `c.roles && ARRAY[${rolesWith('share:files')
  .map((role) => `'${role}'`)
  .join(', ')}]`;

const FIND = `SELECT ${SHARE_COLUMNS} FROM shares ${SHARE_JOINS} WHERE s.uuid = $1 AND ${IS_LIVE}`;

/** Runs one statement. `lock`: locks the link until the end of the transaction. */
export async function findShare(sql: Executor, uuid: string, lock = false): Promise<ShareRow | null> {
  const [row] = lock
    ? await sql.prepared<ShareRow>('content-share-locked', `${FIND} FOR UPDATE OF s`, [uuid])
    : await sql.prepared<ShareRow>('content-share', FIND, [uuid]);
  return row ?? null;
}

/**
 * `$10`: the request names no end, so the link ends as late as the policy allows. The interval is in hours, because the length
 * of a day depends on the time zone.
 */
const INSERT = `
  WITH s AS (
    INSERT INTO shares (uuid, token, file_id, folder_id, mode, created_by, password_hash, expires_at, max_downloads, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7,
      CASE WHEN $10::boolean THEN $11::timestamptz + make_interval(hours => 24 * (${LINK_POLICY} ->> 'maxDays')::integer)
        ELSE $8::timestamptz END,
      $9, $11::timestamptz)
    RETURNING *
  )
  SELECT ${SHARE_COLUMNS} FROM ${SHARE_JOINS}`;

/** Runs one statement, in a transaction that must be rolled back if this throws. Throws `share_policy`. */
export async function insertShare(
  tx: Tx,
  share: {
    readonly uuid: string;
    readonly token: string;
    readonly kind: 'file' | 'folder';
    readonly resourceId: number;
    readonly mode: ShareMode;
    readonly createdBy: number;
    readonly passwordHash: string | null;
    /** null: never; undefined: as late as the policy allows. */
    readonly expiresAt: Date | null | undefined;
    readonly maxDownloads: number | null;
    readonly now: Date;
  },
): Promise<ShareRow | null> {
  const values = [
    share.uuid,
    share.token,
    share.kind === 'file' ? share.resourceId : null,
    share.kind === 'folder' ? share.resourceId : null,
    share.mode,
    share.createdBy,
    share.passwordHash,
    share.expiresAt ?? null,
    share.maxDownloads,
    share.expiresAt === undefined,
    share.now,
  ];
  const [row] = await tx.prepared<ShareRow>('content-share-insert', INSERT, values);
  if (row) requireLawful(row.policy, row);
  return row ?? null;
}
