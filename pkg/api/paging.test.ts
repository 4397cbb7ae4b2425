import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ListOrder } from '../store/postgres/keyset.ts';
import { page, pageRequest } from './paging.ts';
import { Problem } from './problem.ts';

const order = { fields: ['name', 'updated_at', 'id'], fallback: '-updated_at', tieBreaker: 'id', nullable: ['name'] } as const;
const refused = (query: Parameters<typeof pageRequest>[0]): unknown => {
  try {
    return pageRequest(query, order);
  } catch (error) {
    return error instanceof Problem ? error.details?.[0]?.field : error;
  }
};

test('without sort the fallback order holds, with the tie-breaker at its end in the same direction', () => {
  expect(pageRequest({ limit: 50 }, order).sort).toEqual([
    { field: 'updated_at', descending: true },
    { field: 'id', descending: true },
  ]);
});

test.each(['size', 'name,size', 'name,name', 'name,-name', '', ',', '--name', 'name '])('sort=%j is refused by name', (sort) => {
  expect(refused({ limit: 50, sort })).toBe('sort');
});

test('a cursor returns exactly the sort values that it was made from', () => {
  const value = fc.oneof(fc.string({ unit: 'binary' }), fc.integer());
  fc.assert(
    fc.property(fc.option(value), value, (a, b) => {
      const first = pageRequest({ limit: 1, sort: 'name' }, order);
      const made = page(
        first,
        [0, 1],
        (row) => row,
        () => [a, b],
      );
      const again = pageRequest({ limit: 1, sort: 'name', cursor: made.pagination.next_cursor ?? '' }, order);
      expect(again.after).toEqual([a, b]);
    }),
  );
});

test('a cursor of another order, a forged one and garbage are refused by name', () => {
  const made = page(
    pageRequest({ limit: 1, sort: 'name' }, order),
    [0, 1],
    (row) => row,
    () => ['a', '1'],
  );
  const cursor = made.pagination.next_cursor ?? '';

  expect(refused({ limit: 1, sort: '-name', cursor })).toBe('cursor');
  expect(
    refused({ limit: 1, sort: 'name', cursor: Buffer.from('{"s":"name,id","v":[{"$gt":""},1]}').toString('base64url') }),
  ).toBe('cursor');
  fc.assert(fc.property(fc.string(), (text) => refused({ limit: 1, cursor: text }) === 'cursor'));
});

test('a cursor without a value for a field that always has one is refused by name', () => {
  const cursorOf = (v: readonly unknown[]): string => Buffer.from(JSON.stringify({ s: 'name,id', v })).toString('base64url');

  expect(pageRequest({ limit: 1, sort: 'name', cursor: cursorOf([null, 1]) }, order).after).toEqual([null, 1]);
  expect(refused({ limit: 1, sort: 'name', cursor: cursorOf(['a', null]) })).toBe('cursor');
});

test('a list may be ordered without `sort` by a field that `sort` cannot name', () => {
  const { sort } = pageRequest({ limit: 1 }, { fields: ['name'], fallback: '-rank', tieBreaker: 'rank' } as ListOrder<
    'name' | 'rank'
  >);

  expect(sort).toEqual([{ field: 'rank', descending: true }]);
});

test('an extra item shows that there are more, and the last page has no cursor', () => {
  const request = pageRequest({ limit: 2 }, order);
  const of = (rows: number[]) =>
    page(
      request,
      rows,
      (row) => row,
      (row) => [row, row],
    );

  expect(of([1, 2, 3])).toMatchObject({ data: [1, 2], pagination: { limit: 2, has_more: true } });
  expect(of([1, 2])).toEqual({ data: [1, 2], pagination: { limit: 2, next_cursor: null, has_more: false } });
  expect(of([])).toEqual({ data: [], pagination: { limit: 2, next_cursor: null, has_more: false } });
});
