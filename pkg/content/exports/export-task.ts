import { z } from 'zod';
import type { Permission } from '../../api/actor.ts';
import { job } from '../../api/job.ts';
import { taskKind } from '../../tasks/task-kind.ts';

/**
 * A task that exports files and folders as a ZIP archive in the object store. Its arguments include facts that only the server
 * knows.
 */
export const EXPORT = taskKind({
  name: 'export',
  resultOfRetry: () => null,
  arguments: z.object({
    /** The permissions of the requester's session. */
    permissions: z.array(z.custom<Permission>()),
    /** Absolute, without a slash at the end. */
    apiUrl: z.string(),
    /** The name of the archive without `.zip`. */
    name: z.string().optional(),
    /** The uuid of the schedule that it is a run of: the archive stays until newer ones replace it (kept-exports.ts). */
    schedule: z.uuid().optional(),
  }),
});
export type ExportArguments = z.output<(typeof EXPORT)['arguments']>;

/** Deletes the exports that have expired, and has their objects deleted. */
export const EXPIRE_EXPORTS = job({ kind: 'exports.expire', payload: z.object({}) });
