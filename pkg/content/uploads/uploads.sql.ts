import { type FileCreatedEvent, fileCreatedRows } from '../../events/events.ts';
import type { Executor } from '../../store/postgres/database.ts';
import type { Resource } from '../model/access/inherited-access.policy.ts';
import { ancestorsOf, OWN_COLUMNS, type OwnRecord, ownRecordOf, type OwnRow } from '../model/files/files.sql.ts';
import { extensionOf } from '../model/names/names.policy.ts';
import type { RemainingQuota } from '../blobs/blobs.ts';
import type { NewContent } from '../model/files/file-writer.sql.ts';

/**
 * The facts that a request looks up before the bytes flow: how many bytes the owner of the content may still store, and the named
 * folder, if it is live.
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
      - (SELECT coalesce(sum(r.bytes), 0)::bigint FROM storage_reservations r WHERE r.user_id = o.id AND r.expires_at > $4)
        AS bytes) q
    CROSS JOIN LATERAL carrel.remaining_of_tenant(o.id) t (bytes)
  WHERE u.id = $1`;

/**
 * Takes one statement. Null: the user has been deleted. Throws LimitReached where they or the tenant may have no more files.
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
    FROM jsonb_to_recordset($1::jsonb) AS u (uuid uuid, event_uuid uuid, event_head text, event_tail text, event_traceparent text)
    JOIN stored s ON s.uuid = u.uuid
  ), ${fileCreatedRows('eventful')}
  SELECT ${OWN_COLUMNS}, (SELECT count(*) FROM delivery) AS deliveries FROM stored f`;

/**
 * Stores files with their versions 1, quota and events, in one statement that is a transaction of its own. Returns the files
 * that were made, by uuid: a file is left out if its name is taken, its quota is used up, its folder has changed, or a row that
 * it needs is locked.
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
