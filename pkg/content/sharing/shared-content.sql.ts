import type { Executor } from '../../store/postgres/database.ts';
import type { Content } from '../downloads/download-headers.ts';

const FILE_BELOW = `
  SELECT f.uuid, f.version_number AS version, f.name, f.mime_type AS "mimeType", f.size, f.checksum, f.blob_name AS "blobName"
  FROM folders d JOIN folders b ON b.ancestry <@ d.ancestry JOIN files f ON f.folder_id = b.id
  WHERE d.id = $1 AND f.uuid = $2 AND f.deleted_at IS NULL`;

/** Returns the content of a live file in or below a folder. Runs one statement. */
export async function findFileBelow(sql: Executor, folderId: number, fileUuid: string): Promise<Content | null> {
  const [row] = await sql.prepared<Content>('content-shared-file', FILE_BELOW, [folderId, fileUuid]);
  return row ?? null;
}
