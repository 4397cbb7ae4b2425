const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;

/** No upload lasts longer, so that a day's objects can be compared with the rows once this, and what its commit takes, has passed after its end. */
export const LONGEST_UPLOAD_MS = DAY_MS;
/** What still takes time once an upload's bytes are here: the store joins its parts, the row is committed. */
const COMMIT_MS = HOUR_MS;
/** A store's clock, which dates the objects, may be ahead of ours by so much. */
const CLOCK_LEEWAY_MS = HOUR_MS;

/** yyyymmdd in UTC: what every key of that day begins with. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10).replaceAll('-', '');

/** From then on nothing of an upload that began on that day is written, by whatever clock; an object of a later date was put there by a person. */
export function lastWriteOf(day: string): Date {
  const begin = Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)));
  return new Date(begin + DAY_MS + LONGEST_UPLOAD_MS + COMMIT_MS + CLOCK_LEEWAY_MS);
}
