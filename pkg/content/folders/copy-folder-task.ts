import { z } from 'zod';
import type { Permission } from '../../api/actor.ts';
import { taskKind } from '../../tasks/task-kind.ts';
import { TaskSubject } from '../../tasks/tasks.schema.ts';

/** Copies the content of the folder `source` to the existing folder `copy`. */
export const COPY_FOLDER = taskKind({
  name: 'copy_folder',
  arguments: z.object({
    source: z.uuid(),
    copy: z.uuid(),
    subject: TaskSubject.optional(),
    /** The permissions of the requester's session, which limit the copy. */
    permissions: z.array(z.custom<Permission>()),
  }),
});
export type CopyFolderArguments = z.output<(typeof COPY_FOLDER)['arguments']>;
