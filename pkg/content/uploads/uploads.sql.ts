import { Problem } from '../../api/problem.ts';
import { type FileCreatedEvent, fileCreatedRows } from '../../events/events.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';
import type { Resource } from '../model/access/inherited-access.policy.ts';
import {
  ancestorsOf,
  type FileRecord,
  OWN_COLUMNS,
  OWN_NAMES,
  type OwnRecord,
  ownRecordOf,
  type OwnRow,
} from '../model/files/files.sql.ts';
import { ENTRY_BYTES } from '../model/metadata-bytes.ts';
import { extensionOf } from '../model/names/names.policy.ts';
import type { RemainingQuota, StoredBlob } from '../blobs/blobs.ts';

/**
 * What is looked up before the bytes flow: how much of it whoever will own the content may still have, and the named folder, if
 * it is live.
 */
export interface UploadTarget extends RemainingQuota {
  readonly ownerName: string;
  readonly folder: UploadFolder | null;
}

export interface UploadFolder extends Resource {
  readonly id: number;
  readonly name: string;
  readonly path: string;
}

const UPLOAD_TARGET = `
  SELECT o.id AS "ownerId", least(q.bytes, t.bytes) AS "remainingBytes", coalesce(t.bytes < q.bytes, false) AS "isOfTenant",
    coalesce(u.display_name, u.username) AS "ownerName",
    CASE WHEN d.id IS NOT NULL THEN jsonb_build_object('id', d.id, 'uuid', d.uuid, 'name', d.name, 'path', d.path,
      'ownerId', d.owner_id, 'ancestors', ${ancestorsOf('d')}) END AS folder
  FROM users u LEFT JOIN folders d ON d.uuid = $2 AND d.deleted_at IS NULL
    LEFT JOIN files f ON f.folder_id = d.id AND f.name = $3 AND f.deleted_at IS NULL
    JOIN users o ON o.id = coalesce(f.owner_id, u.id)
    CROSS JOIN LATERAL (SELECT o.storage_quota - o.storage_used
      - (SELECT coalesce(sum(r.bytes), 0)::bigint FROM storage_reservations r WHERE r.user_id = o.id AND r.expires_at > $4) AS bytes) q
    CROSS JOIN LATERAL carrel.remaining_of_tenant(o.id) t (bytes)
  WHERE u.id = $1`;

/**
 * One statement. Null: the user has been deleted. Throws LimitReached where they or the tenant may have no more files.
 * `replacing`: if the folder has a file of that name, the upload replaces it, so that the quota is its owner's. (In a root the
 * owner is the user.)
 */
export async function findUploadTarget(
  sql: Executor,
  userId: number,
  now: Date,
  options: { folderId?: string; replacing?: string } = {},
): Promise<UploadTarget | null> {
  const [target] = await sql.prepared<UploadTarget>('content-upload-target', UPLOAD_TARGET, [
    userId,
    options.folderId ?? null,
    options.replacing ?? null,
    now,
  ]);
  return target ?? null;
}

/**
 * Counts bytes to their owner, instead of what was reserved for them; decided under the lock of the owner's row, however many
 * uploads race. What other uploads have reserved is theirs. Throws `quota_exceeded`.
 */
export async function countBytes(
  tx: Tx,
  ownerId: number,
  bytes: number,
  { now, reservation }: { now: Date; reservation?: string | undefined },
): Promise<void> {
  const values = [reservation ?? null, ownerId, bytes, now];
  const [row] = await tx.prepared<{ counted: boolean }>(
    'content-count',
    'SELECT carrel.count_storage($1, $2, $3, $4) AS counted',
    values,
  );
  if (!row?.counted) throw new Problem('quota_exceeded');
}

export interface NewContent {
  readonly uuid: string;
  readonly name: string;
  readonly path: string;
  readonly mimeType: string;
  readonly ownerId: number;
  readonly folderId: number | null;
  readonly bucket: string;
  readonly blob: StoredBlob;
}

