import { permissionSet } from '../../access/permission-sets.ts';
import type { Actor } from '../../api/actor.ts';
import type { Executor, Tx } from '../../store/postgres/database.ts';
import { LimitReached } from '../../store/postgres/errors.ts';
import { grantsOf } from '../model/access/grants-of-user.sql.ts';
import type { OpenFolderShare } from './open-shares.sql.ts';

const COUNT = `
  UPDATE shares s SET upload_hour = $2, uploads_in_hour = CASE WHEN s.upload_hour = $2 THEN s.uploads_in_hour + 1 ELSE 1 END
  WHERE s.id = $1 AND (s.upload_hour IS DISTINCT FROM $2 OR s.uploads_in_hour < $3)
  RETURNING s.id`;

/**
 * Counts an upload by a link in the hour that began at `hour`. Returns false if `most` uploads were counted already, or if the
 * link was deleted. One statement in a transaction of its own, so that racing uploads never count more.
 */
export async function countUpload(sql: Executor, shareId: number, hour: Date, most: number): Promise<boolean> {
  const rows = await sql.prepared('content-share-count-upload', COUNT, [shareId, hour, most]);
  return rows.length === 1;
}

/**
 * Returns the maker of a working link as an actor with their current grants, for uploads that become files of theirs. Runs one
 * statement.
 */
export async function makerOf(sql: Executor, { createdBy, makerUuid }: OpenFolderShare, now: Date): Promise<Actor> {
  const { entries } = await grantsOf(sql, createdBy, now);
  const granted = permissionSet(entries);
  return {
    userId: createdBy,
    userUuid: makerUuid,
    email: '',
    roles: [],
    permissions: new Set(['write:files']),
    sessionId: '',
    tenantId: '',
    permissionSet: () => Promise.resolve(granted),
  };
}

/** An upload as its sender sees it. */
export interface SentRow {
  readonly name: string;
  readonly size: number;
  readonly createdAt: Date;
}

const RECORD = `
  WITH old AS (DELETE FROM share_uploads WHERE share_id = $1 AND created_at < $5)
  INSERT INTO share_uploads (share_id, session, name, size, created_at)
  SELECT s.id, $2, $3, $4, $6 FROM shares s WHERE s.id = $1 FOR KEY SHARE
  RETURNING id`;

/**
 * Records an upload for its sender, and deletes the records of sessions that have ended. Returns false if the link was deleted.
 * Runs one statement.
 */
export async function recordUpload(
  tx: Tx,
  shareId: number,
  sent: SentRow & { readonly session: string },
  before: Date,
): Promise<boolean> {
  const values = [shareId, sent.session, sent.name, sent.size, before, sent.createdAt];
  return (await tx.prepared('content-share-sent', RECORD, values)).length === 1;
}

const FREE = `
  SELECT greatest(0, least(carrel.remaining_of_tenant(u.id), u.storage_quota - u.storage_used
    - (SELECT coalesce(sum(r.bytes), 0)::bigint FROM storage_reservations r WHERE r.user_id = u.id AND r.expires_at > $2)))
    AS free
  FROM users u WHERE u.id = $1`;

/**
 * Returns how many bytes more somebody may store, in their own quota and in the tenant's limit; 0 where they or the tenant may
 * have no more files. Runs one statement.
 */
export async function freeBytesOf(sql: Executor, userId: number, now: Date): Promise<number> {
  try {
    const [row] = await sql.prepared<{ free: number }>('content-share-free', FREE, [userId, now]);
    return row?.free ?? 0;
  } catch (error) {
    if (error instanceof LimitReached) return 0;
    throw error;
  }
}

const SENT = `
  SELECT name, size, created_at AS "createdAt" FROM share_uploads WHERE share_id = $1 AND session = $2
  ORDER BY id DESC LIMIT $3`;

/** Returns the latest uploads of a session, newest first. Runs one statement. */
export const sentIn = (sql: Executor, shareId: number, session: string, most: number): Promise<SentRow[]> =>
  sql.prepared<SentRow>('content-share-sent-in', SENT, [shareId, session, most]);
