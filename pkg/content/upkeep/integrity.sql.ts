import type { Sql } from '../../store/postgres/pool.ts';
import { BYTES_OF, ENTRIES_OF } from './counted.sql.ts';

/** A version with its object. */
export interface StoredVersion {
  /** uuid */
  readonly file: string;
  readonly version: number;
  readonly key: string;
  /** bytes */
  readonly size: number;
  /** Hex SHA-256. */
  readonly checksum: string;
  readonly hasCrc: boolean;
}

const COLUMNS =
  'f.uuid AS file, v.version_number AS version, v.blob_name AS key, v.size, v.checksum, v.crc32 IS NOT NULL AS "hasCrc"';

/** Returns versions in the order of their keys' bytes, after a key. Several may share an object. */
export const versionsAfter = (sql: Sql, key: string, most: number): Promise<StoredVersion[]> =>
  sql.query<StoredVersion>(
    `SELECT ${COLUMNS} FROM file_versions v JOIN files f ON f.id = v.file_id
     WHERE v.blob_name COLLATE "C" > $1 ORDER BY v.blob_name COLLATE "C" FETCH FIRST $2 ROWS WITH TIES`,
    [key, most],
  );

/** Returns whether a version still has that object. */
export const isNamed = async (sql: Sql, { file, version, key }: StoredVersion): Promise<boolean> =>
  (
    await sql.query(
      `SELECT FROM file_versions v JOIN files f ON f.id = v.file_id
       WHERE f.uuid = $1 AND v.version_number = $2 AND v.blob_name = $3`,
      [file, version, key],
    )
  ).length > 0;

/**
 * Returns the keys that a row names: a version, a part of an upload, an export, or the archive of an export that has not ended.
 */
export const namedAmong = async (sql: Sql, keys: readonly string[]): Promise<Set<string>> =>
  new Set(
    (
      await sql.query<{ key: string }>(
        `SELECT blob_name AS key FROM file_versions WHERE blob_name COLLATE "C" = ANY ($1)
         UNION ALL SELECT key FROM partial_upload_segments WHERE key = ANY ($1)
         UNION ALL SELECT key FROM exports WHERE key COLLATE "C" = ANY ($1)
         UNION ALL SELECT u.key FROM export_uploads u JOIN tasks t ON t.uuid = u.task AND t.state IN ('queued', 'running')
         WHERE u.key = ANY ($1)`,
        [keys],
      )
    ).map(({ key }) => key),
  );

/** Returns random versions, of at most so many bytes each. Takes one statement: a look-up by the primary key for each. */
export const someVersions = (sql: Sql, count: number, maxBytes: number): Promise<StoredVersion[]> =>
  sql.query<StoredVersion>(
    `SELECT DISTINCT ON (v.id) ${COLUMNS}
     FROM (SELECT min(id) AS least, max(id) AS most FROM file_versions) s, generate_series(1, $1) n,
       LATERAL (SELECT (s.least + floor(random() * (s.most - s.least + 1)))::bigint + 0 * n AS id) r,
       LATERAL (SELECT * FROM file_versions w WHERE w.id >= r.id ORDER BY w.id LIMIT 1) v JOIN files f ON f.id = v.file_id
     WHERE v.size BETWEEN 1 AND $2`,
    [count, maxBytes],
  );

export interface CountedUsage {
  readonly id: number;
  /** uuid */
  readonly user: string;
  /** bytes */
  readonly counted: number;
  readonly found: number;
  /** True if the count of entries (files, folders, versions, links, tags) is right. */
  readonly areEntriesRight: boolean;
}

const USAGE = `
  SELECT u.id, u.uuid AS "user", u.storage_used AS counted, ${BYTES_OF('u.id')} AS found,
    u.entries = ${ENTRIES_OF('u.id')} AS "areEntriesRight"
  FROM users u`;

/**
 * Returns users after an id, with right or wrong usage: a change writes rows and usage in one transaction, so one statement
 * sees both or neither.
 */
export const usageAfter = (sql: Sql, id: number, most: number): Promise<CountedUsage[]> =>
  sql.query<CountedUsage>(`${USAGE} WHERE u.id > $1 ORDER BY u.id LIMIT $2`, [id, most]);

/**
 * Recounts a user's bytes and entries. The user's row is locked first. Every transaction that adds or removes a counted row also
 * changes the user's row, so that the statement after the lock sees everything that was counted. Limits do not apply, because the
 * counted rows exist already.
 */
export async function recount(tx: Sql, id: number): Promise<void> {
  await tx.query(`SELECT set_config('carrel.recounting', 'on', true) FROM users WHERE id = $1 FOR NO KEY UPDATE`, [id]);
  await tx.query(`UPDATE users SET storage_used = ${BYTES_OF('$1')}, entries = ${ENTRIES_OF('$1')} WHERE id = $1`, [id]);
}

/** Writes what the check found, a row for each kind, for the operator to report. */
export const noteFaults = (
  tx: Sql,
  kinds: readonly string[],
  found: readonly number[],
  repaired: readonly number[],
): Promise<unknown> =>
  tx.query(
    `INSERT INTO carrel.integrity_faults AS f (kind, found, repaired) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
     ON CONFLICT (tenant, kind) DO UPDATE SET found = excluded.found, repaired = excluded.repaired, noted_at = now()`,
    [kinds, found, repaired],
  );
