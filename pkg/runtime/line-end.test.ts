import { expect, test } from '@jest/globals';
import { withoutLineEnd, withoutLineEnds } from './line-end.ts';

test.each([
  ['one line end', 'word\n', 'word'],
  ['one of Windows', 'word\r\n', 'word'],
  ['no more than one', 'word\n\n', 'word\n'],
  ['no space', 'word \n', 'word '],
  ['nothing within', 'two\nlines', 'two\nlines'],
  ['no carriage return alone', 'word\r', 'word\r'],
  ['all of an empty line', '\n', ''],
])('of a text is left out %s at its end', (_, text, value) => {
  expect(withoutLineEnd(text)).toBe(value);
});

test('each value of an environment loses its line end', () => {
  expect(withoutLineEnds({ KEY: 'id\r\n', SECRET: 'word\n', EMPTY: '', PLAIN: 'a' })).toEqual({
    KEY: 'id',
    SECRET: 'word',
    EMPTY: '',
    PLAIN: 'a',
  });
});
