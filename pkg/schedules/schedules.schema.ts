import { z } from 'zod';
import { pageOf, pageQueryOf } from '../api/paging.ts';
import { changesOf, Etag, label, queryBoolean, queryInteger, text, Timestamp, Uuid } from '../api/schemas.ts';
import { TASK_SORT_FIELDS, TASK_STATES } from '../tasks/tasks.schema.ts';
import { CRON_LENGTH_MAX, CRON_PATTERN, cronFault, timeZoneFault } from './cron.ts';
import { SCHEDULE_KINDS, WORKS } from './schedule-kinds.ts';

const faultless =
  (faultOf: (value: string) => string | null) =>
  ({ value, issues }: z.core.ParsePayload<string>): void => {
    const message = faultOf(value);
    if (message !== null) issues.push({ code: 'custom', input: value, message });
  };

const Name = label(100).meta({ example: 'Old drafts' });
const CronExpression = text(9, CRON_LENGTH_MAX).check(faultless(cronFault)).meta({
  description: 'minute, hour, day of month, month, day of week, each with names, lists, ranges and steps',
  pattern: CRON_PATTERN,
  example: '0 3 * * mon-fri',
});
const TimeZone = text(1, 64)
  .check(faultless(timeZoneFault))
  .meta({ description: 'a name from the IANA database', pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$', example: 'Europe/Berlin' });
const CatchUp = z.boolean().describe('true: one run makes up for all runs that were missed because no worker was running');
const Arguments = z.record(text(1, 50), z.unknown()).meta({
  description: 'for batch: the body of POST /batch with a filter; for export_folder: folder_id and keep; for the others: nothing',
  example: {},
});

/** docs/design/records.md, Schedule. */
export const ScheduleView = z
  .object({
    id: Uuid,
    name: z.string().meta({ example: 'Old drafts' }),
    kind: z.enum(SCHEDULE_KINDS),
    arguments: Arguments,
    cron: z.string().meta({ example: '0 3 * * mon-fri' }),
    time_zone: z.string().meta({ example: 'Europe/Berlin' }),
    active: z.boolean(),
    catch_up: CatchUp,
    managed_by: z
      .string()
      .nullable()
      .meta({ description: '`kubernetes`: the Tenant resource defines it, and only that may change it', example: null }),
    managed_ref: z.string().nullable().meta({ description: 'the resource, as `namespace/name`', example: null }),
    last_run: z
      .object({ job_id: Uuid, state: z.enum(TASK_STATES), at: Timestamp })
      .nullable()
      .describe('the newest run that has not been deleted'),
    next_run_at: Timestamp.nullable().describe('null: it is not active'),
    skipped_runs: z.int().min(0).meta({ description: 'times at which the previous run had not ended', example: 0 }),
    missed_runs: z.int().min(0).meta({
      description:
        'times that passed without a run or a catch-up, since no worker was running for 5 minutes or more; one pause counts once',
      example: 0,
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
    etag: Etag,
  })
  .meta({ id: 'Schedule' });
export type ScheduleView = z.output<typeof ScheduleView>;

export const SchedulePage = pageOf(ScheduleView).meta({ id: 'SchedulePage' });
export const SCHEDULE_SORT_FIELDS = ['created_at'] as const;
export const ScheduleQuery = z.object({
  ...pageQueryOf(SCHEDULE_SORT_FIELDS),
  kind: z.enum(SCHEDULE_KINDS).optional(),
  active: queryBoolean().optional(),
});
export type ScheduleQuery = z.output<typeof ScheduleQuery>;

export const RunQuery = z.object({ ...pageQueryOf(TASK_SORT_FIELDS), state: z.enum(TASK_STATES).optional() });
export type RunQuery = z.output<typeof RunQuery>;

/** How many times GET /schedules/times shows. */
const TIMES_SHOWN = 5;
const TIMES_MAX = 50;
export const TimesQuery = z.object({
  cron: CronExpression,
  time_zone: TimeZone.default('UTC'),
  count: queryInteger(1, TIMES_MAX)
    .default(TIMES_SHOWN)
    .meta({ 'x-openapi': { type: 'integer', minimum: 1, maximum: TIMES_MAX, default: TIMES_SHOWN }, example: TIMES_SHOWN }),
});
export type TimesQuery = z.output<typeof TimesQuery>;

export const ScheduleTimes = z
  .object({ times: z.array(Timestamp).describe('when runs would begin, the next one first') })
  .meta({ id: 'ScheduleTimes' });
export type ScheduleTimes = z.output<typeof ScheduleTimes>;

const DEFINITION = {
  name: Name,
  cron: CronExpression,
  time_zone: TimeZone.default('UTC'),
  active: z.boolean().default(true),
  catch_up: CatchUp.default(true),
};

const [recountUsage, emptyTrash, sweepObjects, sweepUploads, applyRetention, verifyChecksums, syncRosters, exportFolder, batch] =
  WORKS;
/** Returns a complete example of a kind. */
const example = (kind: string, more: object = {}): object => ({ name: 'Old drafts', kind, cron: '0 3 * * mon-fri', ...more });
const FOLDER = '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11';
const DRAFTS = { operation: 'delete', filter: { folder_id: FOLDER } };

export const NewSchedule = z
  .discriminatedUnion('kind', [
    recountUsage.extend(DEFINITION).meta({ id: 'NewRecountUsageSchedule', example: example('recount_usage') }),
    emptyTrash.extend(DEFINITION).meta({ id: 'NewEmptyTrashSchedule', example: example('empty_trash') }),
    sweepObjects.extend(DEFINITION).meta({ id: 'NewSweepObjectsSchedule', example: example('sweep_objects') }),
    sweepUploads.extend(DEFINITION).meta({ id: 'NewSweepUploadsSchedule', example: example('sweep_uploads') }),
    applyRetention.extend(DEFINITION).meta({ id: 'NewApplyRetentionSchedule', example: example('apply_retention') }),
    verifyChecksums.extend(DEFINITION).meta({ id: 'NewVerifyChecksumsSchedule', example: example('verify_checksums') }),
    syncRosters.extend(DEFINITION).meta({ id: 'NewSyncRostersSchedule', example: example('sync_rosters') }),
    exportFolder.extend(DEFINITION).meta({
      id: 'NewExportFolderSchedule',
      description:
        'each run is a job `export`; its result links to the archive, for the user whom the schedule acts as; ' +
        'the newest `keep` archives stay, however old',
      example: example('export_folder', { arguments: { folder_id: FOLDER, keep: 7 } }),
    }),
    batch.extend(DEFINITION).meta({ id: 'NewBatchSchedule', example: example('batch', { arguments: DRAFTS }) }),
  ])
  .meta({ id: 'NewSchedule' });
export type NewSchedule = z.output<typeof NewSchedule>;

/** The body of PATCH and PUT. Absent fields keep their values. The arguments must fit the resulting kind. */
export const ScheduleChanges = changesOf(
  z.object({
    name: Name,
    kind: z.enum(SCHEDULE_KINDS).describe('together with the arguments of this kind'),
    arguments: Arguments,
    cron: CronExpression,
    time_zone: TimeZone,
    active: z.boolean(),
    catch_up: CatchUp,
  }),
).meta({ id: 'ScheduleChanges' });
export type ScheduleChanges = z.output<typeof ScheduleChanges>;
