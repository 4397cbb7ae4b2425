import { Cron as Croner } from 'croner';
import { instantOf, localTimeOf } from './local-time.ts';

/** A field of a cron expression: its name in messages, its numbers, and the names that stand for numbers. */
interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** `number` and `step` are the insides of patterns for the numbers and the steps. */
  readonly number: string;
  readonly step: string;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] as const;
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const FIELDS: readonly Field[] = [
  { name: 'minute', least: 0, most: 59, number: '[0-5]?[0-9]', step: '0?[1-9]|[1-5][0-9]' },
  { name: 'hour', least: 0, most: 23, number: '[01]?[0-9]|2[0-3]', step: '0?[1-9]|1[0-9]|2[0-3]' },
  { name: 'day of month', least: 1, most: 31, number: '0?[1-9]|[12][0-9]|3[01]', step: '0?[1-9]|[12][0-9]|3[01]' },
  { name: 'month', least: 1, most: 12, number: '0?[1-9]|1[0-2]', step: '0?[1-9]|1[0-2]', names: MONTHS },
  { name: 'day of week', least: 0, most: 7, number: '0?[0-7]', step: '0?[1-7]', names: DAYS },
];

export const CRON_LENGTH_MAX = 100;
/** Matches `*`, `3`, `mon`, `1-5` or `mon-fri`, each with an optional step. */
const PART = /^(?:\*|([a-z]+|\d{1,2})(?:-([a-z]+|\d{1,2}))?)(?:\/(\d{1,2}))?$/i;
/** Expresses most of the rules to readers of patterns. It cannot say that a range goes up, or that a month has such a day. */
export const CRON_PATTERN = `^${FIELDS.map(({ number, step, names = [] }) => {
  const one = `(${[number, ...names.map(anyCase)].join('|')})`;
  const part = `((\\*|${one}-${one})(/(${step}))?|${one})`;
  return `${part}(,${part})*`;
}).join('[ \\t]+')}$`;

/** A leap year: a day that does not occur in the eight years from here never occurs. */
const REFERENCE = new Date('2096-01-01T00:00:00Z');

/**
 * A cron expression of five fields: minute, hour, day of month, month, day of week (0 and 7 are Sunday). Each field takes names,
 * lists, ranges and steps. Times are local to a time zone.
 *
 * - If neither day field is `*`, a day matches if either field does (POSIX, crontab).
 * - A local time that a change of the clock skips does not run that day. A local time that occurs twice runs the first time.
 */
export class Cron {
  readonly #pattern: Croner;
  readonly #timeZone: string;

  /** Throws RangeError if `cronFault` or `timeZoneFault` finds a fault. */
  constructor(expression: string, timeZone: string) {
    const fault = cronFault(expression) ?? timeZoneFault(timeZone);
    if (fault !== null) throw new RangeError(fault);
    this.#pattern = patternOf(expression);
    this.#timeZone = timeZone;
  }

  /** Returns the first time after `time`. */
  nextAfter(time: Date): Date {
    for (let local = localTimeOf(time, this.#timeZone); ;) {
      const next = this.#pattern.nextRun(local);
      if (next === null) throw new RangeError('the schedule has no further time');
      const instant = instantOf(next, this.#timeZone);
      if (instant !== null && instant > time) return instant;
      local = next;
    }
  }
}

/** Returns what is wrong with an expression and what helps, or null if it is valid. */
export function cronFault(expression: string): string | null {
  const texts = expression.trim().split(/[ \t]+/);
  if (expression.length > CRON_LENGTH_MAX) return `must have at most ${CRON_LENGTH_MAX} characters`;
  if (texts.length !== FIELDS.length)
    return (
      'must have five fields (minute, hour, day of month, month, day of week), such as "0 3 * * mon-fri", ' +
      `and has ${texts.length}`
    );
  for (const [at, field] of FIELDS.entries()) {
    const fault = fieldFault(field, texts[at] ?? '');
    if (fault !== null) return `${field.name}: ${fault}`;
  }
  return patternOf(expression).nextRun(REFERENCE) === null ? 'never matches: the given months do not have such a day' : null;
}

/** Returns what is wrong with the name of a time zone, or null if it is valid. */
export function timeZoneFault(timeZone: string): string | null {
  const fault = 'must be an IANA time zone, such as Europe/Berlin or UTC';
  if (!/^[a-z]/i.test(timeZone)) return fault; // Intl takes an offset such as +02:00, which is not a time zone.
  try {
    Intl.DateTimeFormat('en', { timeZone });
    return null;
  } catch {
    return fault;
  }
}

/** The pattern works in local times, written as times of UTC. */
const patternOf = (expression: string): Croner => new Croner(expression.trim(), { utcOffset: 0, mode: '5-part', paused: true });

function fieldFault(field: Field, text: string): string | null {
  for (const part of text.split(',')) {
    const [whole, from, to, step] = PART.exec(part) ?? [];
    if (whole === undefined)
      return `"${part}" is not *, a number, a range such as ${field.least}-${field.most}, or one of these with a step`;
    if (step !== undefined && from !== undefined && to === undefined)
      return `a step needs a range: write ${from}-${field.most}/${step} instead of ${part}`;
    if (step !== undefined && (Number(step) < 1 || Number(step) > field.most)) return `a step is 1 to ${field.most}`;
    const [first, last] = [from, to ?? from].map((named) => (named === undefined ? undefined : numberOf(field, named)));
    if (first === null || last === null)
      return `"${part}" is not one of ${field.least} to ${field.most}${field.names ? ` or ${field.names.join(', ')}` : ''}`;
    if (first !== undefined && last !== undefined && first > last)
      return `the range ${part} ends before it begins: write it as two, separated by a comma`;
  }
  return null;
}

/** Returns a pattern for the name in any case, such as [mM][oO][nN]. */
function anyCase(name: string): string {
  return name.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** Returns null if the field has no such name or number. */
function numberOf({ least, most, names = [] }: Field, named: string): number | null {
  const number = /^\d/.test(named) ? Number(named) : names.indexOf(named.toLowerCase()) + least;
  const isKnown = /^\d/.test(named) || names.includes(named.toLowerCase());
  return isKnown && number >= least && number <= most ? number : null;
}
