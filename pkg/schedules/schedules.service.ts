import type { Actor } from '../api/actor.ts';
import { requireMatch } from '../api/etag.ts';
import { listPage, type Page } from '../api/paging.ts';
import { Problem } from '../api/problem.ts';
import type { Uuid } from '../api/schemas.ts';
import { validate } from '../api/validation.ts';
import type { JobRequests } from '../events/job-requests.ts';
import type { TenantSettings } from '../feature/services.ts';
import type { Random } from '../runtime/random.ts';
import type { Database, Tx } from '../store/postgres/database.ts';
import type { TaskRequests } from '../tasks/task-requests.ts';
import type { TaskView } from '../tasks/tasks.schema.ts';
import { TASK_COLUMNS, TASKS } from '../tasks/tasks.sql.ts';
import { presentTaskTo } from '../tasks/tasks.view.ts';
import { pruneKept } from '../content/exports/kept-exports.ts';
import { keepOf, requestRun, requireDoable, ScheduleSettings, ScheduleWork } from './schedule-kinds.ts';
import { TICK_SCHEDULE } from './schedules.jobs.ts';
import { requireOwn, TOO_MANY_SCHEDULES } from './schedules.policy.ts';
import { firstTick, runAt } from './tick.policy.ts';
import type {
  NewSchedule,
  RunQuery,
  ScheduleChanges,
  ScheduleQuery,
  ScheduleTimes,
  ScheduleView,
  TimesQuery,
} from './schedules.schema.ts';
import { findSchedule, hasRoom, isRunning, listSchedules, lockForCreation, nowOf, type ScheduleRow } from './schedules.sql.ts';
import { presentSchedule, scheduleEtag, type TenantOfSchedules } from './schedules.view.ts';

type IfMatch = readonly string[] | '*' | undefined;

/**
 * Runs a tenant's work at times that its administrators choose (docs/design/events-and-jobs.md, Schedules).
 *
 * Invariants:
 * - A tenant has at most SCHEDULES_MAX schedules, however many creations race.
 * - A run acts as the user who saved the schedule last, with the rights that the user has at the time of the run.
 * - An active schedule has a job that is due no later than its next run.
 * - Two runs of one schedule never overlap.
 * - Schedules of `spec.schedules` are shown here and may be run here, but must be changed there.
 */
export class Schedules {
  readonly #db: Database;
  readonly #tenant: TenantOfSchedules;
  readonly #settings: ScheduleSettings;
  readonly #tasks: TaskRequests;
  readonly #jobs: JobRequests;
  readonly #random: Random;

  constructor(deps: {
    db: Database;
    tenant: TenantOfSchedules;
    settings: Pick<TenantSettings, 'trashRetentionMs' | 'versions'>;
    appUrl: string;
    tasks: TaskRequests;
    jobs: JobRequests;
    random: Random;
  }) {
    const { trashRetentionMs, versions } = deps.settings;
    this.#db = deps.db;
    this.#tenant = deps.tenant;
    this.#settings = { trashRetentionMs, appUrl: deps.appUrl, versions: { keep: versions.keep, days: versions.days ?? null } };
    this.#tasks = deps.tasks;
    this.#jobs = deps.jobs;
    this.#random = deps.random;
  }

