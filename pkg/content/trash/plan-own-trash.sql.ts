import { z } from 'zod';
import { MAX_FOLDER_DEPTH } from '../../store/postgres/folder-depth.ts';
import type { Json } from '../../store/postgres/job-store.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { PLANNED_COLUMNS, type RunningTask } from '../../tasks/task-steps.sql.ts';
import type { OwnTrash } from './folder-trash.sql.ts';

const FILES_PER_STATEMENT = 10_000;

/** The last file of the trash that was looked at. */
const Cursor = z.object({ deletedAt: z.string(), id: z.number() });

/**
 * $1 the task, $2 the owner, $3 the time of the request, $4 and $5 the cursor. Each entry of the index of the trash is read once
 * over all statements.
 */
const PLAN_FILES = `
  WITH looked AS MATERIALIZED (
    SELECT f.id, f.uuid, f.name, f.owner_id, f.trashed_with, f.deleted_at FROM files f
    WHERE f.deleted_at IS NOT NULL AND f.deleted_at <= $3 AND (f.deleted_at, f.id) > ($4::timestamptz, $5::bigint)
    ORDER BY f.deleted_at, f.id LIMIT ${FILES_PER_STATEMENT}
  ), item AS (
    INSERT INTO task_items (${PLANNED_COLUMNS})
    SELECT $1, 0, 'file', l.uuid, l.name FROM looked l WHERE l.owner_id = $2 AND l.trashed_with IS NULL
    ORDER BY l.deleted_at, l.id
    ON CONFLICT DO NOTHING RETURNING id
  ), counted AS (
    UPDATE tasks SET total = total + (SELECT count(*) FROM item) WHERE id = $1
  )
  SELECT l.deleted_at AS "deletedAt", l.id FROM looked l ORDER BY l.deleted_at, l.id OFFSET ${FILES_PER_STATEMENT - 1}`;

/** Returns the cursor after them; null: there are no more. */
export async function planOwnFiles(
  tx: Sql,
  task: Pick<RunningTask, 'id' | 'cursor'>,
  { userId, before }: OwnTrash,
): Promise<Json> {
  const after = task.cursor === null ? null : Cursor.parse(task.cursor);
  const [last] = await tx.query<{ deletedAt: Date; id: number }>(PLAN_FILES, [
    task.id,
    userId,
    before,
    after?.deletedAt ?? '-infinity',
    after?.id ?? 0,
  ]);
  return last ? { deletedAt: last.deletedAt.toISOString(), id: last.id } : null;
}

/** A folder's rank is higher the higher it is: what was deleted before the folder that it is in goes before that. */
const PLAN_FOLDERS = `
  WITH item AS (
    INSERT INTO task_items (${PLANNED_COLUMNS})
    SELECT $1, ${MAX_FOLDER_DEPTH + 1} - d.depth, 'folder', d.uuid, d.name FROM folders d
    WHERE d.owner_id = $2 AND d.deleted_at <= $3 AND d.trashed_with IS NULL ORDER BY d.depth DESC, d.id
    ON CONFLICT DO NOTHING RETURNING id
  )
  UPDATE tasks SET total = total + (SELECT count(*) FROM item) WHERE id = $1`;

export const planOwnFolders = (tx: Sql, { id }: Pick<RunningTask, 'id'>, { userId, before }: OwnTrash): Promise<unknown> =>
  tx.query(PLAN_FOLDERS, [id, userId, before]);
