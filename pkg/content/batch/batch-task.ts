import { z } from 'zod';
import type { Permission } from '../../api/actor.ts';
import type { Json } from '../../store/postgres/job-store.ts';
import { taskKind } from '../../tasks/task-kind.ts';
import { BATCH_OPERATIONS } from '../../tasks/tasks.schema.ts';
import type { BatchFilter, BatchRequest } from './batch.schema.ts';

/** A task that applies one operation to many files and folders. Its arguments include facts that only the server knows. */
export const BATCH = taskKind({
  name: 'batch',
  resultOfRetry: (result) => (result && 'bytes' in result ? { ...result, bytes: 0 } : result),
  arguments: z.object({
    operation: z.enum(BATCH_OPERATIONS),
    /** The arguments as the request's schema parsed them. */
    given: z.record(z.string(), z.unknown()),
    /** Null: its items are named. */
    filter: z.custom<BatchFilter>().nullable(),
    dryRun: z.boolean(),
    /** The permissions of the requester's session, which limit the operation. */
    permissions: z.array(z.custom<Permission>()),
    trashRetentionMs: z.number(),
    appUrl: z.string(),
  }),
});
export type BatchArguments = z.output<(typeof BATCH)['arguments']>;

/** Returns the request of a batch. `given`: the operation's arguments; those of a share have its password hashed. */
export const batchTask = (
  { operation, filter, dry_run: dryRun }: Pick<BatchRequest, 'operation' | 'filter' | 'dry_run'>,
  given: object,
  of: Pick<BatchArguments, 'permissions' | 'trashRetentionMs' | 'appUrl'>,
) => ({
  arguments: {
    operation,
    given: given as { [key: string]: Json },
    filter: (filter ?? null) as BatchFilter & Json,
    dryRun,
    ...of,
  },
  result: { operation, dry_run: dryRun, bytes: 0 },
});
