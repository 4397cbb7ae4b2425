import type { Executor, Tx } from '../../../store/postgres/database.ts';
import type { Sql } from '../../../store/postgres/pool.ts';
import { releaseReservation, reserve, type WantedBytes } from '../../blobs/quota-reservation.sql.ts';

/** A part of an upload's content, an object of the bucket. */
export interface Segment {
  readonly key: string;
  /** bytes */
  readonly size: number;
}

export interface PartialUpload {
  readonly id: number;
  readonly uuid: string;
  readonly userId: number;
  /** Bytes; null: not known yet. */
  readonly length: number | null;
  /** Bytes that are stored. */
  readonly received: number;
  /** Upload-Metadata as it was sent. */
  readonly metadata: string;
  /** uuid of the file that it has become. */
  readonly file: string | null;
  readonly expiresAt: Date;
  /** The link by which it is sent, and the session of whoever began it; null: the user sends it. */
  readonly shareId: number | null;
  readonly shareSession: string | null;
}

const COLUMNS = `u.id, u.uuid, u.user_id AS "userId", u.length, u.received, u.metadata, u.file, u.expires_at AS "expiresAt",
  u.share_id AS "shareId", u.share_session AS "shareSession"`;

/** Returns null if the user has no upload of that id that is sent by this link; `shareId` null: by none. */
export async function findUpload(sql: Sql, uuid: string, userId: number, shareId: number | null): Promise<PartialUpload | null> {
  const [row] = await sql.query<PartialUpload>(
    `SELECT ${COLUMNS} FROM partial_uploads u WHERE u.uuid = $1 AND u.user_id = $2 AND u.share_id IS NOT DISTINCT FROM $3`,
    [uuid, userId, shareId],
  );
  return row ?? null;
}

/** Returns the segments in the order of the content. */
export const segmentsOf = (sql: Sql, { id }: PartialUpload): Promise<Segment[]> =>
  sql.query<Segment>('SELECT key, size FROM partial_upload_segments WHERE upload_id = $1 ORDER BY number', [id]);

/** Reserves the quota of an upload until it expires, as `reserve` does. */
export const reserveUpload = (
  sql: Executor,
  { uuid, userId, expiresAt }: Pick<PartialUpload, 'uuid' | 'userId' | 'expiresAt'>,
  bytes: WantedBytes,
  now: Date,
): Promise<number> => reserve(sql, { id: uuid, ownerId: userId, now, until: expiresAt }, bytes);

const TRIM = `
  WITH upload AS (
      SELECT uuid, CASE WHEN share_id IS NULL THEN coalesce(length, received) ELSE received END AS bytes
      FROM partial_uploads WHERE id = $1 AND file IS NULL
    ),
    trimmed AS (UPDATE storage_reservations r SET bytes = least(r.bytes, u.bytes) FROM upload u WHERE r.id = u.uuid)
  DELETE FROM storage_reservations WHERE id = $2 AND NOT EXISTS (SELECT FROM upload)`;

/** Releases what a request had reserved beyond what rows name; all of it where the upload is no more. */
export const trimReservation = (sql: Sql, { id, uuid }: PartialUpload): Promise<unknown> => sql.query(TRIM, [id, uuid]);

const INSERT = `
  INSERT INTO partial_uploads AS u (uuid, user_id, length, metadata, expires_at, share_id, share_session)
  SELECT $1, $2, $3, $4, $5, $8::bigint, $9::uuid
  WHERE (
    SELECT count(*) FROM partial_uploads
    WHERE user_id = $2 AND share_id IS NOT DISTINCT FROM $8::bigint AND file IS NULL AND expires_at > $6
  ) < $7
  RETURNING ${COLUMNS}`;

/**
 * Returns null if the user, or the link, has `most` uploads already. Call it after `reserveUpload`, whose lock makes the count
 * exact.
 */
export async function insertUpload(
  tx: Sql,
  upload: Omit<PartialUpload, 'id' | 'received' | 'file'>,
  { now, most }: { readonly now: Date; readonly most: number },
): Promise<PartialUpload | null> {
  const { uuid, userId, length, metadata, expiresAt, shareId, shareSession } = upload;
  const values = [uuid, userId, length, metadata, expiresAt, now, most, shareId, shareSession];
  const [row] = await tx.query<PartialUpload>(INSERT, values);
  return row ?? null;
}

