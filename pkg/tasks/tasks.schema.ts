import { z } from 'zod';
import { pageOf, pageQueryOf } from '../api/paging.ts';
import { Bytes, queryBoolean, Timestamp, Uuid } from '../api/schemas.ts';

/** The kinds of tasks that people may request. The feature that does the work declares the kind (`taskKind`). */
export const TASK_KINDS = [
  'empty_trash',
  'copy_folder',
  'batch',
  'import',
  'export',
  'replay',
  'optimize',
  'translate',
  'sync_roster',
  'sync_rosters',
  'recount_usage',
  'sweep_objects',
  'sweep_uploads',
  'apply_retention',
  'verify_checksums',
] as const;
export type TaskKindName = (typeof TASK_KINDS)[number];

/** The operations of POST /batch, one for all items. */
export const BATCH_OPERATIONS = [
  'delete',
  'purge',
  'restore',
  'move',
  'copy',
  'tag',
  'untag',
  'set_metadata',
  'remove_metadata',
  'grant',
  'revoke',
  'share',
] as const;
export type BatchOperation = (typeof BATCH_OPERATIONS)[number];

export const TASK_STATES = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** The types of an item's target. */
const TARGET_TYPES = ['file', 'folder', 'entry'] as const;
export type TargetType = (typeof TARGET_TYPES)[number];

const ITEM_STATES = ['queued', 'succeeded', 'failed', 'skipped'] as const;
export type ItemState = (typeof ITEM_STATES)[number];

