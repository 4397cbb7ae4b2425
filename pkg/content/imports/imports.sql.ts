import type { Json } from '../../store/postgres/job-store.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { PlannedEntry, PlannedPath } from './plan.policy.ts';
import { DAY_MS } from '../../runtime/time.ts';

/** Contents that an import has stored expire after this time if its task does not end. */
export const STAGED_MS = 30 * DAY_MS;
const UNSTORED = 0;
const STORED = 1;

/** Content in the store that no version refers to yet. */
export interface StagedContent {
  /** Null if the content has no bytes, and no object yet. */
  readonly key: string | null;
  /** Hex SHA-256. */
  readonly checksum: string;
  readonly mimeType: string;
  readonly isEncrypted: boolean;
}

export interface ImportItem {
  readonly id: number;
  readonly name: string;
  readonly entry: PlannedPath;
  /** Null for a folder, or if the content is not stored yet. */
  readonly content: StagedContent | null;
}

/**
 * Begins to stage an import: it stores its objects as segments of an upload without a user, which no request can reach. The
 * sweep, backups and the deletion of expired uploads therefore include them. `archive` is the archive that was sent with the
 * request.
 */
export const beginStaging = (
  tx: Sql,
  task: string,
  expiresAt: Date,
  archive: { readonly key: string; readonly size: number } | null,
): Promise<unknown> =>
  tx.query(
    `WITH upload AS (
       INSERT INTO partial_uploads (uuid, received, metadata, expires_at) VALUES ($1, coalesce($4::bigint, 0), '', $2)
       RETURNING id
     )
     INSERT INTO partial_upload_segments (upload_id, number, key, size) SELECT u.id, 0, $3::text, $4::bigint FROM upload u
     WHERE $3::text IS NOT NULL`,
    [task, expiresAt, archive?.key ?? null, archive?.size ?? null],
  );

/** Returns null if the upload no longer exists. */
export async function findStaging(sql: Sql, task: string): Promise<{ readonly id: number; readonly uuid: string } | null> {
  const [row] = await sql.query<{ id: number; uuid: string }>('SELECT id, uuid FROM partial_uploads WHERE uuid = $1', [task]);
  return row ?? null;
}

/** Deletes the items that an incomplete planning has left. */
export const clearItems = async (tx: Sql, taskId: number): Promise<void> => {
  await tx.query('DELETE FROM task_items WHERE task_id = $1', [taskId]);
  await tx.query('UPDATE tasks SET skipped = 0, done = 0, total = 0 WHERE id = $1', [taskId]);
};

const ADD = `
  WITH item AS (
    INSERT INTO task_items (task_id, rank, target_type, target, target_name, state, reason, entry)
    SELECT $1, CASE WHEN u.entry -> 'isFolder' = 'true' THEN ${STORED} ELSE ${UNSTORED} END, 'entry', gen_random_uuid(), u.name,
      CASE WHEN u.entry IS NULL THEN 'skipped' ELSE 'queued' END, CASE WHEN u.entry IS NULL THEN 'system_file' END, u.entry
    FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (name text, entry jsonb)) WITH ORDINALITY AS u (name, entry, at)
    ORDER BY u.at
    RETURNING state
  ), counted AS (SELECT count(*)::int AS count, (count(*) FILTER (WHERE state = 'skipped'))::int AS skipped FROM item)
  UPDATE tasks t SET total = t.total + c.count, done = t.done + c.skipped, skipped = t.skipped + c.skipped FROM counted c
  WHERE t.id = $1`;

export const addEntries = (tx: Sql, taskId: number, entries: readonly PlannedEntry[]): Promise<unknown> =>
  tx.query(ADD, [taskId, JSON.stringify(entries.map(({ name, entry }) => (entry === null ? { name } : { name, entry })))]);

const ITEMS = (rank: number, content: string): string => `
  SELECT i.id, i.target_name AS name, i.entry, ${content} AS content FROM task_items i
  WHERE i.task_id = $1 AND i.rank = ${rank} AND i.state = 'queued' ORDER BY i.rank, i.id LIMIT $2`;

/** Returns the next items whose content is not in the store. */
export const unstoredItems = (tx: Sql, taskId: number, most: number): Promise<ImportItem[]> =>
  tx.query<ImportItem>(ITEMS(UNSTORED, 'NULL'), [taskId, most]);

/** Counts of the contents in the store, and the totals. */
export interface Contents {
  readonly entries: number;
  readonly total_entries: number;
  readonly bytes: number;
  readonly total_bytes: number;
}

