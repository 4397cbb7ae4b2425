import { z } from 'zod';
import { taskKind } from '../../tasks/task-kind.ts';

/** The tasks that a tenant's schedules run, apart from batches and the trash's task (trash-task.ts). None has items. */
const NONE = z.object({});

/** Counts again what people store. */
export const RECOUNT_USAGE = taskKind({ name: 'recount_usage', arguments: NONE });

/** Deletes objects that no row names. */
export const SWEEP_ALL_OBJECTS = taskKind({ name: 'sweep_objects', arguments: NONE });

/** Deletes uploads that have expired. */
export const SWEEP_UPLOADS = taskKind({ name: 'sweep_uploads', arguments: NONE });

/** Deletes old versions of files: of each those beyond the `keep` newest, and those that were replaced `days` ago or earlier. */
export const APPLY_RETENTION = taskKind({
  name: 'apply_retention',
  arguments: z.object({ keep: z.int().min(1), days: z.int().min(1).nullable() }),
});

/** Reads the bytes of all versions. */
export const VERIFY_CHECKSUMS = taskKind({ name: 'verify_checksums', arguments: NONE });
