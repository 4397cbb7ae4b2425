import { etagOf } from '../api/etag.ts';
import type { Schedule } from '../store/postgres/tables.ts';
import type { ScheduleKind } from './schedule-kinds.ts';
import { runAt } from './tick.policy.ts';
import type { ScheduleView } from './schedules.schema.ts';
import type { ScheduleRow } from './schedules.sql.ts';

export const scheduleEtag = ({ uuid, revision }: Pick<Schedule, 'uuid' | 'revision'>): string =>
  etagOf('schedule', uuid, revision);

/** The tenant whose schedules are shown. */
export interface TenantOfSchedules {
  /** The tenant's offset shifts the times. */
  readonly slug: string;
  /** `namespace/name` of its Tenant resource. */
  readonly resource: string | undefined;
}

/** The row of a managed schedule names its entry of `spec.schedules`; people change the resource that has the entry. */
export const presentSchedule = (schedule: ScheduleRow, { slug, resource }: TenantOfSchedules): ScheduleView => ({
  id: schedule.uuid,
  name: schedule.name,
  kind: schedule.kind as ScheduleKind,
  arguments: schedule.arguments as Record<string, unknown>,
  cron: schedule.cron,
  time_zone: schedule.timeZone,
  active: schedule.active,
  catch_up: schedule.catchUp,
  managed_by: schedule.managedBy,
  managed_ref: schedule.managedBy === null ? null : (resource ?? null),
  last_run: lastRunOf(schedule),
  next_run_at: schedule.nextTick === null ? null : runAt(schedule.nextTick, slug).toISOString(),
  skipped_runs: schedule.skipped,
  missed_runs: schedule.missed,
  created_at: schedule.createdAt.toISOString(),
  updated_at: schedule.updatedAt.toISOString(),
  etag: scheduleEtag(schedule),
});

const lastRunOf = ({ lastJob, lastState, lastAt }: ScheduleRow): ScheduleView['last_run'] =>
  lastJob === null || lastState === null || lastAt === null
    ? null
    : { job_id: lastJob, state: lastState, at: lastAt.toISOString() };
