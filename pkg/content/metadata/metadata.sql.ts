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

/** Of an entry `m`. */
export const METADATA_COLUMNS = `m.key, m.value, m.value_type AS type, m.revision, m.created_at AS "createdAt", m.updated_at AS "updatedAt"`;

/** One row: how many entries the file has, and the one with this key, whose columns are null where there is none. */
export const FIND_ENTRY = `
  SELECT (SELECT count(*)::int FROM file_metadata n WHERE n.file_id = $1) AS entries, ${METADATA_COLUMNS}
  FROM (VALUES (1)) one LEFT JOIN file_metadata m ON m.file_id = $1 AND m.key = $2`;

export const PUT_ENTRY = `
  INSERT INTO file_metadata AS m (file_id, key, value, value_type) VALUES ($1, $2, $3, $4)
  ON CONFLICT (file_id, key) DO UPDATE SET value = excluded.value, value_type = excluded.value_type
  RETURNING ${METADATA_COLUMNS}`;

export const DELETE_ENTRY = 'DELETE FROM file_metadata WHERE file_id = $1 AND key = $2';
