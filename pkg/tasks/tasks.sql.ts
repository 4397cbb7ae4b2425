import { integerKey, keyset, timeKey } from '../store/postgres/keyset.ts';
import type { Json } from '../store/postgres/job-store.ts';
import { originParameter, withOrigin } from '../store/postgres/origin.ts';
import type { Sql } from '../store/postgres/pool.ts';
import {
  type ItemState,
  type SkipReason,
  TASK_ITEM_SORT_FIELDS,
  TASK_SORT_FIELDS,
  type TargetType,
  type TaskItemView,
  type TaskKindName,
  type TaskState,
  type TaskSubject,
  type TaskView,
} from './tasks.schema.ts';

export interface TaskRow {
  readonly id: number;
  readonly uuid: string;
  readonly kind: TaskKindName;
  readonly userId: number | null;
  readonly state: TaskState;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly result: TaskView['result'];
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly retryOf: string | null;
  readonly subject: TaskSubject | null;
  readonly requestedBy: TaskView['requested_by'];
  /** Of a translation. */
  readonly targetLanguage: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
}

/** A batch and an export name their items, which get their names later: '' for what the requester may not see. */
const SUBJECT = `coalesce(t.arguments -> 'subject', CASE WHEN t.kind IN ('batch', 'export') THEN (
    SELECT CASE WHEN i.target_name <> '' THEN jsonb_build_object('type', i.target_type, 'id', i.target, 'name', i.target_name) END
    FROM task_items i WHERE i.task_id = t.id ORDER BY i.id LIMIT 1) END)`;

/** The columns of a TaskRow; the query must call tasks `t`. */
export const TASK_COLUMNS = `t.id, t.uuid, t.kind, t.user_id AS "userId", t.state, t.total, t.done, t.failed, t.skipped, t.result,
  t.error_code AS "errorCode", t.error_message AS "errorMessage",
  (SELECT r.uuid FROM tasks r WHERE r.id = t.retry_of) AS "retryOf", ${SUBJECT} AS subject,
  (SELECT jsonb_build_object('id', u.uuid, 'name', coalesce(u.display_name, u.username)) FROM users u WHERE u.id = t.user_id)
    AS "requestedBy",
  CASE WHEN t.kind = 'translate' THEN t.arguments ->> 'target' END AS "targetLanguage", t.created_at AS "createdAt",
  t.started_at AS "startedAt", t.ended_at AS "endedAt"`;

export const UNFINISHED = `t.state IN ('queued', 'running')`;

type TaskSort = (typeof TASK_SORT_FIELDS)[number] | 'id';

export const TASKS = keyset<TaskRow, TaskSort>({
  keys: { created_at: timeKey('t.created_at', ({ createdAt }) => createdAt), id: integerKey('t.id', ({ id }) => id) },
  fields: TASK_SORT_FIELDS,
  fallback: '-created_at',
  tieBreaker: 'id',
});

export interface TaskItemRow {
  readonly id: number;
  readonly uuid: string;
  readonly targetType: TargetType;
  readonly target: string;
  readonly targetName: string;
  readonly state: ItemState;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly reason: SkipReason | null;
  readonly result: TaskItemView['result'];
}

/** The columns of a TaskItemRow; the query must call task_items `i`. */
export const TASK_ITEM_COLUMNS = `i.id, i.uuid, i.target_type AS "targetType", i.target, i.target_name AS "targetName", i.state,
  i.error_code AS "errorCode", i.error_message AS "errorMessage", i.reason, i.result`;

export const TASK_ITEMS = keyset<TaskItemRow, (typeof TASK_ITEM_SORT_FIELDS)[number]>({
  keys: { position: integerKey('i.id', ({ id }) => id) },
  fields: TASK_ITEM_SORT_FIELDS,
  fallback: 'position',
  tieBreaker: 'position',
});

/** Runs one statement. */
export async function findTask(sql: Sql, uuid: string): Promise<TaskRow | null> {
  const [row] = await sql.query<TaskRow>(`SELECT ${TASK_COLUMNS} FROM tasks t WHERE t.uuid = $1`, [uuid]);
  return row ?? null;
}

/** Kinds whose work has no rows in task_items. */
const WITHOUT_ITEMS: readonly TaskKindName[] = ['replay'];

const LOCK_REQUESTS = `
  WITH lock AS (INSERT INTO task_requesters (user_id) VALUES ($1) ON CONFLICT (user_id) DO UPDATE SET user_id = excluded.user_id)
  SELECT coalesce(sum(t.total), 0)::bigint AS items FROM tasks t
  WHERE t.user_id = $1 AND NOT t.is_single AND t.schedule_id IS NULL AND t.kind <> ALL ($2::text[])`;

/**
 * Makes requests of one person wait for each other until their transactions end. Returns the number of items that the person's
 * tasks have. Tasks that a person has one at a time, tasks without items and runs of schedules do not count. Runs one statement.
 */
