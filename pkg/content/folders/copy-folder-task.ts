import { z } from 'zod';
import { taskKind } from '../../tasks/task-kind.ts';

/** Copies what is in the folder `source` to the folder `copy`, which is there. */
export const COPY_FOLDER = taskKind({ name: 'copy_folder', arguments: z.object({ source: z.uuid(), copy: z.uuid() }) });
