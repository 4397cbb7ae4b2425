import { z } from 'zod';
import { permissionsOf } from '../api/role-permissions.ts';
import { Uuid } from '../api/schemas.ts';
import { BATCH, batchTask } from '../content/batch/batch-task.ts';
import { ScheduledBatch } from '../content/batch/batch.schema.ts';
import {
  APPLY_RETENTION,
  RECOUNT_USAGE,
  SWEEP_ALL_OBJECTS,
  SWEEP_UPLOADS,
  VERIFY_CHECKSUMS,
} from '../content/upkeep/maintenance-tasks.ts';
import { KEEP_MAX, requestExportRun } from '../content/exports/kept-exports.ts';
import { storedValue } from '../content/metadata/metadata.policy.ts';
import { EMPTY_OWN_TRASH } from '../content/trash/trash-task.ts';
import type { Tx } from '../store/postgres/database.ts';
import { SYNC_ROSTERS } from '../tasks/roster-tasks.ts';
import type { TaskRequests } from '../tasks/task-requests.ts';
import type { TaskView } from '../tasks/tasks.schema.ts';

/** The settings of a tenant's server that a run needs. The worker has no access to the server's settings. */
export const ScheduleSettings = z.object({
  trashRetentionMs: z.number(),
  appUrl: z.string(),
  versions: z.object({ keep: z.int(), days: z.int().nullable() }),
});
export type ScheduleSettings = z.output<typeof ScheduleSettings>;

export const SCHEDULE_KINDS = [
  'recount_usage',
  'empty_trash',
  'sweep_objects',
  'sweep_uploads',
  'apply_retention',
  'verify_checksums',
  'sync_rosters',
  'export_folder',
  'batch',
] as const;
export type ScheduleKind = (typeof SCHEDULE_KINDS)[number];

const NONE = z.strictObject({}).default({});

const ExportFolder = z.strictObject({
  folder_id: Uuid.describe('the top folder of the archive'),
  keep: z.int().min(1).max(KEEP_MAX).meta({ description: 'how many of the newest archives stay', example: 7 }),
});

const work = <const Kind extends ScheduleKind, Arguments extends z.ZodType>(kind: Kind, given: Arguments) =>
  z.object({ kind: z.literal(kind), arguments: given });

/** The work of a schedule, by its kind. */
export const WORKS = [
  work('recount_usage', NONE),
  work('empty_trash', NONE),
  work('sweep_objects', NONE),
  work('sweep_uploads', NONE),
  work('apply_retention', NONE),
  work('verify_checksums', NONE),
  work('sync_rosters', NONE),
  work('export_folder', ExportFolder),
  work('batch', ScheduledBatch),
] as const;
export const ScheduleWork = z.discriminatedUnion('kind', WORKS);
export type ScheduleWork = z.output<typeof ScheduleWork>;

/** Checks what a schema cannot express. Throws `value_type_mismatch`, `validation_failed`. */
export function requireDoable({ kind, arguments: given }: ScheduleWork): void {
  if (kind === 'batch' && given.operation === 'set_metadata') storedValue(given.arguments);
}

/** Returns how many archives a schedule keeps, or null if it makes none. */
export const keepOf = (work: ScheduleWork): number | null => (work.kind === 'export_folder' ? work.arguments.keep : null);

/** The schedule that requests a run, and the user whom it acts as. */
interface RunOf {
  readonly scheduleId: number;
  /** uuid */
  readonly schedule: string;
  readonly userId: number | null;
}

/** Requests a run. Runs at most four statements. */
export function requestRun(
  tx: Tx,
  tasks: TaskRequests,
  work: ScheduleWork,
  settings: ScheduleSettings,
  of: RunOf,
): Promise<TaskView> {
  switch (work.kind) {
    case 'recount_usage':
      return tasks.requestRun(tx, RECOUNT_USAGE, of, { arguments: {} });
    case 'empty_trash':
      return tasks.requestRun(tx, EMPTY_OWN_TRASH, of, { arguments: {} });
    case 'sweep_objects':
      return tasks.requestRun(tx, SWEEP_ALL_OBJECTS, of, { arguments: {} });
    case 'sweep_uploads':
      return tasks.requestRun(tx, SWEEP_UPLOADS, of, { arguments: {} });
    case 'apply_retention':
      return tasks.requestRun(tx, APPLY_RETENTION, of, { arguments: settings.versions });
    case 'verify_checksums':
      return tasks.requestRun(tx, VERIFY_CHECKSUMS, of, { arguments: {} });
    case 'sync_rosters':
      return tasks.requestRun(tx, SYNC_ROSTERS, of, { arguments: {} });
    case 'export_folder':
      return requestExportRun(tx, tasks, { ...of, folder: work.arguments.folder_id, appUrl: settings.appUrl });
    case 'batch': {
      const { operation, arguments: given = {} } = work.arguments;
      const { trashRetentionMs, appUrl } = settings;
      // The administrator's rights at the time when an item runs apply.
      const rights = { permissions: [...permissionsOf(['admin'])], trashRetentionMs, appUrl };
      return tasks.requestRun(
        tx,
        BATCH,
        of,
        batchTask(work.arguments, operation === 'share' ? { ...given, passwordHash: null } : given, rights),
      );
    }
    default:
      return work satisfies never;
  }
}
