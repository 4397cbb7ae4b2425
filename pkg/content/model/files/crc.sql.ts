import type { Sql } from '../../../store/postgres/pool.ts';

/**
 * Writes the CRC-32 of an object that was read, for all versions that have the object and no CRC-32 yet, if its SHA-256 is
 * theirs. Returns whether it wrote any. One statement.
 */
export const writeCrc = async (
  sql: Sql,
  key: string,
  read: { readonly crc32: number; readonly checksum: string },
): Promise<boolean> =>
  (
    await sql.query(
      'UPDATE file_versions SET crc32 = $2 WHERE blob_name COLLATE "C" = $1 AND crc32 IS NULL AND checksum = $3 RETURNING id',
      [key, read.crc32, read.checksum],
    )
  ).length > 0;
