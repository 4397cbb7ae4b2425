/**
 * The times of cron expressions found in the slowest way: a clock of a zone is walked minute by minute, and whoever matches what it shows runs, unless
 * it has shown that before. It shares nothing with pkg/schedules but the meaning of the fields.
 */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Where the clocks of a zone change: from `at` on they are `offset` minutes ahead of UTC. */
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

/** What one field of an expression says: numbers by themselves, and whether it is anything but `*`. */
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

/** Expressions by their index. */
export class Expressions {
  readonly #fields: readonly (readonly Numbers[])[];
  readonly #dates = new Map<number, readonly number[]>();

  constructor(expressions: readonly string[]) {
    this.#fields = expressions.map((expression) => expression.split(' ').map(numbersOf));
  }

  /** Indexes of those that match at this local time, which is written as one of UTC. */
  at(local: number): number[] {
    const time = new Date(local);
    const [minute, hour] = [time.getUTCMinutes(), time.getUTCHours()];
    return this.#ofDate(Math.floor(local / DAY_MS), time).filter(
      (index) => this.#fields[index]?.[0]?.has[minute] && this.#fields[index][1]?.has[hour],
    );
  }

  #ofDate(day: number, time: Date): readonly number[] {
    const known = this.#dates.get(day);
    if (known) return known;
    const [date, month, weekday] = [time.getUTCDate(), time.getUTCMonth() + 1, time.getUTCDay()];
    const indexes = this.#fields.flatMap(([, , dates, months, weekdays], index) => {
      if (!dates || !weekdays || !months?.has[month]) return [];
      const [byDate, byWeekday] = [dates.has[date] === true, weekdays.has[weekday] === true];
      const matches = dates.isRestricted && weekdays.isRestricted ? byDate || byWeekday : byDate && byWeekday;
      return matches ? [index] : [];
    });
    this.#dates.set(day, indexes);
    return indexes;
  }
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
    for (let number = from ?? 0; number <= (to ?? from ?? 0); number += Number(step)) has[field === 4 ? number % 7 : number] = true;
  }
  return { has, isRestricted: text !== '*' };
}

/** Walks the clock of `changes` through `[from, to)` and gives the times of each expression, in order. */
export function walk(expressions: Expressions, count: number, changes: readonly Change[], from: number, to: number): number[][] {
  const found: number[][] = Array.from({ length: count }, () => []);
  // A clock that goes back shows nothing new until it has passed what it showed last; so it is walked from a day before.
  let shown = -Infinity;
  for (let at = from - DAY_MS; at < to; at += MINUTE_MS) {
    const local = at + (changes.findLast((change) => change.at <= at) ?? (changes[0] as Change)).offset * MINUTE_MS;
    if (local <= shown) continue;
    shown = local;
    if (at < from) continue;
    for (const index of expressions.at(local)) found[index]?.push(at);
  }
  return found;
}
