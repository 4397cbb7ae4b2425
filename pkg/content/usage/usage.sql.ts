import { ENTRY_BYTES } from '../model/metadata-bytes.ts';
import type { Sql } from '../../store/postgres/pool.ts';

export interface UsageRow {
  readonly quota: number;
  readonly used: number;
  readonly files: number;
  readonly trashed: number;
  readonly versions: number;
  readonly trash: number;
  readonly metadata: number;
}

/** Most files have one version, and for these the statement reads only the file itself. */
const USAGE = `
  SELECT u.storage_quota AS quota, u.storage_used AS used, f.files, f.trashed, v.versions, v.trash, m.bytes AS metadata
  FROM users u
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE f.deleted_at IS NULL) AS files, count(*) FILTER (WHERE f.deleted_at IS NOT NULL) AS trashed
    FROM files f WHERE f.owner_id = u.id
  ) f
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(v.size) FILTER (WHERE f.deleted_at IS NULL AND v.version_number <> f.version_number), 0)::bigint
      AS versions,
      coalesce(sum(v.size) FILTER (WHERE f.deleted_at IS NOT NULL), 0)::bigint AS trash
    FROM files f JOIN file_versions v ON v.file_id = f.id
    WHERE f.owner_id = u.id AND (f.deleted_at IS NOT NULL OR f.version_number > 1)
  ) v
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(${ENTRY_BYTES}), 0)::bigint AS bytes FROM files f JOIN file_metadata m ON m.file_id = f.id
    WHERE f.owner_id = u.id
  ) m
  WHERE u.uuid = $1 AND NOT u.is_system`;

/** Takes one statement, which reads the rows of all files of that person. */
export async function usageOf(sql: Sql, userUuid: string): Promise<UsageRow | undefined> {
  const [row] = await sql.query<UsageRow>(USAGE, [userUuid]);
  return row;
}
