import { z } from 'zod';
import { taskKind } from '../../tasks/task-kind.ts';

/**
 * Permanently deletes the trash that a person owned at the time of the request. Without `before`, for a schedule, it deletes the
 * expired items of everybody's trash.
 */
export const EMPTY_OWN_TRASH = taskKind({
  name: 'empty_trash',
  isSingle: true,
  arguments: z.object({
    before: z.iso
      .datetime()
      .transform((time) => new Date(time))
      .optional(),
  }),
});
