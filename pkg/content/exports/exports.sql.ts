import type { Sql } from '../../store/postgres/pool.ts';
import type { TaskItem } from '../../tasks/task-steps.sql.ts';
import type { Content } from '../downloads/download-headers.ts';
import { FOLDER_COLUMNS, FOLDER_JOINS, type FolderRecord } from '../model/folders/folders.sql.ts';

/** An archive that is in the store. */
export interface NewExportRow {
  /** The uuid of its task. */
  readonly uuid: string;
  readonly userId: number;
  /** 64 hexadecimal digits. */
  readonly token: string;
  readonly name: string;
  readonly key: string;
  /** bytes */
  readonly size: number;
  /** Hex SHA-256. */
  readonly checksum: string;
  /** Null: newer ones of its schedule will replace it. */
  readonly expiresAt: Date | null;
  /** The uuid of its schedule. */
  readonly schedule: string | null;
}

export const insertExport = (tx: Sql, row: NewExportRow): Promise<unknown> =>
  tx.query(
    `INSERT INTO exports (uuid, user_id, token, name, key, size, checksum, expires_at, schedule)
     VALUES ($1, $2, $3, $4, $5, $6, $7, coalesce($8::timestamptz, 'infinity'), $9)`,
    [row.uuid, row.userId, row.token, row.name, row.key, row.size, row.checksum, row.expiresAt, row.schedule],
  );

/**
 * Returns the content of an export by its token, and the uuid of its user; null: it has expired, or its user may no longer sign
 * in. One statement.
 */
export async function findExport(sql: Sql, token: string, now: Date): Promise<(Content & { readonly user: string }) | null> {
  const [row] = await sql.query<Content & { readonly user: string }>(
    `SELECT e.uuid, 1 AS version, e.name, 'application/zip' AS "mimeType", e.size, e.checksum, e.key AS "blobName",
       u.uuid AS "user"
     FROM exports e JOIN users u ON u.id = e.user_id AND u.is_active WHERE e.token = $1 AND e.expires_at > $2`,
    [token, now],
  );
  return row ?? null;
}

/**
 * Counts a person's exports that are being made or have not expired, except those of schedules. Call it with the lock of their
 * requests. One statement.
 */
export async function countExports(tx: Sql, userId: number, now: Date): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM tasks t WHERE t.user_id = $1 AND t.kind = 'export' AND NOT t.arguments ? 'schedule'
         AND t.state IN ('queued', 'running'))::int
       + (SELECT count(*) FROM exports e WHERE e.user_id = $1 AND e.expires_at > $2 AND e.schedule IS NULL)::int AS count`,
    [userId, now],
  );
  return row?.count ?? 0;
}

/**
 * Deletes expired exports and returns the keys of their objects. Compares with the clock of Postgres too, which decides when
 * the job for this is due: the job runs once.
 */
export const deleteExpired = async (tx: Sql, now: Date): Promise<string[]> =>
  (
    await tx.query<{ key: string }>('DELETE FROM exports WHERE expires_at <= greatest($1::timestamptz, now()) RETURNING key', [
      now,
    ])
  ).map(({ key }) => key);

export const queuedItems = (tx: Sql, taskId: number): Promise<Pick<TaskItem, 'id' | 'targetType' | 'target'>[]> =>
  tx.query(`SELECT id, target_type AS "targetType", target FROM task_items WHERE task_id = $1 AND state = 'queued' ORDER BY id`, [
    taskId,
  ]);

/** Returns live folders and those in the trash. */
export const foldersOf = async (tx: Sql, uuids: readonly string[]): Promise<FolderRecord[]> =>
  uuids.length === 0
    ? []
    : tx.query(`SELECT ${FOLDER_COLUMNS} FROM folders ${FOLDER_JOINS} WHERE d.uuid = ANY ($1::uuid[])`, [uuids]);

export const writeResult = (tx: Sql, taskId: number, result: object): Promise<unknown> =>
  tx.query('UPDATE tasks SET result = $2::jsonb WHERE id = $1', [taskId, JSON.stringify(result)]);

export const isRunning = async (sql: Sql, task: string): Promise<boolean> =>
  (await sql.query(`SELECT FROM tasks WHERE uuid = $1 AND state = 'running'`, [task])).length > 0;
