import { Problem } from '../../../api/problem.ts';
import type { Tx } from '../../../store/postgres/database.ts';
import type { StoredBlob } from '../../blobs/blobs.ts';
import { ENTRY_BYTES } from '../metadata-bytes.ts';
import { extensionOf } from '../names/names.policy.ts';
import { type FileRecord, OWN_COLUMNS, OWN_NAMES, type OwnRecord, ownRecordOf, type OwnRow } from './files.sql.ts';

export interface NewContent {
  readonly uuid: string;
  readonly name: string;
  readonly path: string;
  readonly mimeType: string;
  readonly ownerId: number;
  readonly folderId: number | null;
  readonly bucket: string;
  readonly blob: StoredBlob;
  readonly uploadedBy?: string | undefined;
}

const INSERT = `
  WITH file AS (
    INSERT INTO files AS f (uuid, name, path, extension, mime_type, size, checksum, owner_id, folder_id,
      blob_container, blob_name, is_encrypted, uploaded_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $14) ON CONFLICT DO NOTHING
    RETURNING ${OWN_COLUMNS}
  ), version AS (
    INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by, is_encrypted, crc32)
    SELECT id, 1, $6, $7, $11, $8, $12, $13 FROM file
  )
  SELECT ${OWN_NAMES} FROM file`;

/** Inserts a file and its version 1, in one statement. Returns null if its name is taken. */
export async function insertFile(tx: Tx, file: NewContent): Promise<OwnRecord | null> {
  const { blob } = file;
  const [row] = await tx.prepared<OwnRow>('content-insert', INSERT, [
    file.uuid,
    file.name,
    file.path,
    extensionOf(file.name),
    file.mimeType,
    blob.size,
    blob.checksum,
    file.ownerId,
    file.folderId,
    file.bucket,
    blob.key,
    blob.isEncrypted,
    blob.crc32,
    file.uploadedBy ?? null,
  ]);
  return row ? ownRecordOf(row) : null;
}

const ADD_VERSION = `
  WITH version AS (
    INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by, comment, is_encrypted, crc32)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $9, $10)
  )
  UPDATE files f SET version_number = $2, size = $3, checksum = $4, blob_name = $5, mime_type = $8, is_encrypted = $9
  WHERE f.id = $1
  RETURNING ${OWN_COLUMNS}`;

/** Inserts the next version of a locked file, in one statement; returns the changed file. */
export async function insertVersion(
  tx: Tx,
  file: FileRecord,
  content: { blob: StoredBlob; mimeType: string | null; createdBy: number; comment: string | null },
): Promise<FileRecord> {
  const { blob, mimeType } = content;
  const values = [
    file.id,
    file.version + 1,
    blob.size,
    blob.checksum,
    blob.key,
    content.createdBy,
    content.comment,
    mimeType,
    blob.isEncrypted,
    blob.crc32,
  ];
  const [row] = await tx.prepared<OwnRow>('content-add-version', ADD_VERSION, values);
  if (!row) throw new Problem('not_found');
  return { ...file, ...ownRecordOf(row) };
}

const COPY_FIELDS = `
  WITH tag AS (
    INSERT INTO file_tags (file_id, tag_id)
    SELECT $2, l.tag_id FROM file_tags l JOIN tags t ON t.id = l.tag_id WHERE l.file_id = $1 AND t.owner_id = $3
  ), entry AS (
    INSERT INTO file_metadata AS m (file_id, key, value, value_type)
    SELECT $2, m.key, m.value, m.value_type FROM file_metadata m WHERE m.file_id = $1 RETURNING ${ENTRY_BYTES} AS bytes
  ), crc AS (
    UPDATE file_versions n SET crc32 = v.crc32 FROM file_versions v WHERE n.file_id = $2 AND v.file_id = $1 AND v.blob_name = $5
  )
  SELECT CASE WHEN e.bytes > 0 THEN carrel.count_storage(gen_random_uuid(), $3, e.bytes, $4) ELSE true END AS counted
  FROM (SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM entry) e`;

/**
 * Gives a new copy of a person the metadata of its file, the tags that the person has on that, and what is known of the content,
 * the object `key`. One statement. Throws `quota_exceeded`.
 */
export async function copyFields(
  tx: Tx,
  from: { readonly id: number; readonly key: string },
  to: { readonly id: number },
  by: { readonly userId: number; readonly now: Date },
): Promise<void> {
  const [row] = await tx.query<{ counted: boolean }>(COPY_FIELDS, [from.id, to.id, by.userId, by.now, from.key]);
  if (!row?.counted) throw new Problem('quota_exceeded');
}