/** An upload that `storeFiles` makes a file of, as long as its folder is what it was. */
export interface NewFile extends Omit<NewContent, 'folderId'> {
  readonly folder: UploadFolder | null;
  readonly event: FileCreatedEvent;
  /** JSON: whose request it is; for the audit log. Null: the system's. */
  readonly origin: string | null;
}

/**
 * The function carrel.store_files and the events of the files that it made. Where it is called,
 * its own statements have seen what was committed meanwhile; here nothing else is read but the webhooks.
 */
const STORE = `
  WITH stored AS MATERIALIZED (
    SELECT f.* FROM (SELECT set_config('carrel.origins', $3, true) AS text) origins
      -- It names the setting, so that this is there before.
      CROSS JOIN LATERAL carrel.store_files(CASE WHEN origins.text IS NOT NULL THEN $1::jsonb END, $2) made
      CROSS JOIN LATERAL jsonb_populate_record(NULL::files, made) f
  ), eventful AS (
    SELECT s.created_at, u.event_uuid, u.event_head, u.event_tail, u.event_traceparent
    FROM jsonb_to_recordset($1::jsonb) AS u (uuid uuid, event_uuid uuid, event_head text, event_tail text, event_traceparent text) JOIN stored s ON s.uuid = u.uuid
  ), ${fileCreatedRows('eventful')}
  SELECT ${OWN_COLUMNS}, (SELECT count(*) FROM delivery) AS deliveries FROM stored f`;

/**
 * Files with their versions 1, quota and events, in one statement that is a transaction of its own. Gives those that were made,
 * by uuid: one is left out where its name is taken, its quota is used up, its folder has changed, or a row that it needs is
 * locked.
 */
export async function storeFiles(
  sql: Executor,
  uploads: readonly NewFile[],
  now: Date,
): Promise<{ readonly files: ReadonlyMap<string, OwnRecord>; readonly deliveries: number }> {
  const origins = `{${uploads.map(({ uuid, origin }) => `"${uuid}":${origin ?? 'null'}`).join(',')}}`;
  const values = [JSON.stringify(uploads.map(columnsOf)), now, origins];
  const rows = await sql.prepared<OwnRow & { deliveries: number }>('content-store', STORE, values);
  const deliveries = rows[0]?.deliveries ?? 0;
  const files = new Map(rows.map((row) => [row.uuid, ownRecordOf(row)]));
  return { files, deliveries };
}

const columnsOf = ({ uuid, name, path, mimeType, ownerId, bucket, blob, folder, event }: NewFile): Record<string, unknown> => ({
  uuid,
  name,
  path,
  extension: extensionOf(name),
  mime_type: mimeType,
  size: blob.size,
  checksum: blob.checksum,
  crc32: blob.crc32,
  owner_id: ownerId,
  folder_id: folder?.id ?? null,
  folder_path: folder?.path ?? null,
  ancestors: folder?.ancestors ?? null,
  bucket,
  key: blob.key,
  is_encrypted: blob.isEncrypted,
  event_uuid: event.uuid,
  event_head: event.head,
  event_tail: event.tail,
  ...(event.traceparent === null ? {} : { event_traceparent: event.traceparent }),
});

const INSERT = `
  WITH file AS (
    INSERT INTO files AS f (uuid, name, path, extension, mime_type, size, checksum, owner_id, folder_id, blob_container, blob_name, is_encrypted)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING
    RETURNING ${OWN_COLUMNS}
  ), version AS (
    INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by, is_encrypted, crc32)
    SELECT id, 1, $6, $7, $11, $8, $12, $13 FROM file
  )
  SELECT ${OWN_NAMES} FROM file`;

/** A file and its version 1, in one statement. Null when its name is taken. */
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
  ]);
  return row ? ownRecordOf(row) : null;
}

const ADD_VERSION = `
  WITH version AS (
    INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by, comment, is_encrypted, crc32)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $9, $10)
  )
  UPDATE files f SET version_number = $2, size = $3, checksum = $4, blob_name = $5, mime_type = $8, is_encrypted = $9 WHERE f.id = $1
  RETURNING ${OWN_COLUMNS}`;

/** The next version of a file that is locked, in one statement; gives the file as it is then. */
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
