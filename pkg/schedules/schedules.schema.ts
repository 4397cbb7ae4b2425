import { z } from 'zod';
import { pageOf, pageQueryOf } from '../api/paging.ts';
import { changesOf, Etag, label, queryBoolean, text, Timestamp, Uuid } from '../api/schemas.ts';
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
  .meta({ description: 'a name of the IANA database', pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$', example: 'Europe/Berlin' });
const CatchUp = z.boolean().describe('whether runs that were missed, since nothing was running, are caught up with a single one');
const Arguments = z.record(text(1, 50), z.unknown()).meta({
  description: 'of batch: the body of POST /batch with a filter; of export_folder: folder_id and keep; of the others: nothing',
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
      .meta({ description: '`kubernetes`: the Tenant resource has it and alone may change it', example: null }),
    last_run: z
      .object({ job_id: Uuid, state: z.enum(TASK_STATES), at: Timestamp })
      .nullable()
      .describe('the newest run that is still there'),
    next_run_at: Timestamp.nullable().describe('null: it is not active'),
    skipped_runs: z.int().min(0).meta({ description: 'times at which the run before had not ended', example: 0 }),
    missed_runs: z.int().min(0).meta({
      description:
        'times at which nothing ran, since no worker came to it for 5 minutes or more, and that were not caught up; those of one pause are one',
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

const DEFINITION = {
  name: Name,
  cron: CronExpression,
  time_zone: TimeZone.default('UTC'),
  active: z.boolean().default(true),
  catch_up: CatchUp.default(true),
};

const [recountUsage, emptyTrash, sweepObjects, sweepUploads, applyRetention, verifyChecksums, syncRosters, exportFolder, batch] =
  WORKS;
/** The example of each is a whole one. */
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
        'each run is a job `export`, whose result has the link of its archive for whom the schedule acts as; the newest `keep` archives stay, however old',
      example: example('export_folder', { arguments: { folder_id: FOLDER, keep: 7 } }),
    }),
    batch.extend(DEFINITION).meta({ id: 'NewBatchSchedule', example: example('batch', { arguments: DRAFTS }) }),
  ])
  .meta({ id: 'NewSchedule' });
export type NewSchedule = z.output<typeof NewSchedule>;

/** For PATCH and PUT: given fields are changed, absent fields stay. Arguments are those of the kind that it then has. */
export const ScheduleChanges = changesOf(
  z.object({
    name: Name,
    kind: z.enum(SCHEDULE_KINDS).describe('with the arguments that it takes'),
    arguments: Arguments,
    cron: CronExpression,
    time_zone: TimeZone,
    active: z.boolean(),
    catch_up: CatchUp,
  }),
).meta({ id: 'ScheduleChanges' });
export type ScheduleChanges = z.output<typeof ScheduleChanges>;
