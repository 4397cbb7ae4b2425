import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { validate } from '../../api/validation.ts';
import { parseQuery, strict } from './validate.ts';

const problem = (field: string): Error =>
  expect.objectContaining({ code: 'validation_failed', details: [expect.objectContaining({ field })] }) as unknown as Error;

test('a query gives its parameters decoded', () => {
  expect(parseQuery('?q=a+b%20c&sort=-name&empty=&bare')).toEqual({ q: 'a b c', sort: '-name', empty: '', bare: '' });
});

test('a parameter that is sent twice is a 400 that names it', () => {
  expect(() => parseQuery('limit=1&limit=2')).toThrow(problem('limit'));
});

test('a query that is not percent-encoded UTF-8, or holds a NUL, is a 400', () => {
  expect(() => parseQuery('q=%ff')).toThrow(problem('query'));
  expect(() => parseQuery('q=%00')).toThrow(problem('q'));
});

test('parameters named like parts of an object are nothing special', () => {
  expect(() => validate(strict(z.object({})), parseQuery('__proto__=1'))).toThrow(problem('__proto__'));
  expect(() => validate(strict(z.object({})), parseQuery('constructor=1'))).toThrow(problem('constructor'));
});

test('unknown keys and wrong values are named by their path', () => {
  const schema = strict(z.object({ a: z.object({ b: z.array(z.int()) }) }));

  expect(() => validate(schema, { a: { b: [1, 'x'] } })).toThrow(problem('a.b.1'));
  expect(() => validate(schema, { a: { b: [] }, c: 1 })).toThrow(problem('c'));
});
