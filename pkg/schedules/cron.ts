import { Cron as Croner } from 'croner';
import { instantOf, localTimeOf } from './local-time.ts';

/** A field of a cron expression: its name in messages, its numbers, and the names that stand for numbers. */
interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** The numbers and the steps as the inside of a pattern. */
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
/** Of `*`, `3`, `mon`, `1-5`, `mon-fri`; then perhaps a step. */
const PART = /^(?:\*|([a-z]+|\d{1,2})(?:-([a-z]+|\d{1,2}))?)(?:\/(\d{1,2}))?$/i;
/** What says most of the same to those who read patterns: not that a range goes up, nor that there is such a day. */
export const CRON_PATTERN = `^${FIELDS.map(({ number, step, names = [] }) => {
  const one = `(${[number, ...names.map(anyCase)].join('|')})`;
  const part = `((\\*|${one}-${one})(/(${step}))?|${one})`;
  return `${part}(,${part})*`;
}).join('[ \\t]+')}$`;

/** A leap year: what has no day in the eight years from here never has one. */
const REFERENCE = new Date('2096-01-01T00:00:00Z');

/**
 * Five fields: minute, hour, day of month, month, day of week (0 and 7 are Sunday), each with names, lists, ranges and steps, at
 * times of a zone.
 *
 * - Where both day fields are other than `*`, a day matches if either does (POSIX, crontab).
 * - A local time that a change of the clock skips does not run that day; one that occurs twice runs the first time.
 */
export class Cron {
  readonly #pattern: Croner;
  readonly #timeZone: string;

  /** Throws RangeError where `cronFault` or `timeZoneFault` names a fault. */
  constructor(expression: string, timeZone: string) {
    const fault = cronFault(expression) ?? timeZoneFault(timeZone);
    if (fault !== null) throw new RangeError(fault);
    this.#pattern = patternOf(expression);
    this.#timeZone = timeZone;
  }

  /** The first time after `time`. */
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

/** What is wrong with an expression and what helps; null: nothing. */
export function cronFault(expression: string): string | null {
  const texts = expression.trim().split(/[ \t]+/);
  if (expression.length > CRON_LENGTH_MAX) return `must have at most ${CRON_LENGTH_MAX} characters`;
  if (texts.length !== FIELDS.length)
    return `must have five fields (minute, hour, day of month, month, day of week), such as "0 3 * * mon-fri", and has ${texts.length}`;
  for (const [at, field] of FIELDS.entries()) {
    const fault = fieldFault(field, texts[at] ?? '');
    if (fault !== null) return `${field.name}: ${fault}`;
  }
  return patternOf(expression).nextRun(REFERENCE) === null ? 'never matches: the months named do not have such a day' : null;
}

/** What is wrong with the name of a time zone; null: nothing. */
export function timeZoneFault(timeZone: string): string | null {
  const fault = 'must be an IANA time zone, such as Europe/Berlin or UTC';
  if (!/^[a-z]/i.test(timeZone)) return fault; // an offset such as +02:00 is none, though Intl takes it
  try {
    Intl.DateTimeFormat('en', { timeZone });
    return null;
  } catch {
    return fault;
  }
}

/** In local times that are written as times of UTC. */
const patternOf = (expression: string): Croner => new Croner(expression.trim(), { utcOffset: 0, mode: '5-part', paused: true });

function fieldFault(field: Field, text: string): string | null {
  for (const part of text.split(',')) {
    const [whole, from, to, step] = PART.exec(part) ?? [];
    if (whole === undefined)
      return `"${part}" is not *, a number, a range such as ${field.least}-${field.most}, or one of these with a step`;
    if (step !== undefined && from !== undefined && to === undefined)
      return `a step needs a range: write ${from}-${field.most}/${step} in place of ${part}`;
    if (step !== undefined && (Number(step) < 1 || Number(step) > field.most)) return `a step is 1 to ${field.most}`;
    const [first, last] = [from, to ?? from].map((named) => (named === undefined ? undefined : numberOf(field, named)));
    if (first === null || last === null)
      return `"${part}" names something other than ${field.least} to ${field.most}${field.names ? ` or ${field.names.join(', ')}` : ''}`;
    if (first !== undefined && last !== undefined && first > last)
      return `the range ${part} ends before it begins: write it as two, separated by a comma`;
  }
  return null;
}

/** mon: [mM][oO][nN] */
function anyCase(name: string): string {
  return name.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** Null: it is none of the field's. */
function numberOf({ least, most, names = [] }: Field, named: string): number | null {
  const number = /^\d/.test(named) ? Number(named) : names.indexOf(named.toLowerCase()) + least;
  const isKnown = /^\d/.test(named) || names.includes(named.toLowerCase());
  return isKnown && number >= least && number <= most ? number : null;
}
