import type { Operations } from '../../../api/operations.generated.ts';
import { en } from '../../../text/audit.en.ts';

type AuditQuery = Operations['GET /audit']['query'];
export type Action = NonNullable<AuditQuery['action']>;
export type TargetType = NonNullable<AuditQuery['target_type']>;

/** What the address of the page asks for: a filter can be sent to somebody, or kept as a bookmark. */
export type Filter = Readonly<Record<string, string>>;

const ends = (key: string, start: string): string[] => (key.startsWith(start) ? [key.slice(start.length)] : []);
/** Those that the texts name, which are all: a text that is missing fails the check of types where it is used. */
export const ACTIONS = Object.keys(en).flatMap((key) => ends(key, 'action.')) as Action[];
export const TARGET_TYPES = Object.keys(en).flatMap((key) => ends(key, 'type.')) as TargetType[];

/** Returns the kind of thing under which people look for an action. */
export function kindOf(action: Action): TargetType {
  const [word = ''] = action.split('.');
  const others: Readonly<Record<string, TargetType>> = { version: 'file', deployment: 'registration', course: 'line_item' };
  return others[word] ?? (word as TargetType);
}

const DAY_MS = 86_400_000;
const DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30 };

/** The end of a value of `what` that stands for all actions on a kind of thing. */
const ALL = '.*';
export const allOf = (type: TargetType): string => `${type}${ALL}`;

/** Returns the filter as the API takes it. Days begin and end where the reader is; times are whole minutes of `now`. */
export function queryOf({ who, what = '', about, aboutType, when = '', from = '', to = '' }: Filter, now: Date): AuditQuery {
  const isKind = what.endsWith(ALL);
  const type = isKind ? what.slice(0, -ALL.length) : aboutType;
  return {
    actor: who || undefined,
    action: isKind || what === '' ? undefined : (what as Action),
    target_type: (type || undefined) as TargetType | undefined,
    target_id: about || undefined,
    ...timesOf(when, from, to, now),
  };
}

function timesOf(when: string, from: string, to: string, now: Date): Pick<AuditQuery, 'after' | 'before'> {
  const days = DAYS[when];
  if (days !== undefined) return { after: new Date(Math.floor(now.getTime() / 60_000) * 60_000 - days * DAY_MS).toISOString() };
  if (when !== 'dates') return {};
  const start = dayAt(from, 0);
  const end = dayAt(to, 1);
  // An entry of the very first millisecond belongs to the day.
  return { after: start && new Date(start.getTime() - 1).toISOString(), before: end?.toISOString() };
}

/** Returns when a day (`2026-11-27`) begins where the reader is, or one that is `later` days after it. */
function dayAt(day: string, later: number): Date | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  return year === undefined ? undefined : new Date(Number(year), Number(month) - 1, Number(date) + later);
}
