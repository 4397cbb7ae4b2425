import type { Sql } from '../../store/postgres/pool.ts';
import type { TaskItem } from '../../tasks/task-steps.sql.ts';
import { lockFiles } from '../model/files/files.sql.ts';
import type { BatchItem } from './batch.schema.ts';

/** Adds the named items of a task (by its uuid), each once; returns their number. Takes one statement. */
export async function nameItems(sql: Sql, task: string, items: readonly BatchItem[]): Promise<number> {
  const [named] = await sql.query<{ total: number }>(
    `WITH item AS (
       INSERT INTO task_items (task_id, rank, target_type, target, target_name)
       SELECT t.id, 0, u.type, u.id, '' FROM tasks t, unnest($2::text[], $3::uuid[]) WITH ORDINALITY AS u (type, id, at)
       WHERE t.uuid = $1 ORDER BY u.at
       ON CONFLICT DO NOTHING RETURNING id
     )
     UPDATE tasks SET total = (SELECT count(*) FROM item) WHERE uuid = $1 RETURNING total`,
    [task, items.map(({ type }) => type), items.map(({ id }) => id)],
  );
  return named?.total ?? 0;
}

/** A planned item. */
export interface PlannedItem extends BatchItem {
  readonly name: string;
  readonly rank: number;
}

/** Adds items that do not exist yet. Takes one statement; none for no items. */
export async function addItems(sql: Sql, taskId: number, items: readonly PlannedItem[]): Promise<void> {
  if (items.length === 0) return;
  await sql.query(
    `WITH item AS (
       INSERT INTO task_items (task_id, rank, target_type, target, target_name)
       SELECT $1, u.rank, u.type, u.id, u.name FROM unnest($2::text[], $3::uuid[], $4::text[], $5::int[]) WITH ORDINALITY
         AS u (type, id, name, rank, at)
       ORDER BY u.at ON CONFLICT DO NOTHING RETURNING id
     )
     UPDATE tasks SET total = total + (SELECT count(*) FROM item) WHERE id = $1`,
    [
      taskId,
      items.map(({ type }) => type),
      items.map(({ id }) => id),
      items.map(({ name }) => name),
      items.map(({ rank }) => rank),
    ],
  );
}

/** Returns the next named items after this one, in their order. */
export const namedItems = (
  sql: Sql,
  taskId: number,
  after: number,
  most: number,
): Promise<Pick<TaskItem, 'id' | 'targetType' | 'target'>[]> =>
  sql.query(
    'SELECT id, target_type AS "targetType", target FROM task_items WHERE task_id = $1 AND id > $2 ORDER BY id LIMIT $3',
    [taskId, after, most],
  );

/** Gives named items their names and ranks. Finds them by ids alone, as `endItems` does. Takes one statement. */
export const rankItems = (
  sql: Sql,
  taskId: number,
  items: readonly { readonly id: number; readonly name: string; readonly rank: number }[],
): Promise<unknown> =>
  sql.query(
    `UPDATE task_items SET target_name = ($3::text[])[array_position($2::bigint[], id)],
       rank = ($4::int[])[array_position($2::bigint[], id)]
     WHERE task_id = $1 AND id = ANY ($2::bigint[])`,
    [taskId, items.map(({ id }) => id), items.map(({ name }) => name), items.map(({ rank }) => rank)],
  );

/**
 * Returns the condition that a folder of `ancestry` is an item of the task that has succeeded, and that `of` is live or went to
 * the trash with it.
 */
const wentWith = (of: string, ancestry: string): string => `EXISTS (
    SELECT FROM unnest(string_to_array(ltree2text(${ancestry}), '.')::bigint[]) a (id) JOIN folders b ON b.id = a.id
    JOIN task_items i ON i.task_id = $1 AND i.target_type = 'folder' AND i.target = b.uuid AND i.state = 'succeeded'
    WHERE ${of}.deleted_at IS NULL OR ${of}.trashed_with = b.id)`;

const COVERED = `
  SELECT f.uuid FROM files f JOIN folders d ON d.id = f.folder_id
  WHERE f.uuid = ANY ($2::uuid[]) AND ${wentWith('f', 'd.ancestry')}
  UNION ALL
  SELECT c.uuid FROM folders c JOIN folders d ON d.id = c.parent_id
  WHERE c.uuid = ANY ($2::uuid[]) AND ${wentWith('c', 'd.ancestry')}`;

/** Returns the uuids of items that were changed together with a folder of the same task. One statement. */
export const coveredOf = async (sql: Sql, taskId: number, targets: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set((await sql.query<{ uuid: string }>(COVERED, [taskId, targets])).map(({ uuid }) => uuid));

const LOCK_FOLDERS = `
  SELECT FROM folders
  WHERE id IN (SELECT folder_id FROM files WHERE uuid = ANY ($1::uuid[]) UNION SELECT id FROM folders WHERE uuid = $2)
  ORDER BY id FOR SHARE`;

/**
 * Locks the files of a step before any of them changes: folders first, then files, each in the order of their ids, as single
 * changes lock them. So a change of one of them, which locks its owner's quota last, never waits for a step that holds the
 * quota and waits for the file.
 */
export async function lockFilesOf(sql: Sql, targets: readonly string[], destination: string | null): Promise<void> {
  await sql.query(LOCK_FOLDERS, [targets, destination]);
  await lockFiles(sql, targets);
}

const BYTES = `
  SELECT f.uuid, (SELECT coalesce(sum(v.size), 0)::bigint FROM file_versions v WHERE v.file_id = f.id) AS bytes FROM files f
  WHERE f.uuid = ANY ($1::uuid[])
  UNION ALL
  SELECT d.uuid,
    (SELECT coalesce(sum(v.size), 0)::bigint FROM folders b JOIN files f ON f.folder_id = b.id
    JOIN file_versions v ON v.file_id = f.id
    WHERE b.ancestry <@ d.ancestry AND ($2 OR f.deleted_at IS NULL)) AS bytes
  FROM folders d WHERE d.uuid = ANY ($1::uuid[])`;

/**
 * Returns the bytes of all versions of each item; those of a folder include everything below it. `any`: items in the trash
 * count too. One statement.
 */
export async function bytesOf(sql: Sql, targets: readonly string[], any: boolean): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.query<{ uuid: string; bytes: number }>(BYTES, [targets, any]);
  return new Map(rows.map(({ uuid, bytes }) => [uuid, bytes]));
}

/** Adds to the bytes of the task's result. One statement. */
export const addBytes = (sql: Sql, taskId: number, bytes: number): Promise<unknown> =>
  sql.query(
    `UPDATE tasks SET result = jsonb_set(result, '{bytes}', to_jsonb((result ->> 'bytes')::bigint + $2::bigint)) WHERE id = $1`,
    [taskId, bytes],
  );