const CONTENTS = `
  SELECT count(*) FILTER (WHERE i.is_stored)::int AS entries, count(*)::int AS total_entries,
    coalesce(sum(i.size) FILTER (WHERE i.is_stored), 0)::bigint AS bytes, coalesce(sum(i.size), 0)::bigint AS total_bytes
  FROM (
    SELECT (entry ->> 'size')::bigint AS size, content IS NOT NULL AS is_stored FROM task_items
    WHERE task_id = $1 AND state = 'queued' AND entry -> 'isFolder' = 'false') i`;

/** Counts the contents that are yet to become files. */
export async function contentsOf(sql: Sql, taskId: number): Promise<Contents> {
  const [contents] = await sql.query<Contents>(CONTENTS, [taskId]);
  return contents ?? { entries: 0, total_entries: 0, bytes: 0, total_bytes: 0 };
}

/** Writes the counts to the task's result. */
export const showContents = (tx: Sql, taskId: number, contents: Contents): Promise<unknown> =>
  tx.query(`UPDATE tasks SET result = jsonb_set(result, '{contents}', $2::jsonb) WHERE id = $1`, [
    taskId,
    JSON.stringify(contents),
  ]);

/** Updates only the bytes, and only if they exceed those shown: a faster step may have shown more. */
export const showReadBytes = (sql: Sql, taskId: number, bytes: number): Promise<unknown> =>
  sql.query(
    `UPDATE tasks SET result = jsonb_set(result, '{contents,bytes}', to_jsonb($2::bigint))
     WHERE id = $1 AND state = 'running' AND (result #>> '{contents,bytes}')::bigint < $2`,
    [taskId, bytes],
  );

/** Returns the next items that can become files and folders. */
export const storedItems = (tx: Sql, taskId: number, most: number): Promise<ImportItem[]> =>
  tx.query<ImportItem>(ITEMS(STORED, 'i.content'), [taskId, most]);

export interface Staged extends StagedContent {
  readonly id: number;
  /** bytes */
  readonly size: number;
}

const STAGE = `
  WITH stored AS (SELECT * FROM jsonb_to_recordset($2::jsonb) AS s (id bigint, key text, size bigint, content jsonb)), upload AS (
    UPDATE partial_uploads u SET received = u.received + (SELECT coalesce(sum(s.size), 0) FROM stored s WHERE s.key IS NOT NULL),
      expires_at = $4
    WHERE u.uuid = $3 RETURNING u.id
  ), segment AS (
    INSERT INTO partial_upload_segments (upload_id, number, key, size)
    SELECT u.id, b.number + row_number() OVER (ORDER BY s.id), s.key, s.size
    FROM upload u CROSS JOIN stored s,
    LATERAL (SELECT coalesce(max(g.number), 0) AS number FROM partial_upload_segments g WHERE g.upload_id = u.id) b
    WHERE s.key IS NOT NULL
  )
  UPDATE task_items i SET rank = ${STORED}, content = s.content FROM stored s, upload u
  WHERE i.task_id = $1 AND i.id = s.id AND i.id = ANY ($5::bigint[])
  RETURNING i.id`;

/** Records that contents of entries are in the store. One statement. Returns false if the stored contents have expired. */
export async function stage(
  tx: Sql,
  task: { readonly id: number; readonly uuid: string },
  staged: readonly Staged[],
  until: Date,
): Promise<boolean> {
  const rows = staged.map(({ id, size, ...content }) => ({ id, key: content.key, size, content }));
  return (await tx.query(STAGE, [task.id, JSON.stringify(rows), task.uuid, until, staged.map(({ id }) => id)])).length > 0;
}

const UNSTAGE = `
  WITH gone AS (
    DELETE FROM partial_upload_segments s USING partial_uploads u
    WHERE u.uuid = $1 AND s.upload_id = u.id AND s.key = ANY ($2::text[]) RETURNING s.size
  ), upload AS (
    UPDATE partial_uploads SET received = received - (SELECT coalesce(sum(size), 0) FROM gone) WHERE uuid = $1
  ), reserved AS (
    UPDATE storage_reservations SET bytes = greatest(0, bytes - (SELECT coalesce(sum(size), 0) FROM gone)) WHERE id = $1
  )
  UPDATE task_items SET content = NULL WHERE task_id = $3 AND id = ANY ($4::bigint[])`;

/** Releases what is reserved for contents that are versions now or will be deleted. One statement. */
export const unstage = (
  tx: Sql,
  task: { readonly id: number; readonly uuid: string },
  items: readonly Pick<ImportItem, 'id' | 'content'>[],
): Promise<unknown> =>
  tx.query(UNSTAGE, [task.uuid, items.flatMap(({ content }) => content?.key ?? []), task.id, items.map(({ id }) => id)]);

