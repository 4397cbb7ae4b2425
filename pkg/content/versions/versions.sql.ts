import type { Executor, Tx } from '../../store/postgres/database.ts';
import { integerKey, keyset } from '../../store/postgres/keyset.ts';
import { VERSION_SORT_FIELDS } from './versions.schema.ts';

export interface VersionRow {
  readonly number: number;
  /** bytes */
  readonly size: number;
  /** Hex SHA-256. */
  readonly checksum: string;
  readonly blobName: string;
  readonly isEncrypted: boolean;
  /** Null: not known. */
  readonly crc32: number | null;
  readonly comment: string | null;
  readonly creatorUuid: string;
  readonly creatorName: string;
  readonly createdAt: Date;
}

/** The columns of a VersionRow; wants VERSION_TABLES. */
export const VERSION_COLUMNS = `
  v.version_number AS number, v.size, v.checksum, v.blob_name AS "blobName", v.is_encrypted AS "isEncrypted",
  v.crc32, v.comment, u.uuid AS "creatorUuid",
  coalesce(u.display_name, u.username) AS "creatorName", v.created_at AS "createdAt"`;
export const VERSION_TABLES = 'file_versions v JOIN users u ON u.id = v.created_by';

export const VERSIONS = keyset<VersionRow, (typeof VERSION_SORT_FIELDS)[number]>({
  keys: { version_number: integerKey('v.version_number', ({ number }) => number) },
  fields: VERSION_SORT_FIELDS,
  fallback: '-version_number',
  tieBreaker: 'version_number',
});

const FIND = `SELECT ${VERSION_COLUMNS} FROM ${VERSION_TABLES} WHERE v.file_id = $1 AND v.version_number = $2`;

/** Takes one statement. */
export async function findVersion(sql: Executor, fileId: number, number: number): Promise<VersionRow | null> {
  const [row] = await sql.prepared<VersionRow>('content-version', FIND, [fileId, number]);
  return row ?? null;
}

const DELETE = `
  WITH deleted AS (
    DELETE FROM file_versions WHERE file_id = $1 AND version_number = $2 RETURNING size, blob_name, version_number
  ), freed AS (
    UPDATE users u SET storage_used = u.storage_used - d.size, entries = greatest(0, u.entries - (d.version_number > 1)::int)
    FROM deleted d WHERE u.id = $3
  )
  SELECT d.blob_name AS "blobName", EXISTS (
    SELECT FROM file_versions v WHERE v.file_id = $1 AND v.version_number <> $2 AND v.blob_name = d.blob_name) AS shared
  FROM deleted d`;

/**
 * Deletes a version of a file that is locked and frees its owner's quota; null where there is none. `shared`: another version of
 * the file has the same object, which must stay. One statement.
 */
export async function deleteVersion(
  tx: Tx,
  file: { readonly id: number; readonly ownerId: number },
  number: number,
): Promise<{ blobName: string; shared: boolean } | null> {
  const [row] = await tx.prepared<{ blobName: string; shared: boolean }>('content-delete-version', DELETE, [
    file.id,
    number,
    file.ownerId,
  ]);
  return row ?? null;
}
