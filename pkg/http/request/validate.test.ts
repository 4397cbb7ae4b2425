import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { validate } from '../../api/validation.ts';
import { parseQuery, queryForms, strict } from './validate.ts';

const problem = (field: string): Error =>
  expect.objectContaining({ code: 'validation_failed', details: [expect.objectContaining({ field })] }) as unknown as Error;

test('the parameters of a query are decoded', () => {
  expect(parseQuery('?q=a+b%20c&sort=-name&empty=&bare')).toEqual({ q: 'a b c', sort: '-name', empty: '', bare: '' });
});

test('a parameter that is sent twice is a 400 that names it', () => {
  expect(() => parseQuery('limit=1&limit=2')).toThrow(problem('limit'));
});

test('a query that is not percent-encoded UTF-8, or holds a NUL, is a 400', () => {
  expect(() => parseQuery('q=%ff')).toThrow(problem('query'));
  expect(() => parseQuery('q=%00')).toThrow(problem('q'));
});

test('parameters named like built-in members of an object are ordinary ones', () => {
  expect(() => validate(strict(z.object({})), parseQuery('__proto__=1'))).toThrow(problem('__proto__'));
  expect(() => validate(strict(z.object({})), parseQuery('constructor=1'))).toThrow(problem('constructor'));
});

test('unknown keys and wrong values are named by their path', () => {
  const schema = strict(z.object({ a: z.object({ b: z.array(z.int()) }) }));

  expect(() => validate(schema, { a: { b: [1, 'x'] } })).toThrow(problem('a.b.1'));
  expect(() => validate(schema, { a: { b: [] }, c: 1 })).toThrow(problem('c'));
});

describe('a query with a list and an object', () => {
  const forms = queryForms(
    z.object({ tag: z.array(z.string()).optional(), metadata: z.record(z.string(), z.string()).optional(), q: z.string() }),
  );

  test('returns them as such', () => {
    expect(parseQuery('tag=a&metadata%5Bx%5D=1&q=2&tag=b&metadata[y%5B]=3', forms)).toEqual({
      tag: ['a', 'b'],
      metadata: { x: '1', 'y[': '3' },
      q: '2',
    });
    expect(parseQuery('tag=', forms)).toEqual({ tag: [''] });
    expect(parseQuery('metadata=1', forms)).toEqual({ metadata: '1' });
    expect(parseQuery('other[x]=1', forms)).toEqual({ 'other[x]': '1' });
  });

  test.each([
    ['metadata[x]=1&metadata[x]=2', 'metadata[x]'],
    ['metadata[x]=1&metadata=2', 'metadata'],
    ['metadata=2&metadata[x]=1', 'metadata[x]'],
    ['metadata[__proto__]=1', 'metadata[__proto__]'],
    ['metadata[x]=%00', 'metadata[x]'],
    ['metadata[%00]=x', 'metadata[\0]'],
    ['q=1&q=2', 'q'],
  ])('%s is a 400 that names %j', (search, name) => {
    expect(() => parseQuery(search, forms)).toThrow(problem(name));
  });
});
