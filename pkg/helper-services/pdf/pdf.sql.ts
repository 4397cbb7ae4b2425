import type { Json } from '../../store/postgres/job-store.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { PLANNED_COLUMNS } from '../../tasks/task-steps.sql.ts';

/** Adds the one item of a task that concerns one file. */
export const addFileItem = (tx: Sql, task: string, { uuid, name }: { uuid: string; name: string }): Promise<unknown> =>
  tx.query(
    `WITH task AS (UPDATE tasks SET is_planned = true, total = 1 WHERE uuid = $1 RETURNING id)
     INSERT INTO task_items (${PLANNED_COLUMNS}) SELECT id, 0, 'file', $2, $3 FROM task`,
    [task, uuid, name],
  );

export const setResult = (tx: Sql, task: number, result: Json): Promise<unknown> =>
  tx.query('UPDATE tasks SET result = $2::jsonb WHERE id = $1', [task, JSON.stringify(result)]);

/** Returns whether a task is still running, that is, nobody has canceled it. */
export async function isRunning(sql: Pick<Sql, 'query'>, task: string): Promise<boolean> {
  const rows = await sql.query("SELECT FROM tasks WHERE uuid = $1 AND state = 'running'", [task]);
  return rows.length > 0;
}