export async function lockRequestsOf(tx: Sql, userId: number): Promise<number> {
  const [row] = await tx.query<{ items: number }>(LOCK_REQUESTS, [userId, WITHOUT_ITEMS]);
  return row?.items ?? 0;
}

/** Returns the unfinished tasks that a person requested, without runs of schedules. */
export const unfinishedOf = (
  tx: Sql,
  userId: number,
): Promise<{ readonly id: number; readonly kind: string; readonly isSingle: boolean; readonly retryOf: number | null }[]> =>
  tx.query(
    `SELECT t.id, t.kind, t.is_single AS "isSingle", t.retry_of AS "retryOf" FROM tasks t
     WHERE t.user_id = $1 AND t.schedule_id IS NULL AND ${UNFINISHED}`,
    [userId],
  );

/**
 * Gives a task new arguments and makes it search for its items again. Returns null if it has ended. Waits for the current step of
 * the task.
 */
export async function joinTask(tx: Sql, id: number, taskArguments: Json): Promise<TaskRow | null> {
  const [row] = await tx.query<TaskRow>(
    `UPDATE tasks t SET arguments = $2::jsonb, is_planned = false, cursor = NULL
    WHERE t.id = $1 AND ${UNFINISHED} RETURNING ${TASK_COLUMNS}`,
    [id, JSON.stringify(taskArguments)],
  );
  return row ?? null;
}

interface NewTask {
  readonly uuid: string;
  readonly kind: TaskKindName;
  /** The user whom it acts as; null if that user was deleted. */
  readonly userId: number | null;
  readonly arguments: Json;
  readonly isSingle: boolean;
  readonly result: TaskView['result'];
  readonly createdAt: Date;
  /** The schedule that requests the run. */
  readonly scheduleId?: number;
}

export async function insertTask(tx: Sql, task: NewTask): Promise<TaskRow | null> {
  const [row] = await tx.query<TaskRow>(
    `INSERT INTO tasks AS t (uuid, kind, user_id, arguments, is_single, result, created_at, schedule_id)
     VALUES ($1, $2, $3, $4::jsonb, $5, $6::jsonb, $7, $8) RETURNING ${TASK_COLUMNS}`,
    [
      task.uuid,
      task.kind,
      task.userId,
      JSON.stringify(task.arguments),
      task.isSingle,
      task.result === null ? null : JSON.stringify(task.result),
      task.createdAt,
      task.scheduleId ?? null,
    ],
  );
  return row ?? null;
}

const RETRIED = `i.task_id = $1 AND i.state = 'failed' AND ($5::text[] IS NULL OR i.error_code = ANY ($5::text[]))`;

const RETRY = `
  WITH retried AS (
    INSERT INTO tasks AS t (uuid, kind, user_id, arguments, is_planned, total, result, retry_of, created_at)
    SELECT $2, r.kind, r.user_id, r.arguments, true, c.count, $4::jsonb, r.id, $3
    FROM tasks r, (SELECT count(*)::int AS count FROM task_items i WHERE ${RETRIED}) c
    WHERE r.id = $1 AND c.count > 0 RETURNING t.*
  ), item AS (
    INSERT INTO task_items (task_id, rank, target_type, target, target_name, copy, copy_in)
    SELECT t.id, i.rank, i.target_type, i.target, i.target_name, i.copy, i.copy_in
    FROM retried t JOIN task_items i ON ${RETRIED} ORDER BY i.id
  )
  SELECT ${TASK_COLUMNS} FROM retried t`;

interface NewRetry {
  readonly uuid: string;
  readonly result: TaskView['result'];
  /** The error codes of the items to retry; undefined selects all failed items. */
  readonly codes: readonly string[] | undefined;
  readonly createdAt: Date;
}

/**
 * Inserts a task that retries failed items of another task that has ended. Returns null if no such item exists. Runs one
 * statement.
 */
export async function insertRetry(tx: Sql, id: number, { uuid, result, codes, createdAt }: NewRetry): Promise<TaskRow | null> {
  const [row] = await tx.query<TaskRow>(RETRY, [
    id,
    uuid,
    createdAt,
    result === null ? null : JSON.stringify(result),
    codes ?? null,
  ]);
  return row ?? null;
}

/** Returns null if the task had ended. Waits for the current step of the task. */
export async function cancelTask(sql: Sql, id: number, now: Date): Promise<TaskRow | null> {
  const [row] = await sql.query<TaskRow>(
    `UPDATE tasks t SET state = 'canceled', ended_at = $2 WHERE t.id = $1 AND ${UNFINISHED} AND ${withOrigin('$3')}
     RETURNING ${TASK_COLUMNS}`,
    [id, now, originParameter()],
  );
  return row ?? null;
}
