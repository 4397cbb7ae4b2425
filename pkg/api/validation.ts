import type { z } from 'zod';
import { Problem, type ProblemDetail } from './problem.ts';

/** More details would only help a client that sends garbage. */
const DETAILS_MAX = 20;

/** Checks a value. Throws `validation_failed` that names every wrong field in words for people. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value, { error: wordsOf });
  if (result.success) return result.data;
  const details = result.error.issues.flatMap(detailsOf).slice(0, DETAILS_MAX);
  throw new Problem('validation_failed', details.map(({ field, message }) => `${field}: ${message}`).join('; '), { details });
}

function detailsOf(issue: z.core.$ZodIssue): ProblemDetail[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, DETAILS_MAX).map((key) => ({ field: [...path, key].join('.'), message: 'is not a known field' }));
  return [{ field: path.join('.') || 'body', message: issue.message }];
}

/**
 * Describes the fault of a value, to follow its name: "is required". A schema's own message takes precedence: zod then does not
 * call this.
 */
export function wordsOf(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[wantsWhole(issue) ? 'int' : issue.expected] ?? 'of another type'}`;
    case 'too_small':
      return issue.exact ? `must be exactly ${sizeOf(issue, issue.minimum)}` : tooSmall(issue);
    case 'too_big':
      return issue.exact ? `must be exactly ${sizeOf(issue, issue.maximum)}` : tooBig(issue);
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? 'in the form that the API description shows'}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return alternatives(issue.errors.map((errors) => errors[0]?.message ?? ''));
    case 'invalid_key':
      return `is not an accepted name: ${issue.issues[0]?.message ?? 'it is not valid'}`;
    case 'invalid_element':
      return issue.issues[0]?.message ?? 'is not valid';
    case 'unrecognized_keys':
      return 'is not a known field';
    case 'custom':
      return 'is not valid';
    default:
      return issue satisfies never;
  }
}

/** True if the schema requires a whole number: for text, zod would only say that it is not a number. */
const wantsWhole = ({ inst }: z.core.$ZodRawIssue): boolean =>
  (inst?._zod.def as { format?: string } | undefined)?.format === 'safeint';

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  email: 'an e-mail address',
  url: 'a URL',
  datetime: 'a time such as 2026-01-31T12:00:00Z',
};

/** `too_small` and `too_big` have the same fields except for the bound. */
interface Bound {
  readonly origin: string;
  readonly inclusive?: boolean | undefined;
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item', map: 'item', object: 'field' };

function sizeOf({ origin }: Bound, bound: number | bigint): string {
  const unit = UNITS[origin];
  return unit === undefined ? `${bound}` : `${bound} ${unit}${Number(bound) === 1 ? '' : 's'}`;
}

/** A bound applies to a number itself, and to the length of text and arrays. */
const least = (issue: Bound): string => (issue.origin === 'array' ? 'must have' : 'must be');

function tooSmall(issue: Bound & { readonly minimum: number | bigint }): string {
  if (Number(issue.minimum) === 1 && issue.inclusive !== false && UNITS[issue.origin]) return 'must not be empty';
  return `${least(issue)} ${issue.inclusive === false ? 'more than' : 'at least'} ${sizeOf(issue, issue.minimum)}`;
}

const tooBig = (issue: Bound & { readonly maximum: number | bigint }): string =>
  `${least(issue)} ${issue.inclusive === false ? 'less than' : 'at most'} ${sizeOf(issue, issue.maximum)}`;

/** Returns, for example, "must be a UUID or root". */
function alternatives(messages: readonly string[]): string {
  const [first = 'is not valid', ...others] = [...new Set(messages)];
  return [first, ...others.map((message) => message.replace(/^must be /, ''))].join(' or ');
}
