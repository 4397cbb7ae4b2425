import { t } from '../../../text/schedules.ts';
import { locale } from '../../../text/language.ts';

export const OFTEN = ['hourly', 'daily', 'weekdays', 'weekly', 'monthly', 'cron'] as const;
export type Often = (typeof OFTEN)[number];

/** What a form has in place of a cron expression. Fields that `often` does not need keep their values. */
export interface Times {
  readonly often: Often;
  /** `HH:MM`; of `hourly` the minute counts. Empty while it is typed. */
  readonly time: string;
  /** 0 is Sunday. */
  readonly weekday: number;
  /** The day of the month as it is typed; 1 to 31. */
  readonly day: string;
  /** Of `cron`. */
  readonly cron: string;
}

export const NIGHTLY: Times = { often: 'daily', time: '03:00', weekday: 1, day: '1', cron: '0 3 * * *' };

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Returns the form of an expression; one that says more than the form can stays an expression. */
export function timesOf(cron: string): Times {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = cron.trim().toLowerCase().split(/\s+/);
  const as: Times = { ...NIGHTLY, often: 'cron', cron };
  const isMinute = /^\d{1,2}$/.test(minute);
  if (!isMinute || month !== '*') return as;
  if (hour === '*')
    return day === '*' && weekday === '*' ? { ...as, often: 'hourly', time: `00:${minute.padStart(2, '0')}` } : as;
  if (!/^\d{1,2}$/.test(hour)) return as;
  const at = { ...as, time: `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}` };
  if (day !== '*') return /^\d{1,2}$/.test(day) && weekday === '*' ? { ...at, often: 'monthly', day: String(Number(day)) } : as;
  if (weekday === '*') return { ...at, often: 'daily' };
  if (weekday === 'mon-fri' || weekday === '1-5') return { ...at, often: 'weekdays' };
  const one = /^[0-7]$/.test(weekday) ? Number(weekday) % 7 : WEEKDAYS.indexOf(weekday);
  return one === -1 ? as : { ...at, often: 'weekly', weekday: one };
}

/** Returns the field of a form without which it has no expression: one that is empty, or holds no day of a month. */
export function faultOf({ often, time, day }: Times): 'day' | 'time' | undefined {
  if (often === 'monthly' && !/^(?:0?[1-9]|[12]\d|3[01])$/.test(day)) return 'day';
  return time === '' && often !== 'hourly' && often !== 'cron' ? 'time' : undefined;
}

/** Returns the expression of a form that has one. */
export function cronOf({ often, time, weekday, day, cron }: Times): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  switch (often) {
    case 'hourly':
      return `${minute} * * * *`;
    case 'daily':
      return `${minute} ${hour} * * *`;
    case 'weekdays':
      return `${minute} ${hour} * * mon-fri`;
    case 'weekly':
      return `${minute} ${hour} * * ${WEEKDAYS[weekday]}`;
    case 'monthly':
      return `${minute} ${hour} ${Number(day)} * *`;
    case 'cron':
      return cron.trim();
    default:
      return often satisfies never;
  }
}

/** Says when an expression runs: "Every day at 03:00". */
export function cronInWords(cron: string): string {
  const times = timesOf(cron);
  const { often, time, weekday, day } = times;
  return t(`words.${often}`, {
    time: timeInWords(time),
    minute: Number(time.split(':')[1]),
    weekday: weekdayInWords(weekday),
    day,
    cron,
  });
}

/** Any day that is a Sunday. */
const SUNDAY = Date.UTC(2026, 0, 4);
const DAY_MS = 86_400_000;

export const weekdayInWords = (weekday: number): string =>
  new Intl.DateTimeFormat(locale(), { weekday: 'long', timeZone: 'UTC' }).format(SUNDAY + weekday * DAY_MS);

const timeInWords = (time: string): string =>
  new Intl.DateTimeFormat(locale(), { timeStyle: 'short', timeZone: 'UTC' }).format(new Date(`2026-01-04T${time}:00Z`));
