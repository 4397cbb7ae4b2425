import { expect, test } from '@jest/globals';
import { longLines } from './line-length.ts';

const words = (length: number): string => 'word '.repeat(length / 5);

test('a line of more than 130 characters is too long', () => {
  expect(longLines(`${words(130)}\n${words(135)}\n`)).toEqual([{ line: 2, length: 135 }]);
});

test('characters count, not bytes or UTF-16 units', () => {
  expect(longLines('漢字 é '.repeat(26))).toEqual([]);
  expect(longLines('😀 '.repeat(65))).toEqual([]);
  expect(longLines('😀 '.repeat(66))).toEqual([{ line: 1, length: 132 }]);
});

test('a line that holds a token of 100 characters may be longer, since nothing can wrap it', () => {
  expect(longLines(`const address = 'https://lms.example/${'a'.repeat(120)}';`)).toEqual([]);
  expect(longLines(`const text = '${words(60)}${'a'.repeat(80)}';`)).toHaveLength(1);
});

test('the data of an SVG path may be longer', () => {
  expect(longLines(`<path d="M13.5 15${' 1.5 0-2 .7-2 2'.repeat(10)}" />`)).toEqual([]);
});
