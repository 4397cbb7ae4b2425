import { expect, test } from '@jest/globals';
import { LazyRows } from './lazy-rows.ts';

const empty = (): LazyRows<string> => LazyRows.empty((row) => row);
const shown = (rows: LazyRows<string>): (string | undefined)[] =>
  Array.from({ length: rows.count }, (_, index) => rows.at(index));

test('a list of which nothing is loaded is one gap', () => {
  expect([shown(empty()), empty().gap, empty().total]).toEqual([[undefined], 0, undefined]);
});

test('pages follow each other, and the last one makes the list whole', () => {
  const rows = empty()
    .withPage({ rows: ['a', 'b'], next: '2' })
    .withPage({ rows: ['c'], next: null });

  expect([shown(rows), rows.gap, rows.total]).toEqual([['a', 'b', 'c'], undefined, 3]);
});

test('the end stands behind one gap until the beginning reaches it', () => {
  const start = empty().withPage({ rows: ['a', 'b'], next: '2' });
  const both = start.withEnd(['z', 'y', 'x']);
  const more = both.withPage({ rows: ['c', 'w'], next: '4' });
  const met = more.withPage({ rows: ['x', 'y'], next: '6' });

  expect([shown(both), both.indexOf('y')]).toEqual([['a', 'b', undefined, 'x', 'y', 'z'], 4]);
  expect(shown(more)).toEqual(['a', 'b', 'c', 'w', undefined, 'x', 'y', 'z']);
  expect([shown(met), met.total]).toEqual([['a', 'b', 'c', 'w', 'x', 'y', 'z'], 7]);
});

test('an end that overlaps the beginning makes the list whole at once', () => {
  const rows = empty()
    .withPage({ rows: ['a', 'b'], next: '2' })
    .withEnd(['c', 'b']);

  expect([shown(rows), rows.total]).toEqual([['a', 'b', 'c'], 3]);
});

test('a row that comes again, because others moved, is there once', () => {
  const rows = empty()
    .withPage({ rows: ['a', 'b'], next: '2' })
    .withPage({ rows: ['b', 'c'], next: null });

  expect(shown(rows)).toEqual(['a', 'b', 'c']);
});

test('rows change and go on both sides of the gap', () => {
  const rows = LazyRows.empty((row: { id: string; name: string }) => row.id)
    .withPage({
      rows: [
        { id: '1', name: 'a' },
        { id: '2', name: 'b' },
      ],
      next: '2',
    })
    .withEnd([{ id: '9', name: 'z' }]);
  const changed = rows.withRow({ id: '9', name: 'y' }).without(new Set(['1']));

  expect(changed.loaded.map(({ name }) => name)).toEqual(['b', 'y']);
  expect(rows.withRow({ id: '5', name: 'x' })).toBe(rows);
});
