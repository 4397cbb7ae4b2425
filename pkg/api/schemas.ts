import { z } from 'zod';

/** Ids that clients see are UUID strings (docs/design/records.md). Any case is accepted, lower case is returned. */
export const Uuid = z
  .uuid({ abort: true }) // without abort, a union with it would not mention the alternatives
  .toLowerCase()
  .meta({ description: 'UUID', example: '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11' });
export type Uuid = string;

/** ISO 8601, UTC. */
export const Timestamp = z.iso.datetime().meta({ description: 'ISO 8601 time in UTC', example: '2026-01-31T12:00:00.000Z' });

const YEAR_1 = Date.parse('0001-01-01T00:00:00Z');
const YEAR_10000 = Date.parse('+010000-01-01T00:00:00Z');
const isWritable = (text: string): boolean => Date.parse(text) >= YEAR_1 && Date.parse(text) < YEAR_10000;

/**
 * A time that a client names, with any offset. It is converted to UTC and milliseconds, so that database, cursors and replies
 * read it in the same way: PostgreSQL has no year 0 and no offset past 15:59, ISO 8601 no year of five digits.
 */
export const NamedTime = z.iso
  .datetime({ offset: true, abort: true })
  .refine(isWritable, 'must lie in the years 1 to 9999')
  .overwrite((text) => (isWritable(text) ? new Date(text).toISOString() : text))
  .meta({ example: '2026-01-31T12:00:00Z' });

/**
 * A NamedTime in a query, where an unencoded `+` is read as a space (WHATWG URL Standard, application/x-www-form-urlencoded). No
 * time has a space before its offset, so the space is the `+`.
 */
export const QueryTime = z.preprocess(
  (text) => (typeof text === 'string' ? text.replace(/ (?=\d\d:\d\d$)/, '+') : text),
  NamedTime,
);

/** An unsigned integer that JSON can carry exactly (docs/design/api-conventions.md, Requests and replies). */
export const Bytes = z.int().min(0).meta({ description: 'bytes', example: 1_048_576 });

/** An unsigned 64-bit identifier as a decimal string. */
export const DecimalId = z
  .string()
  .regex(/^[0-9]{1,20}$/, 'must be 1 to 20 digits')
  .meta({ example: '42' });

/** A strong entity tag, without the quotes. */
export const Etag = z
  .string()
  .meta({ description: 'what If-Match compares, without quotes', example: '3q2-7wAAAAAAAAAAAAAAAAAAAAA' });

/**
 * Text whose length is counted as Postgres and JSON Schema count it: code points, not UTF-16 units. Neither NUL nor lone
 * surrogates reach it (http/request/json.ts).
 */
export const text = (minimum: number, maximum: number, of = z.string()): z.ZodString =>
  of
    .check((payload) => {
      const length = characters(payload.value);
      const bound = { origin: 'string', inclusive: true, input: payload.value } as const;
      if (length < minimum) payload.issues.push({ ...bound, code: 'too_small', minimum });
      if (length > maximum) payload.issues.push({ ...bound, code: 'too_big', maximum });
    })
    .meta({ ...(minimum > 0 ? { minLength: minimum } : {}), maxLength: maximum, pattern: '^[^\\u0000]*$' });

/**
 * All characters that JavaScript treats as space (`\s`), as the inside of a character class that every language reads in the same
 * way.
 */
export const SPACES = '\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';

const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f';
/** Characters that change the direction of text (UAX 9), and invisible ones: with them one name looks like another. */
const HIDDEN =
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f' +
  '\\u2800\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb';
/** Visible only by their effect on the characters beside them: Persian and emoji need them. */
const JOINERS = '\\u200c\\u200d\\ufe00-\\ufe0f';
/** Characters that the name of a person or a thing must not have, as the inside of a character class. */
const REFUSED_IN_NAMES = `${CONTROLS}${HIDDEN}`;
/** Characters that a name must not have if it has to look different from others. */
export const REFUSED_IN_HANDLES = `${REFUSED_IN_NAMES}${JOINERS}${SPACES}`;
const LABEL = new RegExp(`^[^${REFUSED_IN_NAMES}]*[^${REFUSED_IN_HANDLES}][^${REFUSED_IN_NAMES}]*$`);

/**
 * A name that people give to a person or a thing other than a file. It is in NFC, so that names that look the same are the same.
 */
export const label = (maximum: number): z.ZodString =>
  text(
    1,
    maximum,
    z.string().overwrite((value) => value.normalize('NFC')),
  )
    .regex(
      LABEL,
      'must have a visible character, and no control or invisible characters or ones that change the direction of text',
    )
    .meta({ minLength: 1, maxLength: maximum, pattern: LABEL.source });

function characters(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

/** A body of changes: each field may be omitted, but not all of them. */
export const changesOf = <S extends z.core.$ZodLooseShape>(whole: z.ZodObject<S>) =>
  whole
    .partial()
    .refine((changes) => Object.keys(changes).length > 0, 'must name something to change')
    .meta({ minProperties: 1 });

/** An array without duplicates. */
export const distinct = <T extends z.ZodType>(item: T, bounds: { min: number; max: number }) =>
  z
    .array(item)
    .min(bounds.min)
    .max(bounds.max)
    .refine((items) => new Set(items).size === items.length, 'must not name anything twice')
    .meta({ uniqueItems: true });

/**
 * The inside of a pattern: one to `most` of these names, comma-separated, without duplicates; `before` precedes each.
 * It is spelt out because portable patterns have neither lookahead nor lookbehind.
 */
export function eachOncePattern(names: readonly string[], { most = names.length, before = '' } = {}): string {
  if (names.length === 1) return `${before}${names[0]}`;
  const others = (name: string): readonly string[] => names.filter((other) => other !== name);
  const rest = (name: string): string => (most > 1 ? `(,${eachOncePattern(others(name), { most: most - 1, before })})?` : '');
  return `${before}(${names.map((name) => name + rest(name)).join('|')})`;
}

/** `true` or `false` in a query. */
export const queryBoolean = () =>
  z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).meta({ 'x-openapi': { type: 'boolean' } });

/** A whole number in a query. */
export const queryInteger = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^(0|-?[1-9][0-9]{0,15})$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum))
    .meta({ 'x-openapi': { type: 'integer', minimum, maximum } });
