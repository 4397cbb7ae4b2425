import { z } from 'zod';
import type { Permission } from '../../api/actor.ts';
import { taskKind } from '../../tasks/task-kind.ts';
import { TaskSubject, type TaskView } from '../../tasks/tasks.schema.ts';
import { prepareImportRetry } from './import-retry.ts';
import { IMPORT_CONFLICTS } from './imports.schema.ts';

/** Returns the result of an import into this folder (null: the root) that has done nothing yet. */
export const newImportResult = (folder: string | null): TaskView['result'] => ({
  folder_id: folder,
  files: 0,
  folders: 0,
  bytes: 0,
  skipped: [],
  contents: null,
});

/** Makes files and folders of a zip archive. What its server knows and the worker does not is among its arguments. */
export const IMPORT = taskKind({
  name: 'import',
  resultOfRetry: (result) => newImportResult(result !== null && 'folder_id' in result ? result.folder_id : null),
  prepareRetry: prepareImportRetry,
  arguments: z.object({
    archive: z.object({
      /** The key of its object. */
      key: z.string(),
      /** bytes */
      size: z.number(),
      /** uuid of the file that it is; null: it came with the request, and goes with the task. */
      file: z.string().nullable(),
    }),
    subject: TaskSubject.optional(),
    /** uuid; null: the requester's root. */
    folder: z.string().nullable(),
    onConflict: z.enum(IMPORT_CONFLICTS),
    encoding: z.string(),
    /** The permissions of the requester's session, which limit the import. */
    permissions: z.array(z.custom<Permission>()),
    /** The largest size of one file, bytes. */
    maxBytes: z.number(),
    /** The tenant's limits of versions. */
    versions: z.object({ keep: z.number(), days: z.number().nullable() }),
  }),
});
export type ImportArguments = z.output<(typeof IMPORT)['arguments']>;
