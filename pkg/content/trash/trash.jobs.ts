import { z } from 'zod';
import { job } from '../../api/job.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Deletes for ever what is past its time in the trash. */
export const EMPTY_TRASH = job({
  kind: 'trash.empty',
  payload: z.object({}),
});

/** When all that goes to the trash on the day (UTC) of `now` has been there for its time. */
export const emptiedAt = (now: Date, retentionMs: number): Date =>
  new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS + retentionMs);