  /** Runs one statement. */
  list(query: ScheduleQuery): Promise<Page<ScheduleView>> {
    return listSchedules(this.#db, query, (row) => presentSchedule(row, this.#tenant));
  }

  /** Runs one statement. Throws `not_found`. */
  async get(id: Uuid): Promise<ScheduleView> {
    return presentSchedule(required(await findSchedule(this.#db, id)), this.#tenant);
  }

  /** Returns when runs would begin, by Postgres' clock, as for a schedule that is saved now. Runs one statement. */
  async times({ cron, time_zone: timeZone, count }: TimesQuery): Promise<ScheduleTimes> {
    const times: string[] = [];
    for (let after = await nowOf(this.#db); times.length < count;) {
      after = runAt(firstTick({ cron, timeZone }, after, this.#tenant.slug), this.#tenant.slug);
      times.push(after.toISOString());
    }
    return { times };
  }

  /** Throws `conflict` if the tenant has too many, `value_type_mismatch`. */
  async create(
    actor: Actor,
    { name, cron, time_zone: timeZone, active, catch_up: catchUp, ...work }: NewSchedule,
  ): Promise<ScheduleView> {
    requireDoable(work);
    return this.#db.transaction(async (tx) => {
      const uuid = this.#random.uuid();
      const nextTick = await this.#arm(tx, uuid, { cron, timeZone, active });
      // Locks as late as possible, since other creations wait meanwhile.
      await requireRoom(tx);
      const definition = { name, kind: work.kind, arguments: work.arguments, cron, timeZone, active, catchUp };
      await tx.schedules.insert({ uuid, ...definition, savedBy: actor.userId, settings: this.#settings, nextTick });
      return this.#shown(tx, uuid);
    });
  }

  /**
   * Serves PUT and PATCH: an undefined field keeps its value. Throws `not_found`, `managed`, `precondition_failed`,
   * `validation_failed`, `value_type_mismatch`.
   */
  async change(actor: Actor, id: Uuid, changes: ScheduleChanges, ifMatch: IfMatch): Promise<ScheduleView> {
    return this.#db.transaction(async (tx) => {
      const schedule = await requireChangeable(tx, id, ifMatch);
      const work = workOf(schedule, changes);
      const { name = schedule.name, cron = schedule.cron, active = schedule.active } = changes;
      const { time_zone: timeZone = schedule.timeZone, catch_up: catchUp = schedule.catchUp } = changes;
      const isSame = cron === schedule.cron && timeZone === schedule.timeZone && active === schedule.active;
      const nextTick = isSame ? schedule.nextTick : await this.#arm(tx, id, { cron, timeZone, active });
      const definition = { name, kind: work.kind, arguments: work.arguments, cron, timeZone, active, catchUp };
      await tx.schedules.change(schedule, { ...definition, savedBy: actor.userId, settings: this.#settings, nextTick });
      await pruneKept(this.#jobs, tx, id, keepOf(work), await nowOf(tx));
      return this.#shown(tx, id);
    });
  }

  /**
   * Deletes the schedule. Its runs remain as jobs, and its archives stay for a while. Throws `not_found`, `managed`,
   * `precondition_failed`.
   */
  async remove(id: Uuid, ifMatch: IfMatch): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const schedule = await requireChangeable(tx, id, ifMatch);
      await tx.schedules.delete({ id: schedule.id });
      await pruneKept(this.#jobs, tx, id, null, await nowOf(tx));
    });
  }

  /** Runs it now, whether it is active or not. Throws `not_found`, `conflict` while a run has not ended. */
  async run(id: Uuid): Promise<TaskView> {
    return this.#db.transaction(async (tx) => {
      const schedule = required(await findSchedule(tx, id, { lock: true }));
      if (await isRunning(tx, schedule.id)) throw new Problem('conflict', 'A run of this schedule has not ended.');
      const work = ScheduleWork.parse({ kind: schedule.kind, arguments: schedule.arguments });
      const settings = ScheduleSettings.parse(schedule.settings);
      return requestRun(tx, this.#tasks, work, settings, {
        scheduleId: schedule.id,
        schedule: schedule.uuid,
        userId: schedule.savedBy,
      });
    });
  }

  /** Runs two statements. Throws `not_found`. */
  async runs(actor: Actor, id: Uuid, { state, ...query }: RunQuery): Promise<Page<TaskView>> {
    const schedule = required(await findSchedule(this.#db, id));
    return listPage(this.#db, query, {
      keyset: TASKS,
      columns: TASK_COLUMNS,
      from: 'tasks t',
      where: (params) => [
        `t.schedule_id = ${params.add(schedule.id)}`,
        ...(state === undefined ? [] : [`t.state = ${params.add(state)}`]),
      ],
      present: (task) => presentTaskTo(actor, task),
    });
  }

  /** Schedules a job for the next run. Returns the next tick, or null if the schedule is not active. */
  async #arm(tx: Tx, schedule: Uuid, times: { cron: string; timeZone: string; active: boolean }): Promise<Date | null> {
    if (!times.active) return null;
    const tick = firstTick(times, await nowOf(tx), this.#tenant.slug);
    await this.#jobs.schedule(tx, TICK_SCHEDULE, { schedule }, runAt(tick, this.#tenant.slug), { unlessSooner: true });
    return tick;
  }

  async #shown(tx: Tx, id: Uuid): Promise<ScheduleView> {
    return presentSchedule(required(await findSchedule(tx, id)), this.#tenant);
  }
}

/** Returns the work of the schedule after the changes. Throws `validation_failed`, `value_type_mismatch`. */
function workOf(schedule: ScheduleRow, changes: ScheduleChanges): ScheduleWork {
  const kind = changes.kind ?? schedule.kind;
  const given = changes.arguments ?? (kind === schedule.kind ? schedule.arguments : {});
  const work = validate(ScheduleWork, { kind, arguments: given });
  requireDoable(work);
  return work;
}

/** Throws `conflict` if the tenant has too many schedules. */
async function requireRoom(tx: Tx): Promise<void> {
  await lockForCreation(tx);
  const [row] = await tx.query<{ hasRoom: boolean }>(`SELECT ${hasRoom()} AS "hasRoom"`);
  if (!row?.hasRoom) throw new Problem('conflict', TOO_MANY_SCHEDULES);
}

/** Returns the row, locked. */
async function requireChangeable(tx: Tx, id: Uuid, ifMatch: IfMatch): Promise<ScheduleRow> {
  const schedule = required(await findSchedule(tx, id, { lock: true }));
  requireOwn(schedule);
  requireMatch(ifMatch, scheduleEtag(schedule));
  return schedule;
}

function required(schedule: ScheduleRow | null): ScheduleRow {
  if (!schedule) throw new Problem('not_found');
  return schedule;
}
