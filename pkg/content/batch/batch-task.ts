import { z } from 'zod';
import type { Permission } from '../../api/actor.ts';
import { taskKind } from '../../tasks/task-kind.ts';
import { BATCH_OPERATIONS } from '../../tasks/tasks.schema.ts';
import type { BatchFilter } from './batch.schema.ts';

/** One operation on many files and folders. What its server knows and the worker does not is among its arguments. */
export const BATCH = taskKind({
  name: 'batch',
  resultOfRetry: (result) => (result && 'bytes' in result ? { ...result, bytes: 0 } : result),
  arguments: z.object({
    operation: z.enum(BATCH_OPERATIONS),
    /** As the request's schema gave them. */
    given: z.record(z.string(), z.unknown()),
    /** Null: its items are named. */
    filter: z.custom<BatchFilter>().nullable(),
    dryRun: z.boolean(),
    /** What the requester's session could do: an item is done with these at most. */
    permissions: z.array(z.custom<Permission>()),
    trashRetentionMs: z.number(),
    appUrl: z.string(),
  }),
});
export type BatchArguments = z.output<(typeof BATCH)['arguments']>;
