import { z } from 'zod';
import { pageOf, pageQueryOf } from '../api/paging.ts';
import { queryBoolean, Timestamp, Uuid } from '../api/schemas.ts';

/** What people may request; the feature that does it declares it (`taskKind`). */
export const TASK_KINDS = ['empty_trash', 'copy_folder'] as const;
export type TaskKindName = (typeof TASK_KINDS)[number];

export const TASK_STATES = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const;
export type TaskState = (typeof TASK_STATES)[number];

const ITEM_STATES = ['queued', 'succeeded', 'failed'] as const;
export type ItemState = (typeof ITEM_STATES)[number];

const TaskError = z
  .object({
    code: z.string().meta({ description: 'of the catalogue of errors', example: 'not_found' }),
    message: z.string().meta({ example: 'It is not there any more.' }),
  })
  .meta({ id: 'JobError' });

/** docs/design/records.md, Job. */
export const TaskView = z
  .object({
    id: Uuid,
    kind: z.enum(TASK_KINDS),
    state: z.enum(TASK_STATES).describe('succeeded: each item has ended, some of them perhaps in failure; failed: it could not begin'),
    progress: z.object({
      done: z.int().min(0).meta({ description: 'items that have ended, failed ones included', example: 3 }),
      total: z.int().min(0).meta({ description: 'items so far: it grows until all are found', example: 4 }),
      failed: z.int().min(0).meta({ example: 0 }),
    }),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    ended_at: Timestamp.nullable(),
    result: z
      .object({ folder_id: Uuid })
      .nullable()
      .describe('of copy_folder: the copy, which is there from the beginning; of others null'),
    error: TaskError.nullable().describe('why it failed'),
    cancelable: z.boolean(),
    retry_of: Uuid.nullable().describe('the job whose failed items this one tries again'),
  })
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

export const TaskItemView = z
  .object({
    id: Uuid,
    target: z.object({
      type: z.enum(['file', 'folder']),
      id: Uuid,
      name: z.string().meta({ description: 'as it was when the item was found', example: 'thesis.pdf' }),
    }),
    state: z.enum(ITEM_STATES),
    error: TaskError.nullable(),
  })
  .meta({ id: 'JobItem' });
export type TaskItemView = z.output<typeof TaskItemView>;

export const TaskItemPage = pageOf(TaskItemView).meta({ id: 'JobItemPage' });
export const TASK_ITEM_SORT_FIELDS = ['position'] as const;
export const TaskItemQuery = z.object({
  ...pageQueryOf(TASK_ITEM_SORT_FIELDS),
  state: z.enum(ITEM_STATES).optional(),
});
export type TaskItemQuery = z.output<typeof TaskItemQuery>;
