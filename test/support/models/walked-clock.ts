/**
 * The times of cron expressions found in another way: a clock of a zone is walked from change to change, and whoever matches a
 * minute that it shows runs, unless it has shown that before. Which minutes match is found once for all zones, day by day. It
 * shares nothing with pkg/schedules but the meaning of the fields.
 */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A change of a zone's clocks: from `at` on they are `offset` minutes ahead of UTC. */
export interface Change {
  readonly at: number;
  readonly offset: number;
}

/** All changes of a zone from `from` to `to`, milliseconds; the first one is what holds at `from`. */
export function changesOf(timeZone: string, from: number, to: number): Change[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }); // 2026-01-31 12:00:00
  const offsetAt = (at: number): number => Math.round((Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at) / MINUTE_MS);
  const changes = [{ at: from, offset: offsetAt(from) }];
  for (let day = from; day < to; day += DAY_MS) {
    const offset = offsetAt(day + DAY_MS);
    if (offset === changes.at(-1)?.offset) continue;
    let [before, since] = [day, day + DAY_MS];
    while (since - before > MINUTE_MS) {
      const middle = before + Math.floor((since - before) / 2 / MINUTE_MS) * MINUTE_MS;
      if (offsetAt(middle) === offset) since = middle;
      else before = middle;
    }
    changes.push({ at: since, offset });
  }
  return changes;
}

/** A field of an expression: the numbers that it matches, and whether it restricts anything (is not `*`). */
interface Numbers {
  readonly has: readonly boolean[];
  readonly isRestricted: boolean;
}

const NAMES = 'sun mon tue wed thu fri sat jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const BOUNDS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;

/** Expressions by their index, with the local minutes that match each, which are written as times of UTC, in order. */
export class Expressions {
  readonly #matches: readonly (readonly number[])[];

  /** For clocks that show days from `from` to `to`. */
  constructor(expressions: readonly string[], from: number, to: number) {
    this.#matches = expressions.map((expression) => matchesOf(expression.split(' ').map(numbersOf), from, to));
  }

  get count(): number {
    return this.#matches.length;
  }

  /** Returns the times from `from` on and before `to`. */
  between(index: number, from: number, to: number): readonly number[] {
    const matches = this.#matches[index] ?? [];
    return matches.slice(firstFrom(matches, from), firstFrom(matches, to));
  }
}

function matchesOf(fields: readonly Numbers[], from: number, to: number): number[] {
  const [minutes, hours, dates, months, weekdays] = fields as [Numbers, Numbers, Numbers, Numbers, Numbers];
  const ofDay: number[] = [];
  for (let minute = 0; minute < 24 * 60; minute += 1)
    if (hours.has[Math.floor(minute / 60)] && minutes.has[minute % 60]) ofDay.push(minute * MINUTE_MS);
  const found: number[] = [];
  for (let day = Math.floor(from / DAY_MS) * DAY_MS; day < to; day += DAY_MS) {
    const time = new Date(day);
    const [byDate, byWeekday] = [dates.has[time.getUTCDate()] === true, weekdays.has[time.getUTCDay()] === true];
    const matches = dates.isRestricted && weekdays.isRestricted ? byDate || byWeekday : byDate && byWeekday;
    if (matches && months.has[time.getUTCMonth() + 1]) for (const minute of ofDay) found.push(day + minute);
  }
  return found;
}

/** The index of the first that is not less than `least`. */
function firstFrom(sorted: readonly number[], least: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

function numbersOf(text: string, field: number): Numbers {
  const [least, most] = BOUNDS[field] as readonly [number, number];
  const numberOf = (word: string): number => {
    const name = NAMES.indexOf(word.toLowerCase());
    if (name === -1) return Number(word);
    return field === 3 ? name - 6 : name;
  };
  const has: boolean[] = [];
  for (const part of text.split(',')) {
    const [range = '', step = '1'] = part.split('/');
    const [from, to] = range === '*' ? [least, most] : range.split('-').map(numberOf);
    for (let number = from ?? 0; number <= (to ?? from ?? 0); number += Number(step))
      has[field === 4 ? number % 7 : number] = true;
  }
  return { has, isRestricted: text !== '*' };
}

/** Walks the clock of `changes` through `[from, to)` and gives the times of each expression, in order. */
export function walk(expressions: Expressions, changes: readonly Change[], from: number, to: number): number[][] {
  const found: number[][] = Array.from({ length: expressions.count }, () => []);
  // A clock that goes back shows nothing new until it has passed what it showed last; so it is walked from a day before.
  let shownUntil = -Infinity;
  for (const [place, { at, offset }] of changes.entries()) {
    const begin = Math.max(at, from - DAY_MS);
    const end = Math.min(changes[place + 1]?.at ?? Infinity, to);
    if (begin >= end) continue;
    const ahead = offset * MINUTE_MS;
    const first = Math.max(begin + ahead, shownUntil, from + ahead);
    for (let index = 0; index < expressions.count; index += 1)
      for (const local of expressions.between(index, first, end + ahead)) found[index]?.push(local - ahead);
    shownUntil = Math.max(shownUntil, end + ahead);
  }
  return found;
}
