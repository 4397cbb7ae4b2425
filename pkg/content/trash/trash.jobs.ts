import { z } from 'zod';
import { job } from '../../api/job.ts';

/** How long something stays in the trash. */
export const TRASH_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Deletes for ever what went to the trash on a day (yyyymmdd, UTC) or before it. */
export const EMPTY_TRASH = job({
  kind: 'trash.empty',
  payload: z.object({ day: z.string().regex(/^\d{8}$/) }),
});

/** The end of a day. */
export const endOf = (day: string): Date =>
  new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6))) + DAY_MS);

/** When all that went to the trash on a day has been there for its time. */
export const emptiedAt = (day: string): Date => new Date(endOf(day).getTime() + TRASH_RETENTION_MS);
