import { expect, test } from '@jest/globals';
import { agoIn, sizeIn, timeIn } from './format.ts';

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1_023, '1,023 bytes'],
  [1_024, '1 kB'],
  [1_280, '1.25 kB'],
  [12_345, '12.1 kB'],
  [1_048_063, '1,023 kB'],
  [1_048_575, '1 MB'],
  [1_073_741_824, '1 GB'],
  [5 * 2 ** 60, '5,120 PB'],
])('%d bytes are %s', (bytes, words) => {
  expect(sizeIn('en', bytes)).toBe(words);
});

test('a size follows the language', () => {
  expect(sizeIn('de', 1_310_720).replace(/\s/u, ' ')).toBe('1,25 MB');
});

const NOW = new Date('2026-03-10T12:00:00Z');

test.each([
  ['2026-03-10T11:59:50Z', 'now'],
  ['2026-03-10T11:57:00Z', '3 minutes ago'],
  ['2026-03-10T12:05:00Z', 'in 5 minutes'],
  ['2026-03-10T09:00:00Z', '3 hours ago'],
  ['2026-03-09T12:00:00Z', 'yesterday'],
  ['2026-03-05T12:00:00Z', '5 days ago'],
  ['2026-02-01T12:00:00Z', 'Feb 1'],
  ['2025-02-01T12:00:00Z', 'Feb 1, 2025'],
])('%s is %s', (time, words) => {
  expect(agoIn('en', new Date(time), NOW)).toBe(words);
});

test('a time in full has its date and year', () => {
  expect(timeIn('en', NOW)).toMatch(/^Tuesday, March 10, 2026 at \d{1,2}:00\s[AP]M$/u);
});
