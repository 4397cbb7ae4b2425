import { expect, test } from '@jest/globals';
import { piecesOf } from './pieces.ts';

test('a text is split where a paragraph, a line, a sentence or a word ends, and nothing of it is lost', () => {
  const texts = ['one\n\ntwo two\n\nthree', 'One. Two two. Three', 'aaa bbb ccc ddd', 'line\nline\nline', 'abcdefghijklmnop'];

  const split = texts.map((text) => piecesOf(text, 12));

  expect(split).toEqual([
    ['one\n\n', 'two two\n\n', 'three'],
    ['One. ', 'Two two. ', 'Three'],
    ['aaa bbb ccc ', 'ddd'],
    ['line\nline\n', 'line'],
    ['abcdefghijkl', 'mnop'],
  ]);
});

test('a character of two code units is not cut in two', () => {
  expect(piecesOf('😀😀😀', 2)).toEqual(['😀😀', '😀']);
});

test('an empty text has no pieces', () => {
  expect(piecesOf('')).toEqual([]);
});
