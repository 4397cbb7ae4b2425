import type { ProblemCode } from '../api/error-catalogue.ts';
import type { Json } from '../store/postgres/job-store.ts';
import type { Sql } from '../store/postgres/pool.ts';
import type { SkipReason } from './tasks.schema.ts';

/** A task as its processor sees it. */
export interface RunningTask {
  readonly id: number;
  readonly uuid: string;
  /** The owner; null for a task of the system. */
  readonly userId: number | null;
  /** The schedule that requested the run. */
  readonly scheduleId: number | null;
  readonly arguments: Json;
  /** All of its items have been found. */
  readonly isPlanned: boolean;
  /** The progress of the search for items, as `planTo` wrote it; null before it begins. */
  readonly cursor: Json;
}

export interface TaskItem {
  readonly id: number;
  readonly rank: number;
  readonly targetType: 'file' | 'folder';
  readonly target: string;
  readonly copy: string | null;
  readonly copyIn: string | null;
}

/** The outcome of an item; if `code` is null, it succeeded or was skipped. */
export interface ItemEnd {
  readonly id: number;
  readonly code: ProblemCode | null;
  readonly message?: string;
  readonly skipped?: SkipReason;
  /** The result for the requester. */
  readonly result?: Json;
}

/** Returns whether the task starts for the first time, or null if it has ended or was deleted. */
export async function startTask(tx: Sql, uuid: string, now: Date): Promise<'first' | 'again' | null> {
  const [started] = await tx.query<{ isFirst: boolean }>(
    `UPDATE tasks t SET state = 'running', started_at = coalesce(t.started_at, $2) FROM tasks b
     WHERE t.uuid = $1 AND t.state IN ('queued', 'running') AND b.id = t.id RETURNING b.started_at IS NULL AS "isFirst"`,
    [uuid, now],
  );
  if (!started) return null;
  return started.isFirst ? 'first' : 'again';
}

/** Locks the task. Returns null if it has ended or was deleted. */
export async function lockTask(tx: Sql, uuid: string): Promise<RunningTask | null> {
  // The audit log attributes the changes of the step to the requester.
  const [task] = await tx.query<RunningTask>(
    `SELECT id, uuid, user_id AS "userId", schedule_id AS "scheduleId", arguments, is_planned AS "isPlanned", cursor,
       set_config('carrel.origin', CASE WHEN user_id IS NULL THEN '' ELSE json_build_object('user', user_id)::text END, true)
     FROM tasks WHERE uuid = $1 AND state = 'running' FOR UPDATE`,
    [uuid],
  );
  return task ?? null;
}

export async function endTask(
  tx: Sql,
  uuid: string,
  state: 'succeeded' | 'failed',
  now: Date,
  error: { readonly code: ProblemCode; readonly message: string } | null,
): Promise<void> {
  await tx.query(
    `UPDATE tasks SET state = $2, ended_at = $3, error_code = $4, error_message = left($5, 1000)
    WHERE uuid = $1 AND state = 'running'`,
    [uuid, state, now, error?.code ?? null, error?.message ?? null],
  );
}

/** Writes the result of the whole task. */
export const setResult = (tx: Sql, id: number, result: Json): Promise<unknown> =>
  tx.query('UPDATE tasks SET result = $2::jsonb WHERE id = $1', [id, JSON.stringify(result)]);

/** Writes how far the search for items has come; null means that all have been found. */
export const planTo = (tx: Sql, id: number, cursor: Json): Promise<unknown> =>
  tx.query('UPDATE tasks SET is_planned = $2::jsonb IS NULL, cursor = $2::jsonb WHERE id = $1', [
    id,
    cursor === null ? null : JSON.stringify(cursor),
  ]);

/**
 * Adds to `total` and `done`, and writes the progress, for a task without items that counts its own work. `total` is at least
 * `done`.
 */
export const advanceTask = (
  tx: Sql,
  id: number,
  { total, done, cursor }: { readonly total: number; readonly done: number; readonly cursor: Json },
): Promise<unknown> =>
  tx.query('UPDATE tasks SET done = done + $3, total = greatest(total + $2, done + $3), cursor = $4::jsonb WHERE id = $1', [
    id,
    total,
    done,
    JSON.stringify(cursor),
  ]);

/** Counts an attempt that may be repeated, in the column `cursor`. Returns the number of attempts. */
export async function countAttempt(tx: Sql, id: number): Promise<number> {
  const [row] = await tx.query<{ attempts: number }>(
    `UPDATE tasks SET cursor = jsonb_build_object('attempts', coalesce((cursor ->> 'attempts')::int, 0) + 1) WHERE id = $1
     RETURNING (cursor ->> 'attempts')::int AS attempts`,
    [id],
  );
  return row?.attempts ?? 0;
}

/** The columns of an item that a statement of `plan` inserts. */
export const PLANNED_COLUMNS = 'task_id, rank, target_type, target, target_name';