/** Reasons why an item needed no work. */
const SKIP_REASONS = ['with_folder', 'system_file', 'exists'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Reasons why an entry of a roster names nobody. */
const ROSTER_SKIP_REASONS = ['no_object', 'no_user_id', 'user_id_invalid'] as const;
export type RosterSkipReason = (typeof ROSTER_SKIP_REASONS)[number];

const ErrorCode = z
  .string()
  .regex(/^[a-z_]{1,50}$/, 'must be an error code of the catalogue')
  .meta({ example: 'name_conflict' });

const TaskError = z
  .object({
    code: z.string().meta({ description: 'an error code of the catalogue', example: 'not_found' }),
    message: z.string().meta({ example: 'It no longer exists.' }),
  })
  .meta({ id: 'JobError' });

const SUBJECT_TYPES = ['file', 'folder', 'course'] as const;

/** The one thing that a task is about, or the first of many, with the name that it had at the request. */
export const TaskSubject = z
  .object({
    type: z.enum(SUBJECT_TYPES),
    id: Uuid,
    name: z.string().meta({ example: 'thesis.pdf' }),
  })
  .meta({ id: 'JobSubject' });
export type TaskSubject = z.output<typeof TaskSubject>;

const TaskOfAnyKind = z.object({
  id: Uuid,
  subject: TaskSubject.nullable().describe(
    'the file, folder or course that the job is about, by the name it had then; of a batch or an export the first item. ' +
      'null: it is about none, you are not its requester, or the name is not known, or not yet',
  ),
  state: z
    .enum(TASK_STATES)
    .describe('succeeded: each item has ended, although some may have failed; failed: the job could not begin'),
  requested_by: z
    .object({ id: Uuid, name: z.string().meta({ example: 'Ada Okafor' }) })
    .nullable()
    .describe('whose rights it has; null: nobody’s, it is a job of the platform'),
  progress: z.object({
    done: z.int().min(0).meta({ description: 'items that have ended, failed and skipped ones included', example: 3 }),
    total: z.int().min(0).meta({ description: 'items so far; it grows until all are found', example: 4 }),
    failed: z.int().min(0).meta({ example: 0 }),
    skipped: z.int().min(0).meta({ description: 'items that needed no work', example: 0 }),
  }),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
  error: TaskError.nullable().describe('why it failed'),
  cancelable: z.boolean(),
  retry_of: Uuid.nullable().describe('the job whose failed items this job retries'),
});

const EmptyTrashTask = TaskOfAnyKind.extend({ kind: z.literal('empty_trash'), result: z.null() }).meta({ id: 'EmptyTrashJob' });
const CopyFolderTask = TaskOfAnyKind.extend({
  kind: z.literal('copy_folder'),
  result: z.object({ folder_id: Uuid }).describe('the copy, which exists from the beginning'),
}).meta({ id: 'CopyFolderJob' });
const BatchTask = TaskOfAnyKind.extend({
  kind: z.literal('batch'),
  result: z.object({
    operation: z.enum(BATCH_OPERATIONS),
    dry_run: z.boolean().describe('true: the job changes nothing, and its items report the results that they would have'),
    bytes: Bytes.meta({
      description: 'bytes of all versions that delete and purge removed; delete frees them when they leave the trash',
    }),
  }),
}).meta({ id: 'BatchJob' });

const Count = (description: string, example: number) => z.int().min(0).meta({ description, example });
const ImportTask = TaskOfAnyKind.extend({
  kind: z.literal('import'),
  result: z.object({
    folder_id: Uuid.nullable().describe("the destination of the import; null: the requester's root folder"),
    files: Count('files that the import created, or gave a new version', 12),
    folders: Count('that were made', 3),
    bytes: Bytes.meta({ description: 'of the files' }),
    skipped: z.array(z.object({ reason: z.enum(SKIP_REASONS), count: Count('of entries', 2) })),
    contents: z
      .object({
        entries: Count('entries whose contents are stored', 12),
        total_entries: Count('entries that have contents to store', 40),
        bytes: Bytes.meta({ description: 'that are read' }),
        total_bytes: Bytes.meta({ description: 'bytes that the archive declares' }),
      })
      .nullable()
      .optional()
      .describe('progress through the archive: files appear when all of its contents are stored; null or missing: not begun'),
  }),
}).meta({ id: 'ImportJob' });

const ReplayTask = TaskOfAnyKind.extend({
  kind: z.literal('replay'),
  result: z
    .object({ webhook_id: Uuid, since: Timestamp, until: Timestamp })
    .describe('the deliveries to repeat; the job has no items'),
}).meta({ id: 'ReplayJob' });

const ExportTask = TaskOfAnyKind.extend({
  kind: z.literal('export'),
  result: z
    .object({
      url: z.url().meta({
        description: 'downloads the archive or ranges of it without a token; anyone who has the link can read the archive',
        example: 'https://files.example.org/api/v1/tickets/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      }),
      expires_at: Timestamp.nullable().describe(
        'when the link expires and the archive is deleted; null: a schedule (export_folder) keeps it until newer ones replace it',
      ),
      size: Bytes.meta({ description: 'of the archive' }),
      sha256: z
        .string()
        .meta({ description: 'of the archive', example: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9' }),
    })
    .nullable()
    .describe('null until the job has succeeded, and for everyone but its requester'),
}).meta({ id: 'ExportJob' });

/**
 * Returns the schema of a task that a schedule requests. It has no items: its result says what it found and did, once it has
 * ended.
 */
const maintenance = <const Name extends TaskKindName, Counts extends Readonly<Record<string, string>>>(
  name: Name,
  counts: Counts,
) =>
  TaskOfAnyKind.extend({
    kind: z.literal(name),
    result: z
      .object(
        Object.fromEntries(
          Object.entries(counts).map(([field, description]) => [field, z.int().min(0).meta({ description, example: 3 })]),
        ) as Record<keyof Counts, z.ZodInt>,
      )
      .nullable()
      .describe('null: the job has not ended'),
  }).meta({ id: `${name.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase())}Job` });

const RecountUsageTask = maintenance('recount_usage', { corrected: 'users whose storage usage was wrong' });
const SweepObjectsTask = maintenance('sweep_objects', { deleted: 'objects that belonged to no file' });
const SweepUploadsTask = maintenance('sweep_uploads', { deleted: 'uploads that had expired' });
const ApplyRetentionTask = maintenance('apply_retention', { files: 'files whose old versions were deleted' });
const VerifyChecksumsTask = maintenance('verify_checksums', {
  versions: 'versions whose bytes were read',
  faults: 'versions whose object is missing, or has another size or checksum',
});

const Made = z.object({
  file_id: Uuid.meta({ description: 'the file that got a new version, or the copy' }),
  version_number: z.int().min(1).meta({ example: 2 }),
});
const OptimizeTask = TaskOfAnyKind.extend({
  kind: z.literal('optimize'),
  result: Made.extend({
    size_before: Bytes,
    size_after: Bytes.meta({ description: "size of the helper's output, whether it is kept or not" }),
    kept: z.boolean().describe('false: it was not at least 5 % and 4 KiB smaller; the file and its version number are unchanged'),
  })
    .nullable()
    .describe('null until it has succeeded'),
}).meta({ id: 'OptimizeJob' });
const TranslateTask = TaskOfAnyKind.extend({
  kind: z.literal('translate'),
  target_language: z.string().meta({ description: 'BCP 47', example: 'es' }),
  result: Made.nullable().describe('null until it has succeeded'),
}).meta({ id: 'TranslateJob' });

const ROSTER_COUNTS = {
  added: 'people who joined the course, or joined it again',
  changed: 'people whose name, e-mail address or roles changed',
  removed: 'who have left',
};
const SyncRosterTask = TaskOfAnyKind.extend({
  kind: z.literal('sync_roster'),
  result: z
    .object({
      added: Count(ROSTER_COUNTS.added, 3),
      changed: Count(ROSTER_COUNTS.changed, 1),
      removed: Count(ROSTER_COUNTS.removed, 2),
      members: Count('people who are in the course now', 24),
      skipped: z
        .array(z.object({ reason: z.enum(ROSTER_SKIP_REASONS), count: Count('of entries', 1) }))
        .optional()
        .describe('roster entries that name nobody who could launch; missing if there are none'),
    })
    .nullable()
    .describe('null until the job has succeeded; until then nothing has changed'),
}).meta({ id: 'SyncRosterJob' });
const SyncRostersTask = maintenance('sync_rosters', {
  courses: 'courses whose rosters were copied',
  failed: 'courses whose rosters could not be read; they are unchanged',
  ...ROSTER_COUNTS,
});

/** docs/design/records.md, Job. */
export const TaskView = z
  .discriminatedUnion('kind', [
    EmptyTrashTask,
    CopyFolderTask,
    BatchTask,
    ImportTask,
    ExportTask,
    ReplayTask,
    OptimizeTask,
    TranslateTask,
    SyncRosterTask,
    SyncRostersTask,
    RecountUsageTask,
    SweepObjectsTask,
    SweepUploadsTask,
    ApplyRetentionTask,
    VerifyChecksumsTask,
  ])
  .meta({ id: 'Job' });
export type TaskView = z.output<typeof TaskView>;

export const TaskPage = pageOf(TaskView).meta({ id: 'JobPage' });
export const TASK_SORT_FIELDS = ['created_at'] as const;
export const TaskQuery = z.object({
  ...pageQueryOf(TASK_SORT_FIELDS),
  kind: z.enum(TASK_KINDS).optional(),
  state: z.enum(TASK_STATES).optional(),
  all: queryBoolean().optional().describe("true: everybody's, for administrators"),
});
export type TaskQuery = z.output<typeof TaskQuery>;

const CopyResult = z.object({ copy_id: Uuid.describe('the new file or folder') }).meta({ id: 'JobItemCopy' });
const ShareResult = z
  .object({
    share_id: Uuid,
    url: z.url().meta({
      description: 'the page of the link',
      example: 'https://files.example.org/s/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    }),
  })
  .meta({ id: 'JobItemShare' });
const EntryResult = z
  .object({
    type: z.enum(['file', 'folder']),
    id: Uuid,
    path: z.string().meta({ description: 'below the folder of the import', example: 'week 1/plan.txt' }),
    adapted: z
      .boolean()
      .describe('true: the path in the archive has names that are taken or not allowed, so the file has another path'),
  })
  .meta({ id: 'JobItemEntry' });
const ItemResult = z.union([ShareResult, CopyResult, EntryResult]).meta({ id: 'JobItemResult' });

export const TaskItemView = z
  .object({
    id: Uuid,
    target: z.object({
      type: z.enum(TARGET_TYPES).describe('entry: of an archive'),
      id: Uuid.describe("for an entry: the entry's id in this job"),
      name: z
        .string()
        .nullable()
        .meta({
          description:
            'the name when the job found the item; null: you may not see it, or the job has not begun; ' +
            'for an entry its path in the archive',
          example: 'thesis.pdf',
        }),
    }),
    state: z.enum(ITEM_STATES),
    error: TaskError.nullable(),
    reason: z
      .enum(SKIP_REASONS)
      .nullable()
      .describe(
        'why the item was skipped; with_folder: a folder of the same job included it; ' +
          'system_file: an operating system added it; exists: on_conflict is skip',
      ),
    result: ItemResult.nullable().describe('for share: the new link; for copy: the copy; for an entry: the file that it became'),
  })
  .meta({ id: 'JobItem' });
export type TaskItemView = z.output<typeof TaskItemView>;

export const TaskItemPage = pageOf(TaskItemView).meta({ id: 'JobItemPage' });
export const TASK_ITEM_SORT_FIELDS = ['position'] as const;
export const TaskItemQuery = z.object({
  ...pageQueryOf(TASK_ITEM_SORT_FIELDS),
  state: z.enum(ITEM_STATES).optional(),
  code: ErrorCode.optional().describe('the error code of failed items'),
});
export type TaskItemQuery = z.output<typeof TaskItemQuery>;

export const TaskRetry = z
  .strictObject({
    codes: z
      .array(ErrorCode)
      .min(1)
      .max(50)
      .optional()
      .meta({ description: 'left out: all that failed', example: ['name_conflict'] }),
  })
  .meta({ id: 'JobRetry' });
export type TaskRetry = z.output<typeof TaskRetry>;
