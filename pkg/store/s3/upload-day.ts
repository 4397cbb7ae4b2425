import { HOUR_MS, DAY_MS } from '../../runtime/time.ts';

/**
 * The longest upload. After the end of a day, this time and the time of a commit, the day's objects can be compared with the
 * rows.
 */
export const LONGEST_UPLOAD_MS = DAY_MS;
/** The time after an upload's last byte: the store joins its parts, and the row is committed. */
const COMMIT_MS = HOUR_MS;
/** The most by which the store's clock, which dates the objects, may be ahead. */
const CLOCK_LEEWAY_MS = HOUR_MS;

/** Returns yyyymmdd in UTC: the prefix of every key of that day. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10).replaceAll('-', '');

/**
 * Returns the time from which no upload that began on that day writes, by any clock; an object with a later date was put there by
 * hand.
 */
export function lastWriteOf(day: string): Date {
  const begin = Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)));
  return new Date(begin + DAY_MS + LONGEST_UPLOAD_MS + COMMIT_MS + CLOCK_LEEWAY_MS);
}