/** The largest number of items in a step, by target type. */
export interface StepSize {
  readonly files: number;
  readonly folders: number;
}

export const nextItems = (tx: Sql, id: number, { files, folders }: StepSize): Promise<TaskItem[]> =>
  tx.query<TaskItem>(
    `WITH first AS (
       SELECT rank, target_type FROM task_items WHERE task_id = $1 AND state = 'queued' ORDER BY rank, id LIMIT 1
     )
     SELECT i.id, i.rank, i.target_type AS "targetType", i.target, i.copy, i.copy_in AS "copyIn"
     FROM first JOIN task_items i USING (rank, target_type)
     WHERE i.task_id = $1 AND i.state = 'queued' ORDER BY i.id
     LIMIT (SELECT CASE target_type WHEN 'file' THEN $2::int ELSE $3::int END FROM first)`,
    [id, files, folders],
  );

/**
 * Runs one statement for each distinct outcome. An item that has already ended stays as it is, and counts once. The statement
 * finds items by ids alone. The planner expects few items for a task that it has not analyzed lately, and would compare each item
 * with each outcome.
 */
export async function endItems(tx: Sql, taskId: number, items: readonly ItemEnd[]): Promise<void> {
  for (const alike of Map.groupBy(items, ({ code, message, skipped }) => JSON.stringify([code, message, skipped])).values()) {
    const [first] = alike;
    if (!first) continue;
    const ids = alike.map(({ id }) => id);
    const results = alike.some(({ result }) => result)
      ? alike.map(({ result }) => (result ? JSON.stringify(result) : null))
      : null;
    await tx.query(
      `WITH ended AS (
         UPDATE task_items SET error_code = $3::text, error_message = left($4, 1000), reason = $5::text,
           result = (($6::text[])[array_position($2::bigint[], id)])::jsonb,
           state = CASE WHEN $5::text IS NOT NULL THEN 'skipped' WHEN $3::text IS NULL THEN 'succeeded' ELSE 'failed' END
         WHERE task_id = $1 AND id = ANY ($2::bigint[]) AND state = 'queued' RETURNING id
       )
       UPDATE tasks t SET done = t.done + c.count, failed = t.failed + CASE WHEN $3::text IS NULL THEN 0 ELSE c.count END,
         skipped = t.skipped + CASE WHEN $5::text IS NULL THEN 0 ELSE c.count END
       FROM (SELECT count(*)::int AS count FROM ended) c WHERE t.id = $1`,
      [taskId, ids, first.code, first.message ?? null, first.skipped ?? null, results],
    );
  }
}

/** Fails all queued items. Runs one statement. */
export async function endQueued(
  tx: Sql,
  taskId: number,
  { code, message }: { code: ProblemCode; message: string },
): Promise<void> {
  await tx.query(
    `WITH ended AS (
       UPDATE task_items SET state = 'failed', error_code = $2, error_message = left($3, 1000)
       WHERE task_id = $1 AND state = 'queued' RETURNING id
     )
     UPDATE tasks t SET done = t.done + c.count, failed = t.failed + c.count
     FROM (SELECT count(*)::int AS count FROM ended) c WHERE t.id = $1`,
    [taskId, code, message],
  );
}

const ITEMS_PER_STATEMENT = 10_000;

/** A task also leads to the archive that a schedule keeps (table `exports`), so the archive keeps the task. */
const KEEPS_ARCHIVE = `EXISTS (SELECT FROM exports e WHERE e.uuid = t.uuid AND e.schedule IS NOT NULL)`;

/** Deletes a task that has ended, in several transactions if it has many items. Returns `kept` if its archive still exists. */
export async function deleteTask(
  transaction: <T>(fn: (tx: Sql) => Promise<T>) => Promise<T>,
  uuid: string,
): Promise<'gone' | 'unfinished' | 'kept'> {
  for (;;) {
    const state = await transaction(async (tx) => {
      const [task] = await tx.query<{ id: number; isOver: boolean; isKept: boolean }>(
        `SELECT t.id, t.ended_at IS NOT NULL AS "isOver", ${KEEPS_ARCHIVE} AS "isKept" FROM tasks t WHERE t.uuid = $1`,
        [uuid],
      );
      if (!task) return 'gone';
      if (!task.isOver) return 'unfinished';
      if (task.isKept) return 'kept';
      const items = await tx.query(
        `DELETE FROM task_items WHERE task_id = $1
           AND id IN (SELECT id FROM task_items WHERE task_id = $1 ORDER BY id LIMIT $2) RETURNING id`,
        [task.id, ITEMS_PER_STATEMENT],
      );
      if (items.length === ITEMS_PER_STATEMENT) return 'more';
      await tx.query('DELETE FROM tasks WHERE id = $1', [task.id]);
      return 'gone';
    });
    if (state !== 'more') return state;
  }
}