const ADD_SEGMENTS = `
  WITH upload AS (
    UPDATE partial_uploads SET received = $3, expires_at = $4, length = $8
    WHERE id = $1 AND received = $2 AND file IS NULL AND length IS NOT DISTINCT FROM $9 RETURNING id
  ), replaced AS (
    DELETE FROM partial_upload_segments s USING upload u WHERE s.upload_id = u.id AND s.key = $5
  ), before AS (
    SELECT coalesce(max(number), 0) AS number FROM partial_upload_segments WHERE upload_id = $1
  ), added AS (
    INSERT INTO partial_upload_segments (upload_id, number, key, size)
    SELECT u.id, b.number + n.at, n.key, n.size
    FROM upload u, before b, unnest($6::text[], $7::bigint[]) WITH ORDINALITY AS n (key, size, at)
  )
  SELECT id FROM upload`;

/**
 * Appends segments in one statement, so that the upload becomes `after`. The first one also holds the bytes of `replaced`, which
 * is deleted. Returns false if the upload is no longer in the state `before`: another request added segments or set the length,
 * or it was deleted.
 */
export async function addSegments(
  tx: Sql,
  before: PartialUpload,
  after: Pick<PartialUpload, 'received' | 'length' | 'expiresAt'>,
  added: readonly Segment[],
  replaced: Segment | undefined,
): Promise<boolean> {
  const [keys, sizes] = [added.map(({ key }) => key), added.map(({ size }) => size)];
  const lengths = [after.length, before.length];
  const values = [before.id, before.received, after.received, after.expiresAt, replaced?.key ?? null, keys, sizes, ...lengths];
  return (await tx.query(ADD_SEGMENTS, values)).length > 0;
}

const COMPLETE = `
  WITH upload AS (
    UPDATE partial_uploads SET received = $4, length = $4, file = $3
    WHERE id = $1 AND received = $2 AND file IS NULL AND coalesce(length, $4) = $4 RETURNING id
  ), segment AS (
    DELETE FROM partial_upload_segments s USING upload u WHERE s.upload_id = u.id
  )
  SELECT id FROM upload`;

/**
 * Records that the upload has become a file, and deletes its segments. Returns false if another request has completed it or
 * added to it, or it is gone.
 */
export const completeUpload = async (tx: Tx, { id, received, length }: PartialUpload, file: string): Promise<boolean> =>
  (await tx.query(COMPLETE, [id, received, file, length])).length > 0;

/** Deletes an upload and returns the keys of its segments, or false if another request has deleted it. */
export async function deleteUpload(tx: Tx, { id, uuid }: Pick<PartialUpload, 'id' | 'uuid'>): Promise<string[]> {
  // Its lock makes what is added meanwhile come before, and be seen.
  await tx.query('SELECT id FROM partial_uploads WHERE id = $1 FOR UPDATE', [id]);
  const segments = await tx.query<Segment>('DELETE FROM partial_upload_segments WHERE upload_id = $1 RETURNING key', [id]);
  await tx.query('DELETE FROM partial_uploads WHERE id = $1', [id]);
  await releaseReservation(tx, uuid);
  return segments.map(({ key }) => key);
}

const UPLOADS_AT_ONCE = 20;

/** Deletes some expired uploads, and returns the keys of their segments. */
export async function deleteExpired(tx: Sql, now: Date): Promise<{ uploads: number; keys: string[] }> {
  const expired = await tx.query<{ id: number }>(
    'SELECT id FROM partial_uploads WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED',
    [now, UPLOADS_AT_ONCE],
  );
  const ids = expired.map(({ id }) => id);
  const segments = await tx.query<Segment>('DELETE FROM partial_upload_segments WHERE upload_id = ANY ($1) RETURNING key', [ids]);
  await tx.query('DELETE FROM partial_uploads WHERE id = ANY ($1)', [ids]);
  return { uploads: ids.length, keys: segments.map(({ key }) => key) };
}
