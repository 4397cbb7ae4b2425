/** Sizes and times in the notation of a language. Pure: the components beside it (measures.tsx) know the page's language. */

const SIZE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;
const STEP = 1024;

/** Returns a size in bytes with three digits at most: "1.25 MB". 1 kB is 1,024 bytes, as quotas are set. */
export function sizeIn(locale: string, bytes: number): string {
  let value = bytes;
  let step = 0;
  while (value >= STEP - 0.5 && step < SIZE_UNITS.length - 1) {
    value /= STEP;
    step += 1;
  }
  const digits = step === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: SIZE_UNITS[step] ?? 'byte',
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: digits,
  }).format(value);
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** Returns a time as people say it: "3 minutes ago", "yesterday"; beyond a week the date, with the year where it is another. */
export function agoIn(locale: string, time: Date, now: Date): string {
  const seconds = (time.getTime() - now.getTime()) / 1000;
  const away = Math.abs(seconds);
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  if (away < 45) return relative.format(0, 'second');
  if (away < 45 * MINUTE) return relative.format(Math.round(seconds / MINUTE), 'minute');
  if (away < 22 * HOUR) return relative.format(Math.round(seconds / HOUR), 'hour');
  if (away < WEEK) return relative.format(Math.round(seconds / DAY), 'day');
  const isThisYear = time.getFullYear() === now.getFullYear();
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' as const }),
  }).format(time);
}

/** Returns date and time in full. */
export const timeIn = (locale: string, time: Date): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short' }).format(time);
