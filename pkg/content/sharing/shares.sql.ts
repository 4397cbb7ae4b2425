import { rolesWith } from '../../api/actor.ts';
import { originParameter, withOrigin } from '../../store/postgres/origin.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';
import { integerKey, keyset, timeKey } from '../../store/postgres/keyset.ts';
import type { Ancestor } from '../model/access/inherited-access.policy.ts';
import { ancestorsOf } from '../model/files/files.sql.ts';
import { SHARE_SORT_FIELDS } from './shares.schema.ts';

/** A share link of a live file, with what decides who is admin of the file. */
export interface ShareRow {
  readonly id: number;
  readonly uuid: string;
  readonly token: string;
  readonly fileUuid: string;
  readonly fileName: string;
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
}

/** The columns of a ShareRow; wants `s SHARE_JOINS`, `s` being of shares. */
export const SHARE_COLUMNS = `s.id, s.uuid, s.token, f.uuid AS "fileUuid", f.name AS "fileName", f.owner_id AS "ownerId", ${ancestorsOf('d')} AS ancestors,
  c.uuid AS "creatorUuid", coalesce(c.display_name, c.username) AS "creatorName", s.password_hash AS "passwordHash", s.expires_at AS "expiresAt",
  s.max_downloads AS "maxDownloads", s.download_count AS "downloadCount", s.is_active AS "isActive", s.created_at AS "createdAt"`;
export const SHARE_JOINS =
  's JOIN files f ON f.id = s.file_id AND f.deleted_at IS NULL JOIN users c ON c.id = s.created_by LEFT JOIN folders d ON d.id = f.folder_id';

type ShareSort = (typeof SHARE_SORT_FIELDS)[number] | 'id';

export const SHARES = keyset<ShareRow, ShareSort>({
  keys: { created_at: timeKey('s.created_at', ({ createdAt }) => createdAt), id: integerKey('s.id', ({ id }) => id) },
  fields: SHARE_SORT_FIELDS,
  fallback: '-created_at',
  tieBreaker: 'id',
});

/**
 * The condition that whoever made link `s` is admin of its file `f` in folder `d`, as `levelOn` decides it, at the time of the
 * parameter `now`: the owner of the file or of a folder above, or by a live grant on one of them.
 */
export const makerIsAdmin = (now: string): string => `(f.owner_id = s.created_by
  OR EXISTS (SELECT FROM folders a WHERE a.id = ANY (string_to_array(ltree2text(d.ancestry), '.')::bigint[]) AND a.owner_id = s.created_by)
  OR EXISTS (
    SELECT FROM (
      SELECT 'file' AS type, f.id UNION ALL SELECT 'folder', unnest(string_to_array(ltree2text(d.ancestry), '.')::bigint[])
    ) t JOIN permissions p ON p.resource_type = t.type AND p.resource_id = t.id
    WHERE p.permission_level = 'admin' AND (p.expires_at IS NULL OR p.expires_at > ${now})
      AND (p.user_id = s.created_by OR p.group_id IN (SELECT m.group_id FROM group_members m WHERE m.user_id = s.created_by))))`;

/** The condition that the roles of whoever made link `s`, user `c`, let them share files. */
export const MAKER_MAY_SHARE = `c.roles && ARRAY[${rolesWith('share:files')
  .map((role) => `'${role}'`)
  .join(', ')}]`;

const FIND = `SELECT ${SHARE_COLUMNS} FROM shares ${SHARE_JOINS} WHERE s.uuid = $1`;

/** One statement. `lock`: the link stays as it is until the end of the transaction. */
export async function findShare(sql: Executor, uuid: string, lock = false): Promise<ShareRow | null> {
  const [row] = lock
    ? await sql.prepared<ShareRow>('content-share-locked', `${FIND} FOR UPDATE OF s`, [uuid])
    : await sql.prepared<ShareRow>('content-share', FIND, [uuid]);
  return row ?? null;
}

const INSERT = `
  WITH s AS (
    INSERT INTO shares (uuid, token, file_id, created_by, password_hash, expires_at, max_downloads) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING *
  )
  SELECT ${SHARE_COLUMNS} FROM ${SHARE_JOINS}`;

/** One statement. */
export async function insertShare(
  tx: Tx,
  share: {
    readonly uuid: string;
    readonly token: string;
    readonly fileId: number;
    readonly createdBy: number;
    readonly passwordHash: string | null;
    readonly expiresAt: Date | null;
    readonly maxDownloads: number | null;
  },
): Promise<ShareRow | null> {
  const values = [
    share.uuid,
    share.token,
    share.fileId,
    share.createdBy,
    share.passwordHash,
    share.expiresAt,
    share.maxDownloads,
  ];
  const [row] = await tx.prepared<ShareRow>('content-share-insert', INSERT, values);
  return row ?? null;
}

/** A link that works, with the content that it gives. */
export interface OpenShare {
  readonly id: number;
  readonly uuid: string;
  /** The id of whoever made it. */
  readonly createdBy: number;
  readonly passwordHash: string | null;
  readonly expiresAt: Date | null;
  readonly maxDownloads: number | null;
  readonly downloadCount: number;
  readonly fileUuid: string;
  readonly name: string;
  readonly mimeType: string | null;
  /** bytes */
  readonly size: number;
  readonly checksum: string;
  readonly blobName: string;
  readonly version: number;
}

const WORKS = 's.is_active AND (s.expires_at IS NULL OR s.expires_at > $2)';

const OPEN = `
  SELECT s.id, s.uuid, s.created_by AS "createdBy", s.password_hash AS "passwordHash", s.expires_at AS "expiresAt", s.max_downloads AS "maxDownloads",
    s.download_count AS "downloadCount", f.uuid AS "fileUuid", f.name, f.mime_type AS "mimeType", f.size, f.checksum, f.blob_name AS "blobName",
    f.version_number AS version
  FROM shares ${SHARE_JOINS}
  WHERE s.token = $1 AND ${WORKS} AND c.is_active AND NOT c.is_system AND ${MAKER_MAY_SHARE} AND ${makerIsAdmin('$2')}`;

/**
 * The link with this token, unless it is inactive, has ended, its file is in the trash, or its maker may not share the file any
 * more. One statement.
 */
export async function openShare(sql: Executor, token: string, now: Date): Promise<OpenShare | null> {
  const [row] = await sql.prepared<OpenShare>('content-share-open', OPEN, [token, now]);
  return row ?? null;
}

const COUNT = `
  UPDATE shares s SET download_count = s.download_count + 1
  WHERE s.id = $1 AND ${WORKS} AND s.password_hash IS NOT DISTINCT FROM $3 AND (s.max_downloads IS NULL OR s.download_count < s.max_downloads)
    AND ${withOrigin('$4')}
  RETURNING s.id`;

/**
 * Counts a download. False: the link has ended, is used up, or has another password than the one that was compared. One
 * statement, which is a transaction of its own: of downloads that race no more are counted than the link allows.
 */
export async function countDownload(
  sql: Executor,
  share: { readonly id: number; readonly passwordHash: string | null },
  now: Date,
): Promise<boolean> {
  const rows = await sql.prepared('content-share-count', COUNT, [share.id, now, share.passwordHash, originParameter()]);
  return rows.length === 1;
}
