import { keyset, textKey } from '../../store/postgres/keyset.ts';
import { METADATA_SORT_FIELDS } from './metadata.schema.ts';
import type { MetadataRow } from './metadata.view.ts';

export type StoredEntry = MetadataRow & { readonly createdAt: Date; readonly updatedAt: Date };

export const METADATA = keyset<StoredEntry, (typeof METADATA_SORT_FIELDS)[number]>({
  keys: { key: textKey('m.key', ({ key }) => key) },
  fields: METADATA_SORT_FIELDS,
  fallback: 'key',
  tieBreaker: 'key',
});

/** The columns of an entry `m`. */
export const METADATA_COLUMNS = `
  m.key, m.value, m.value_type AS type, m.revision, m.created_at AS "createdAt", m.updated_at AS "updatedAt"`;

/**
 * Returns one row: the number of the file's entries, the bytes of their values, and the entry with this key, whose columns are
 * null where there is none.
 */
export const FIND_ENTRY = `
  SELECT n.entries, n.bytes, ${METADATA_COLUMNS}
  FROM (SELECT count(*)::int AS entries, coalesce(sum(octet_length(value)), 0)::int AS bytes FROM file_metadata
    WHERE file_id = $1) n LEFT JOIN file_metadata m ON m.file_id = $1 AND m.key = $2`;

/** $5 the owner, $6 by how much more bytes count to them, $7 the time. Not `counted`: the quota has no room. */
export const PUT_ENTRY = `
  WITH put AS (
    INSERT INTO file_metadata AS m (file_id, key, value, value_type) VALUES ($1, $2, $3, $4)
    ON CONFLICT (file_id, key) DO UPDATE SET value = excluded.value, value_type = excluded.value_type
    RETURNING ${METADATA_COLUMNS}
  ), freed AS (
    UPDATE users SET storage_used = greatest(0, storage_used + $6::bigint) WHERE id = $5::bigint AND $6 < 0
  )
  SELECT put.*, CASE WHEN $6 > 0 THEN carrel.count_storage(gen_random_uuid(), $5, $6, $7) ELSE true END AS counted FROM put`;

/** $3 the owner, $4 the bytes that counted to them. */
export const DELETE_ENTRY = `
  WITH gone AS (DELETE FROM file_metadata WHERE file_id = $1 AND key = $2)
  UPDATE users SET storage_used = greatest(0, storage_used - $4::bigint) WHERE id = $3`;

/** A row for each of the files $1: the same, of the entries with the key $2. */
export const FIND_ENTRIES = `
  SELECT f.id AS file, n.entries, n.bytes, ${METADATA_COLUMNS} FROM unnest($1::bigint[]) f (id)
    CROSS JOIN LATERAL (SELECT count(*)::int AS entries, coalesce(sum(octet_length(e.value)), 0)::int AS bytes
      FROM file_metadata e WHERE e.file_id = f.id) n
    LEFT JOIN file_metadata m ON m.file_id = f.id AND m.key = $2`;

/**
 * $1 files, $5 their owners, each once, $6 by how much more bytes count to each, $7 the time. Not `counted`: one of the quotas
 * has no room.
 */
export const PUT_ENTRIES = `
  WITH put AS (
    INSERT INTO file_metadata AS m (file_id, key, value, value_type) SELECT f.id, $2, $3, $4 FROM unnest($1::bigint[]) f (id)
    ON CONFLICT (file_id, key) DO UPDATE SET value = excluded.value, value_type = excluded.value_type
  ), owner AS MATERIALIZED (
    SELECT o.id, o.bytes FROM unnest($5::bigint[], $6::bigint[]) o (id, bytes) ORDER BY o.id
  ), freed AS (
    UPDATE users u SET storage_used = greatest(0, u.storage_used + o.bytes) FROM owner o WHERE u.id = o.id AND o.bytes < 0
  )
  SELECT bool_and(CASE WHEN o.bytes > 0 THEN carrel.count_storage(gen_random_uuid(), o.id, o.bytes, $7) ELSE true END) AS counted
  FROM owner o`;

/** $1 files, $3 their owners, each once, $4 the bytes that counted to each. */
export const DELETE_ENTRIES = `
  WITH gone AS (DELETE FROM file_metadata WHERE file_id = ANY ($1::bigint[]) AND key = $2)
  UPDATE users u SET storage_used = greatest(0, u.storage_used - o.bytes) FROM unnest($3::bigint[], $4::bigint[]) o (id, bytes)
  WHERE u.id = o.id`;
