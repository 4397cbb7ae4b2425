import type { Sql } from '../../store/postgres/pool.ts';
import { purgeRows } from '../blobs/objects.jobs.ts';

/** The versions of a file that are kept. */
export interface VersionLimits {
  /** The number of newest versions to keep, the current one included. Null: any number. */
  readonly keep: number | null;
  /** Null: the age does not matter. */
  readonly replacedBefore: Date | null;
}

const FILES_PER_BATCH = 100;

/** $1 versions to keep, $2 versions replaced before this time expire. The current version comes first and has no successor. */
const EXPIRED = `
  SELECT v.* FROM (
    SELECT v.id, v.size, v.blob_name, v.version_number, row_number() OVER newest AS place,
      lag(v.created_at) OVER newest AS replaced_at
    FROM file_versions v WHERE v.file_id = f.id WINDOW newest AS (ORDER BY v.version_number DESC)
  ) v WHERE v.place > $1::int OR v.replaced_at < $2::timestamptz`;

const LOCK = `
  SELECT f.id FROM files f WHERE f.version_number > 1 AND f.id > $3 AND f.deleted_at IS NULL AND EXISTS (${EXPIRED})
  ORDER BY f.id LIMIT ${FILES_PER_BATCH} FOR UPDATE`;

/**
 * Locks and returns the next files, by id, that have versions to delete; `next`: the id to continue after, null at the end.
 * Takes one statement.
 */
export async function lockFilesWithExpired(
  tx: Sql,
  { keep, replacedBefore }: VersionLimits,
  after: number,
): Promise<{ files: number[]; next: number | null }> {
  const files = (await tx.query<{ id: number }>(LOCK, [keep, replacedBefore, after])).map(({ id }) => id);
  return { files, next: files.length === FILES_PER_BATCH ? (files.at(-1) ?? null) : null };
}

const DELETE = `
  WITH expired AS MATERIALIZED (
    SELECT v.id, v.size, v.blob_name, v.version_number, f.id AS file_id, f.owner_id FROM files f CROSS JOIN LATERAL (${EXPIRED}) v
    WHERE f.id = ANY ($3::bigint[])
  ), deleted AS (
    DELETE FROM file_versions v USING expired e WHERE v.id = e.id
  ), freed AS (
    UPDATE users u SET storage_used = u.storage_used - s.bytes, entries = greatest(0, u.entries - s.later)
    FROM (SELECT owner_id, sum(size) AS bytes, count(*) FILTER (WHERE version_number > 1) AS later FROM expired
      GROUP BY owner_id) s WHERE u.id = s.owner_id
  ), unnamed AS (
    SELECT e.blob_name FROM expired e WHERE NOT EXISTS (
      SELECT FROM file_versions v WHERE v.file_id = e.file_id AND v.blob_name = e.blob_name
        AND v.id NOT IN (SELECT id FROM expired))
  )
  ${purgeRows('SELECT blob_name FROM unnamed')}`;

/**
 * Deletes versions of locked files, frees the quota of their owners, and requests the deletion of objects without a version.
 * One statement.
 */
export const deleteExpiredVersions = (
  tx: Sql,
  { keep, replacedBefore }: VersionLimits,
  files: readonly number[],
): Promise<unknown> => tx.query(DELETE, [keep, replacedBefore, files]);
