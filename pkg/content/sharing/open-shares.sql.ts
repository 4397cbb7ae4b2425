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
  /** Internal id of the user who made the link. */
  readonly createdBy: number;
  readonly passwordHash: string | null;
  readonly expiresAt: Date | null;
  readonly maxDownloads: number | null;
  readonly downloadCount: number;
  readonly mode: ShareMode;
  readonly createdAt: Date;
  /** The tenant's current policy for links. */
  readonly policy: LinkPolicy;
  /** Name of the file or folder. */
  readonly name: string;
}

/** A working link of a file, with the content that it shares. */
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

/** A working link of a folder. */
export interface OpenFolderShare extends OpenLink {
  readonly kind: 'folder';
  readonly folderId: number;
  readonly folderUuid: string;
  /** uuid of the user who made the link. */
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
 * Returns the link with this token. Returns null if it is inactive, has ended or breaks a rule of the tenant's policy, if its
 * file or folder is in the trash, or if its maker may no longer share that. Runs one statement; none for a malformed token.
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
 * Counts a download. Returns false if the link has ended, is used up, or has a different password from the one that was checked.
 * One statement in a transaction of its own, so that racing downloads never count more than the link allows.
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
