import { hash } from 'node:crypto';
import type { FileRecord } from '../model/files/files.sql.ts';
import type { VersionView } from './versions.schema.ts';
import type { VersionRow } from './versions.sql.ts';

/**
 * Returns a UUID (RFC 9562 §5.8) made of file and number, a version's key. A number is used once, so no column needs to hold
 * the UUID.
 */
function versionId(fileUuid: string, number: number): string {
  const hex = hash('sha256', `version:${fileUuid}:${number}`);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export const presentVersion = (file: Pick<FileRecord, 'uuid' | 'version'>, row: VersionRow): VersionView => ({
  id: versionId(file.uuid, row.number),
  file_id: file.uuid,
  version_number: row.number,
  size: row.size,
  checksum: row.checksum,
  comment: row.comment,
  created_by: { id: row.creatorUuid, name: row.creatorName },
  created_at: row.createdAt.toISOString(),
  current: row.number === file.version,
});
