import { expect, test } from '@jest/globals';
import { pageRequest } from '../../api/paging.ts';
import { RANKED, rankedPage, type RankedRow, valuesOf } from './rank.policy.ts';

const ranked = (names: readonly string[], words: readonly string[], query: { limit: number; cursor?: string } = { limit: 100 }) =>
  rankedPage(
    names.map((name, at) => `${at + 1} ${name}`),
    words,
    pageRequest(query, RANKED),
  );
test('whole words come first, then beginnings, then parts; of equal ones the shorter, and then the newer', () => {
  const names = ['synthesis', 'my thesis, final', 'thesispaper', 'a thesis', 'thesis', 'hypothesis', 'b thesis'];

  expect(ranked(names, ['thesis']).map(({ id }) => names[id - 1])).toEqual([
    'thesis',
    'b thesis',
    'a thesis',
    'my thesis, final',
    'thesispaper',
    'synthesis',
    'hypothesis',
  ]);
});

test.each(' !/:@[`{~-_.(\t\n'.split(''))('%j is between words', (sign) => {
  const [row] = ranked([`a${sign}word${sign}z`], ['word']);

  expect(row?.score).toBe(3_000 + 999 - 8);
});

test.each('a0\u00e9\u6771\u2013'.split(''))('%j is a letter', (letter) => {
  const [row] = ranked([`a${letter}word${letter}z`], ['word']);

  expect(row?.score).toBe(1_000 + 999 - 8);
});

test.each([
  ['word', ['word'], 3_000],
  ['words', ['word'], 2_000],
  ['sword word', ['word'], 3_000],
  ['sword words', ['word'], 2_000],
  ['swords', ['word'], 1_000],
  ['wordword', ['word'], 2_000],
  ['one two', ['one', 'two'], 6_000],
  ['ones two', ['one', 'two'], 5_000],
  ['a - b', ['-'], 1_000],
  ['a - b', [' - '], 1_000],
])('%j has for %j %d points, less its length', (name, words, points) => {
  expect(ranked([name], words)[0]?.score).toBe(points + 999 - name.length);
});

test('pages adjoin, with one row more than a page has', () => {
  const names = Array.from({ length: 25 }, (_, at) => `word ${'x'.repeat(at % 3)}`);
  const all = ranked(names, ['word']);
  const seen: RankedRow[] = [];
  for (let cursor: string | undefined, more = true; more;) {
    const rows = ranked(names, ['word'], { limit: 7, ...(cursor && { cursor }) });
    const shown = rows.slice(0, 7);
    seen.push(...shown);
    more = rows.length > 7;
    cursor = cursorAfter(shown.at(-1) as RankedRow);
  }

  expect(seen).toEqual(all);
  expect(seen).toHaveLength(25);
});

const cursorOf = (values: readonly unknown[]): string =>
  Buffer.from(JSON.stringify({ s: '-rank,-id', v: values })).toString('base64url');
const cursorAfter = (row: RankedRow): string => cursorOf(valuesOf(row));

test.each([[['x', 1]], [[1, 'x']], [['1', '2']]])('a cursor of %j is refused', (values) => {
  expect(() => ranked(['word'], ['word'], { limit: 1, cursor: cursorOf(values) })).toThrow(
    expect.objectContaining({ code: 'validation_failed' }),
  );
});
