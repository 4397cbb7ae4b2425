/**
 * Changes of people's jobs by operators of the platform. The operator's role makes them, in a transaction whose search path is
 * the tenant's schema (`tenant`: the tenant's role). The audit log attributes each change to Carrel, since no user is known.
 */
import type { z } from 'zod';
import { insertJob, type Json } from '../store/postgres/job-store.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { EXPIRE_TASK, type TaskKind } from './task-kind.ts';
import { TASK_RETENTION_MS } from './task-requests.ts';
import type { TaskView } from './tasks.schema.ts';
import { cancelTask, findTask, insertRetry, insertTask, lockRequestsOf, type TaskRow, unfinishedOf } from './tasks.sql.ts';

/** Requests a job that no user's rights limit. Runs four statements. */
export async function requestForPlatform<Arguments extends z.ZodType>(
  tx: Sql,
  tenant: string,
  kind: TaskKind<Arguments>,
  of: { uuid: string; arguments: z.input<Arguments> & Json; result: TaskView['result'] },
): Promise<TaskRow> {
  const row = await insertTask(tx, { ...of, kind: kind.name, userId: null, isSingle: false, createdAt: new Date() });
  return requested(tx, tenant, kind, row);
}

/**
 * Requests a job of the same person for all failed items of a job that has ended, beyond that person's limits. Returns null if no
 * item failed, or a job is already retrying them.
 */
export async function retryForPlatform(
  tx: Sql,
  tenant: string,
  kind: TaskKind,
  task: TaskRow,
  uuid: string,
): Promise<TaskRow | null> {
  if (task.userId === null) return null;
  await lockRequestsOf(tx, task.userId);
  if ((await unfinishedOf(tx, task.userId)).some(({ retryOf }) => retryOf === task.id)) return null;
  const row = await insertRetry(tx, task.id, {
    uuid,
    result: kind.resultOfRetry(task.result),
    codes: undefined,
    createdAt: new Date(),
  });
  return row && requested(tx, tenant, kind, row);
}

async function requested(tx: Sql, tenant: string, { job }: TaskKind, row: TaskRow | null): Promise<TaskRow> {
  if (row === null) throw new Error('a job was not inserted');
  const payload = { task: row.uuid };
  await insertJob(tx, { kind: job.kind, queue: job.queue, payload, tenant });
  const dueAt = new Date(row.createdAt.getTime() + TASK_RETENTION_MS);
  await insertJob(tx, { kind: EXPIRE_TASK.kind, queue: EXPIRE_TASK.queue, payload, dueAt, tenant });
  return row;
}

/** Condition for the rows of carrel.work that do a job of a person; `$1` is the tenant's role, `$2` the job's uuid. */
export const WORK_OF_TASK = `w.tenant = $1 AND w.kind LIKE 'tasks.%' AND w.kind <> '${EXPIRE_TASK.kind}'
  AND w.payload ->> 'task' = $2`;
const IS_IDLE = 'coalesce(w.leased_until < now(), true)';
const DUE_NOW = 'UPDATE carrel.work w SET due_at = now(), attempts = 0, last_error = NULL';

/**
 * Makes a job that has not ended due now, even a dead letter. Returns false if a worker is processing it, or no row is left that
 * would do it.
 */
export async function wakeTask(tx: Sql, tenant: string, { uuid }: Pick<TaskRow, 'uuid'>): Promise<boolean> {
  const woken = await tx.query(`${DUE_NOW} WHERE ${WORK_OF_TASK} AND ${IS_IDLE} RETURNING w.id`, [tenant, uuid]);
  if (woken.length > 0) await auditRetry(tx, uuid);
  return woken.length > 0;
}

/** Makes a row of carrel.work due now, whatever its kind. Returns undefined if no idle row has this id. */
export async function wakeWork(tx: Sql, tenant: string, id: string): Promise<{ readonly kind: string } | undefined> {
  const [row] = await tx.query<{ kind: string; task: string | null }>(
    `${DUE_NOW} WHERE w.tenant = $1 AND w.id = $2 AND ${IS_IDLE} RETURNING w.kind, w.payload ->> 'task' AS task`,
    [tenant, id],
  );
  if (row?.task) await auditRetry(tx, row.task);
  return row;
}

const auditRetry = (tx: Sql, uuid: string): Promise<unknown> =>
  tx.query(`SELECT carrel.write_audit('job.retry', 'job', t.uuid, t.kind, '{}') FROM tasks t WHERE t.uuid::text = $1`, [uuid]);

/**
 * Ends a job. What it has done stays done. A worker then undoes what only the job knows, even for a dead letter. Returns null if
 * the job had ended or does not exist.
 */
export async function cancelForPlatform(tx: Sql, tenant: string, uuid: string): Promise<TaskRow | null> {
  const task = await findTask(tx, uuid);
  const canceled = task && (await cancelTask(tx, task.id, new Date()));
  if (canceled) await tx.query(`${DUE_NOW} WHERE ${WORK_OF_TASK} AND ${IS_IDLE}`, [tenant, uuid]);
  return canceled;
}

/** Returns the uuid of the unfinished job that a row of carrel.work does for a person. */
export async function taskOfWork(tx: Sql, tenant: string, id: string): Promise<string | undefined> {
  const [row] = await tx.query<{ uuid: string }>(
    `SELECT t.uuid::text FROM carrel.work w JOIN tasks t ON t.uuid::text = w.payload ->> 'task' AND t.ended_at IS NULL
     WHERE w.tenant = $1 AND w.id = $2 AND w.kind <> '${EXPIRE_TASK.kind}'`,
    [tenant, id],
  );
  return row?.uuid;
}
