import { z } from 'zod';
import { taskKind } from '../../tasks/task-kind.ts';

/**
 * Deletes for ever what somebody owns that was in the trash by the time of the request; without `before`, for a schedule, what of
 * everybody's trash is past its time.
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
