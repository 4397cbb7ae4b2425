import { originParameter, withOrigin } from '../../store/postgres/origin.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { LINK_POLICY, type LinkPolicy } from '../../settings/link-policy.sql.ts';
import { brokenRules } from './link-rules.policy.ts';
import type { ShareMode } from './shares.schema.ts';
import { IS_LIVE, makerIsAdmin, MAKER_MAY_SHARE, SHARE_JOINS } from './shares.sql.ts';

const TOKEN = /^[0-9a-f]{64}$/;

interface OpenLink {
  readonly id: number;
  readonly uuid: string;
  /** The id of whoever made it. */
  readonly createdBy: number;
  readonly passwordHash: string | null;
  readonly expiresAt: Date | null;
  readonly maxDownloads: number | null;
  readonly downloadCount: number;
  readonly mode: ShareMode;
  readonly createdAt: Date;
  /** What the tenant demands of links now. */
  readonly policy: LinkPolicy;
  /** Of the file or folder. */
  readonly name: string;
}

/** A link of a file that works, with the content that it gives. */
export interface OpenFileShare extends OpenLink {
  readonly kind: 'file';
  readonly fileUuid: string;
  readonly mimeType: string | null;
  /** bytes */
  readonly size: number;
  readonly checksum: string;
  readonly blobName: string;
  readonly version: number;
}

/** A link of a folder that works. */
export interface OpenFolderShare extends OpenLink {
  readonly kind: 'folder';
  readonly folderId: number;
  readonly folderUuid: string;
  /** uuid of whoever made it. */
  readonly makerUuid: string;
}

export type OpenShare = OpenFileShare | OpenFolderShare;

const WORKS = 's.is_active AND (s.expires_at IS NULL OR s.expires_at > $2)';

const OPEN = `
  SELECT s.id, s.uuid, s.created_by AS "createdBy", s.password_hash AS "passwordHash", s.expires_at AS "expiresAt",
    s.max_downloads AS "maxDownloads", s.download_count AS "downloadCount",
    CASE WHEN s.file_id IS NULL THEN 'folder' ELSE 'file' END AS kind, coalesce(f.name, d.name) AS name,
    f.uuid AS "fileUuid", f.mime_type AS "mimeType", f.size, f.checksum, f.blob_name AS "blobName", f.version_number AS version,
    s.mode, s.folder_id AS "folderId", d.uuid AS "folderUuid", c.uuid AS "makerUuid",
    s.created_at AS "createdAt", ${LINK_POLICY} AS policy
  FROM shares ${SHARE_JOINS}
  WHERE s.token = $1 AND ${WORKS} AND ${IS_LIVE} AND c.is_active AND NOT c.is_system AND ${MAKER_MAY_SHARE}
    AND ${makerIsAdmin('$2')}`;

/**
 * The link with this token, unless it is inactive, has ended, its file or folder is in the trash, its maker may not share that
 * any more, or it breaks a rule of the tenant's policy. One statement; none for a malformed token.
 */
export async function openShare(sql: Executor, token: string, now: Date): Promise<OpenShare | null> {
  if (!TOKEN.test(token)) return null;
  const [row] = await sql.prepared<OpenShare>('content-share-open', OPEN, [token, now]);
  return row && brokenRules(row.policy, row).length === 0 ? row : null;
}

const COUNT = `
  UPDATE shares s SET download_count = s.download_count + 1
  WHERE s.id = $1 AND ${WORKS} AND s.password_hash IS NOT DISTINCT FROM $3
    AND (s.max_downloads IS NULL OR s.download_count < s.max_downloads)
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

export const isUsedUp = ({ maxDownloads, downloadCount }: OpenLink): boolean =>
  maxDownloads !== null && downloadCount >= maxDownloads;
