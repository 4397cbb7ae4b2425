import { etagOf } from '../../api/etag.ts';
import type { ShareView } from './shares.schema.ts';
import type { ShareRow } from './shares.sql.ts';

/** The tag of all that may change; a password's hash is salted, so it tells nothing of the password. */
export const shareEtag = (row: ShareRow, isOpen: boolean): string =>
  etagOf(
    'share',
    row.uuid,
    JSON.stringify([
      row.fileName,
      row.creatorName,
      row.passwordHash,
      row.expiresAt,
      row.maxDownloads,
      row.downloadCount,
      row.isActive,
      isOpen,
    ]),
  );

/** `isOpen`: the viewer is admin of the file and may see its token. `appUrl`: without a slash at the end. */
export const presentShare = (row: ShareRow, isOpen: boolean, appUrl: string): ShareView => ({
  id: row.uuid,
  token: isOpen ? row.token : null,
  url: isOpen ? `${appUrl}/s/${row.token}` : null,
  file_id: row.fileUuid,
  file_name: row.fileName,
  created_by: { id: row.creatorUuid, name: row.creatorName },
  has_password: row.passwordHash !== null,
  expires_at: row.expiresAt?.toISOString() ?? null,
  max_downloads: row.maxDownloads,
  download_count: row.downloadCount,
  is_active: row.isActive,
  created_at: row.createdAt.toISOString(),
  etag: shareEtag(row, isOpen),
});
