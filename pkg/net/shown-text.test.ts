import { expect, test } from '@jest/globals';
import { shownText } from './shown-text.ts';

test.each([
  ['', ''],
  ['  a\r\n\tb\u0000\u202ec  ', 'a b c'],
  ['<!doctype html><style>b{}</style><h1>No</h1><p>such <b>user</b>', 'No such user'],
  ['<script>alert(1)', ''],
  ['the token s3cret is s3cret', 'the token … is …'],
  ['x'.repeat(201), `${'x'.repeat(200)}…`],
  ['😀'.repeat(300), `${'😀'.repeat(200)}…`],
  ['{"error":"x"}', '{"error":"x"}'],
])('the text %j is shown as %j', (text, shown) => {
  expect(shownText(text, ['s3cret'])).toBe(shown);
});

test('hostile text of a megabyte is shown at once', () => {
  const before = process.cpuUsage();
  for (const text of ['<'.repeat(1e6), '<script '.repeat(1e5), '<a '.repeat(3e5)]) shownText(text, ['s3cret']);
  // CPU time does not include other programs on a busy machine.
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
});
