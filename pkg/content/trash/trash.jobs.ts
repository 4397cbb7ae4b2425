import { z } from 'zod';
import { job } from '../../api/job.ts';
import { endOfDay } from '../../events/daily-jobs.ts';

/** Permanently deletes the items whose time in the trash is over. */
export const EMPTY_TRASH = job({
  kind: 'trash.empty',
  payload: z.object({}),
});

/** Returns when everything that goes to the trash on the day (UTC) of `now` has been there for its time. */
export const emptiedAt = (now: Date, retentionMs: number): Date => new Date(endOfDay(now).getTime() + retentionMs);
