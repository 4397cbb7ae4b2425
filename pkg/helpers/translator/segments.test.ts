import { expect, test } from '@jest/globals';
import { segmentsOf } from './segments.ts';

test.each([
  ['one line\nand another', 12, ['one line\n', 'and another']],
  ['One. Two three', 10, ['One. ', 'Two three']],
  ['one two three', 9, ['one two ', 'three']],
  ['\u{1F600}\u{1F600}\u{1F600}', 3, ['\u{1F600}', '\u{1F600}', '\u{1F600}']],
])('%j is cut at the best place within %d', (text, most, segments) => {
  expect(segmentsOf(text, most)).toEqual(segments);
});

test('a long text whose last sentences have no end is cut without a look at each pair of places', () => {
  const text = 'a. '.repeat(50_000) + 'x'.repeat(200_000);
  const began = process.cpuUsage();

  const segments = segmentsOf(text, 300_000);

  const { user } = process.cpuUsage(began);
  expect(segments.join('')).toBe(text);
  expect(segments[0]?.length).toBe(150_000);
  expect(user / 1_000).toBeLessThan(1_500);
});
