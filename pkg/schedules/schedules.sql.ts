import { listPage, type Page } from '../api/paging.ts';
import { integerKey, keyset, timeKey } from '../store/postgres/keyset.ts';
import type { Sql } from '../store/postgres/pool.ts';
import type { Schedule } from '../store/postgres/tables.ts';
import type { TaskState } from '../tasks/tasks.schema.ts';
import { UNFINISHED } from '../tasks/tasks.sql.ts';
import { SCHEDULES_MAX, TICK_RETENTION_MS } from './schedules.policy.ts';
import { SPREAD_MS, type TickOutcome } from './tick.policy.ts';
import { SCHEDULE_SORT_FIELDS, type ScheduleQuery, type ScheduleView } from './schedules.schema.ts';

/** A schedule with its newest run. */
export interface ScheduleRow extends Schedule {
  readonly lastJob: string | null;
  readonly lastState: TaskState | null;
  readonly lastAt: Date | null;
}

const COLUMNS = `s.id, s.uuid, s.name, s.kind, s.arguments, s.cron, s.time_zone AS "timeZone", s.active, s.catch_up AS "catchUp",
  s.managed_by AS "managedBy", s.managed_ref AS "managedRef", s.saved_by AS "savedBy", s.settings, s.next_tick AS "nextTick",
  s.skipped, s.missed, s.revision, s.created_at AS "createdAt", s.updated_at AS "updatedAt",
  r.uuid AS "lastJob", r.state AS "lastState", r.created_at AS "lastAt"`;

const FROM = `schedules s LEFT JOIN LATERAL (
    SELECT t.uuid, t.state, t.created_at FROM tasks t WHERE t.schedule_id = s.id ORDER BY t.created_at DESC, t.id DESC LIMIT 1
  ) r ON true`;

const SCHEDULES = keyset<ScheduleRow, (typeof SCHEDULE_SORT_FIELDS)[number] | 'id'>({
  keys: { created_at: timeKey('s.created_at', ({ createdAt }) => createdAt), id: integerKey('s.id', ({ id }) => id) },
  fields: SCHEDULE_SORT_FIELDS,
  fallback: '-created_at',
  tieBreaker: 'id',
});

/** Runs one statement. */
export const listSchedules = (
  sql: Sql,
  query: ScheduleQuery,
  present: (row: ScheduleRow) => ScheduleView,
): Promise<Page<ScheduleView>> =>
  listPage(sql, query, {
    keyset: SCHEDULES,
    columns: COLUMNS,
    from: FROM,
    where: (params) => [
      ...(query.kind === undefined ? [] : [`s.kind = ${params.add(query.kind)}`]),
      ...(query.active === undefined ? [] : [`s.active = ${params.add(query.active)}`]),
    ],
    present,
  });

/**
 * Runs one statement. `lock` holds the row until the end of the transaction, so that changes, runs and ticks of the schedule
 * happen one after another.
 */
export async function findSchedule(sql: Sql, uuid: string, { lock = false } = {}): Promise<ScheduleRow | null> {
  if (lock) await sql.query('SELECT id FROM schedules WHERE uuid = $1 FOR UPDATE', [uuid]);
  const [row] = await sql.query<ScheduleRow>(`SELECT ${COLUMNS} FROM ${FROM} WHERE s.uuid = $1`, [uuid]);
  return row ?? null;
}

/**
 * Serializes creations in one tenant until the end of the transaction. `table` needs the schema if `tx` does not have the
 * tenant's role.
 */
export const lockForCreation = (tx: Sql, table = 'schedules'): Promise<unknown> =>
  tx.query(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);

/** SQL that is true if the tenant may have another schedule. The result stays valid only under `lockForCreation`. */
export const hasRoom = (table = 'schedules'): string => `(SELECT count(*) FROM ${table}) < ${SCHEDULES_MAX}`;

/** Returns the time of Postgres' clock, which decides when a job is due. */
export async function nowOf(sql: Sql): Promise<Date> {
  const [row] = await sql.query<{ now: Date }>('SELECT now()::timestamptz(3) AS now');
  if (!row) throw new Error('Postgres returned no time');
  return row.now;
}

/** Returns true if a run of the schedule has not ended. */
export const isRunning = async (tx: Sql, id: number): Promise<boolean> =>
  (await tx.query(`SELECT FROM tasks t WHERE t.schedule_id = $1 AND ${UNFINISHED} LIMIT 1`, [id])).length > 0;

/**
 * Inserts a tick with its run; `task` is null if nothing ran. Deletes expired ticks. Runs one statement. Throws UniqueViolation
 * if the tick exists.
 */
export const insertTick = (tx: Sql, id: number, tick: Date, task: string | null, now: Date): Promise<unknown> =>
  tx.query(
    `WITH expired AS (DELETE FROM schedule_ticks WHERE schedule_id = $1 AND tick < $4)
     INSERT INTO schedule_ticks (schedule_id, tick, task) VALUES ($1, $2, $3)`,
    [id, tick, task, new Date(now.getTime() - TICK_RETENTION_MS)],
  );

/** Writes the next tick, and counts a skipped or missed one. */
export const moveOn = (tx: Sql, id: number, next: Date, outcome: TickOutcome): Promise<unknown> =>
  tx.query(
    `UPDATE schedules SET next_tick = $2, skipped = skipped + ($3::text = 'skipped')::int,
      missed = missed + ($3::text = 'missed')::int WHERE id = $1`,
    [id, next, outcome],
  );

/**
 * Inserts a job that is due now for each active schedule that has no job due by its next run. A job that a worker holds, or that
 * is being retried, counts. Returns how many it inserted. Runs one statement, as the tenant's role.
 */
export const armWithoutJob = async (
  sql: Sql,
  { kind, queue }: { readonly kind: string; readonly queue: string },
): Promise<number> =>
  (
    await sql.query(
      `INSERT INTO carrel.work (kind, payload, queue)
       SELECT $1::text, jsonb_build_object('schedule', s.uuid), $2::text FROM schedules s WHERE s.next_tick IS NOT NULL
       AND NOT EXISTS (
         SELECT FROM carrel.work w WHERE w.tenant = current_user AND w.kind = $1::text
           AND w.payload = jsonb_build_object('schedule', s.uuid)
           AND w.due_at < 'infinity'
           AND (w.attempts > 0 OR w.due_at <= greatest(s.next_tick, now()) + interval '${SPREAD_MS} milliseconds'))
       RETURNING id`,
      [kind, queue],
    )
  ).length;
