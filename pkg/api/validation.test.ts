import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { changesOf, distinct, NamedTime, queryBoolean, queryInteger, text, Uuid } from './schemas.ts';
import { validate } from './validation.ts';

const words = (schema: z.ZodType, value: unknown): string | undefined => {
  try {
    validate(z.object({ a: schema }), value === undefined ? {} : { a: value });
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
};

test.each<[z.ZodType, unknown, string]>([
  [z.string(), undefined, 'a: is required'],
  [z.enum(['x', 'y']), undefined, 'a: is required'],
  [Uuid, undefined, 'a: is required'],
  [z.union([Uuid, z.literal('root')]), undefined, 'a: is required'],
  [z.string(), 1, 'a: must be a string'],
  [z.string(), null, 'a: must be a string'],
  [z.number(), '1', 'a: must be a number'],
  [z.int(), 1.5, 'a: must be a whole number'],
  [z.boolean(), 'true', 'a: must be true or false'],
  [z.object({}), [], 'a: must be an object'],
  [z.record(z.string(), z.string()), 'x', 'a: must be an object'],
  [z.array(z.string()), {}, 'a: must be an array'],
  [z.null(), 1, 'a: must be null'],
  [text(1, 255), '', 'a: must not be empty'],
  [text(8, 256), 'short', 'a: must be at least 8 characters'],
  [text(1, 255), 'x'.repeat(256), 'a: must be at most 255 characters'],
  [text(1, 1), 'xx', 'a: must be at most 1 character'],
  [z.string().max(10), 'x'.repeat(11), 'a: must be at most 10 characters'],
  [z.string().length(3), 'xx', 'a: must be exactly 3 characters'],
  [z.string().length(3), 'xxxx', 'a: must be exactly 3 characters'],
  [z.int().min(0), -1, 'a: must be at least 0'],
  [z.number().gt(0), 0, 'a: must be more than 0'],
  [z.number().max(5), 6, 'a: must be at most 5'],
  [z.number().lt(5), 5, 'a: must be less than 5'],
  [z.number().multipleOf(3), 4, 'a: must be a multiple of 3'],
  [z.array(z.string()).min(1), [], 'a: must not be empty'],
  [z.array(z.string()).min(2), ['x'], 'a: must have at least 2 items'],
  [z.array(z.string()).max(1), ['x', 'y'], 'a: must have at most 1 item'],
  [Uuid, 'x', 'a: must be a UUID'],
  [z.email(), 'x', 'a: must be an e-mail address'],
  [z.url(), 'x', 'a: must be a URL'],
  [NamedTime, 'yesterday', 'a: must be a time such as 2026-01-31T12:00:00Z'],
  [NamedTime, '0000-01-01T00:00:00Z', 'a: must lie in the years 1 to 9999'],
  [z.string().regex(/^x$/), 'y', 'a: must be in the form that the API description shows'],
  [z.string().regex(/^x$/, 'must be x'), 'y', 'a: must be x'],
  [z.enum(['x', 'y']), 'z', 'a: must be one of x, y'],
  [z.literal('x'), 'z', 'a: must be x'],
  [queryBoolean(), 'yes', 'a: must be one of true, false'],
  [queryInteger(1, 200), 'many', 'a: must be a whole number'],
  [queryInteger(1, 200), '0x10', 'a: must be a whole number'],
  [queryInteger(1, 200), '201', 'a: must be at most 200'],
  [z.union([Uuid, z.literal('root')]), 'x', 'a: must be a UUID or root'],
  [
    z.record(z.string().regex(/^[a-z]+$/, 'must be letters'), z.string()),
    { 1: 'x' },
    'a.1: is not an accepted name: must be letters',
  ],
  [z.map(z.object({}), z.int()), new Map([[{}, 'x']]), 'a: must be a whole number'],
  [distinct(z.string(), { min: 1, max: 3 }), ['x', 'x'], 'a: must not name anything twice'],
  [changesOf(z.object({ b: z.string() })), {}, 'a: must name something to change'],
  [z.string().refine(() => false), 'x', 'a: is not valid'],
  [z.strictObject({}), { b: 1, c: 1 }, 'a.b: is not a known field; a.c: is not a known field'],
])('%#: the message says in plain words what is wrong', (schema, value, expected) => {
  expect(words(schema, value)).toBe(expected);
});

test('characters are counted as Postgres and JSON Schema count them', () => {
  expect(words(text(1, 3), '😀😀😀')).toBeUndefined();
  expect(words(text(1, 3), '😀😀😀😀')).toBe('a: must be at most 3 characters');
});

test('each wrong field is named by its dotted path, at most twenty of them', () => {
  const schema = z.object({ a: z.object({ b: z.array(z.int()) }) });

  expect(() => validate(schema, { a: { b: [1, 'x', 2.5] } })).toThrow(
    expect.objectContaining({
      code: 'validation_failed',
      details: [
        { field: 'a.b.1', message: 'must be a whole number' },
        { field: 'a.b.2', message: 'must be a whole number' },
      ],
    }) as unknown as Error,
  );
  expect(() => validate(schema, { a: { b: Array.from({ length: 50 }, () => 'x') } })).toThrow(
    expect.objectContaining({
      details: Array.from({ length: 20 }, (_, at) => expect.objectContaining({ field: `a.b.${at}` })),
    }) as unknown as Error,
  );
  expect(() => validate(schema, [])).toThrow(
    expect.objectContaining({ details: [{ field: 'body', message: 'must be an object' }] }) as unknown as Error,
  );
});
