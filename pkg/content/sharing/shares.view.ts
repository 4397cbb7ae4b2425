import { etagOf } from '../../api/etag.ts';
import { Problem } from '../../api/problem.ts';
import { brokenRules } from './link-rules.policy.ts';
import { isUsedUp, type OpenShare } from './open-shares.sql.ts';
import type { SharedFileView, ShareView } from './shares.schema.ts';
import type { ShareRow } from './shares.sql.ts';

/** Returns a tag over everything that may change. The password's hash is salted, so that the tag discloses nothing about it. */
export const shareEtag = (row: ShareRow, isOpen: boolean): string =>
  etagOf(
    'share',
    row.uuid,
    JSON.stringify([
      row.resourceName,
      row.creatorName,
      row.passwordHash,
      row.expiresAt,
      row.maxDownloads,
      row.downloadCount,
      row.isActive,
      brokenRules(row.policy, row),
      isOpen,
    ]),
  );

/** `isOpen`: the caller is admin of the file or folder and may see the token. `appUrl` has no slash at the end. */
export const presentShare = (row: ShareRow, isOpen: boolean, appUrl: string): ShareView => ({
  id: row.uuid,
  token: isOpen ? row.token : null,
  url: isOpen ? `${appUrl}/s/${row.token}` : null,
  file_id: row.kind === 'file' ? row.resourceUuid : null,
  file_name: row.kind === 'file' ? row.resourceName : null,
  folder_id: row.kind === 'folder' ? row.resourceUuid : null,
  folder_name: row.kind === 'folder' ? row.resourceName : null,
  mode: row.mode,
  created_by: { id: row.creatorUuid, name: row.creatorName },
  has_password: row.passwordHash !== null,
  expires_at: row.expiresAt?.toISOString() ?? null,
  max_downloads: row.maxDownloads,
  download_count: row.downloadCount,
  is_active: row.isActive,
  blocked_by: brokenRules(row.policy, row),
  created_at: row.createdAt.toISOString(),
  etag: shareEtag(row, isOpen),
});

/** Returns the terms of a link as its holders see them. Throws `not_found` if it is used up. */
export function termsOf(share: OpenShare): Pick<SharedFileView, 'has_password' | 'expires_at' | 'downloads_left'> {
  if (isUsedUp(share)) throw new Problem('not_found');
  const { passwordHash, expiresAt, maxDownloads, downloadCount } = share;
  return {
    has_password: passwordHash !== null,
    expires_at: expiresAt?.toISOString() ?? null,
    downloads_left: maxDownloads === null ? null : maxDownloads - downloadCount,
  };
}