/** Drops the entries of items that are not retried. */
export const dropEntries = (tx: Sql, taskId: number, items: readonly number[]): Promise<unknown> =>
  tx.query('UPDATE task_items SET entry = NULL WHERE task_id = $1 AND id = ANY ($2::bigint[])', [taskId, items]);

const RETRY = `
  UPDATE task_items i SET entry = f.entry, rank = CASE WHEN f.entry -> 'isFolder' = 'true' THEN ${STORED} ELSE ${UNSTORED} END
  FROM task_items f WHERE f.task_id = $1 AND i.task_id = $2 AND f.target = i.target AND f.entry IS NOT NULL RETURNING i.id`;

/** Copies entries to the items of a retry from the items that they try again. Returns how many items received an entry. */
export const retryEntries = async (tx: Sql, from: number, to: number): Promise<number> =>
  (await tx.query(RETRY, [from, to])).length;

/** Returns the uuid of the file that is an import's archive, or null if the archive was sent with the request. */
export async function archiveFileOf(sql: Sql, taskId: number): Promise<string | null> {
  const [task] = await sql.query<{ file: string | null }>(
    `SELECT arguments #>> '{archive,file}' AS file FROM tasks WHERE id = $1`,
    [taskId],
  );
  return task?.file ?? null;
}

/** Adds these counts to the task's result. */
export const addResult = (
  tx: Sql,
  taskId: number,
  added: { readonly files: number; readonly folders: number; readonly bytes: number },
): Promise<unknown> =>
  tx.query(
    `UPDATE tasks
     SET result = result || jsonb_build_object(
       'files', (result ->> 'files')::bigint + $2::bigint,
       'folders', (result ->> 'folders')::bigint + $3::bigint,
       'bytes', (result ->> 'bytes')::bigint + $4::bigint)
     WHERE id = $1`,
    [taskId, added.files, added.folders, added.bytes],
  );

/** Records in the task's result how many entries were skipped, by reason. */
export const countSkipped = (tx: Sql, taskId: number): Promise<unknown> =>
  tx.query(
    `UPDATE tasks SET result = jsonb_set(result, '{skipped}', (
       SELECT coalesce(jsonb_agg(jsonb_build_object('reason', r.reason, 'count', r.count) ORDER BY r.reason), '[]')
       FROM (SELECT reason, count(*) AS count FROM task_items WHERE task_id = $1 AND state = 'skipped' GROUP BY reason) r))
       WHERE id = $1`,
    [taskId],
  );

/** Resets the count of the reader's unexpected ends, since the import has made progress. */
export const resetReaderEnds = (tx: Sql, taskId: number): Promise<unknown> =>
  tx.query('UPDATE tasks SET cursor = NULL WHERE id = $1 AND cursor IS NOT NULL', [taskId]);

/** Counts an unexpected end of the reader. Returns the number of such ends since the import last made progress. */
export async function countReaderEnd(tx: Sql, taskId: number): Promise<number> {
  const [row] = await tx.query<{ cursor: Json }>(
    'UPDATE tasks SET cursor = to_jsonb(coalesce((cursor)::int, 0) + 1) WHERE id = $1 RETURNING cursor',
    [taskId],
  );
  return Number(row?.cursor ?? 0);
}

export const markPlanned = (tx: Sql, taskId: number): Promise<unknown> =>
  tx.query('UPDATE tasks SET is_planned = true WHERE id = $1', [taskId]);

/** Returns false if the task has ended or no longer exists. */
export const isRunning = async (sql: Sql, task: string): Promise<boolean> =>
  (await sql.query(`SELECT FROM tasks WHERE uuid = $1 AND state = 'running'`, [task])).length > 0;

const LOCK_PRESENT = `
  SELECT f.id FROM files f WHERE f.id IN (
    SELECT p.id FROM unnest($1::bigint[], $2::text[]) AS w (folder, name)
    JOIN files p ON p.folder_id = w.folder AND p.name = w.name
    UNION ALL
    SELECT p.id FROM unnest($1::bigint[], $2::text[]) AS w (folder, name) JOIN files p ON p.owner_id = $3 AND p.name = w.name
    WHERE w.folder IS NULL AND p.folder_id IS NULL) AND f.deleted_at IS NULL ORDER BY f.id FOR UPDATE`;

/**
 * Locks the live files that have these names in these folders (null: the user's root), in the order of their ids. Call it before
 * a quota is locked.
 */
export const lockPresent = (
  tx: Sql,
  userId: number,
  wanted: readonly { readonly folder: number | null; readonly name: string }[],
): Promise<unknown> => tx.query(LOCK_PRESENT, [wanted.map(({ folder }) => folder), wanted.map(({ name }) => name), userId]);
