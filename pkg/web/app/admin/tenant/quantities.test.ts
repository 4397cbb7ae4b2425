import { expect, test } from '@jest/globals';
import { periodOf, quantityOf } from './quantities.ts';

test.each([
  [0, '0'],
  [1_023, '1023'],
  [1_024, '1Ki'],
  [1_536, '1536'],
  [10 * 1024 ** 3, '10Gi'],
  [1_536 * 1024 ** 3, '1536Gi'],
  [10_000_000_000, '9765625Ki'],
  [7 * 1024 ** 5, '7Pi'],
  [2 ** 53 - 1, '9007199254740991'],
])('%d bytes are the quantity %s', (bytes, quantity) => {
  expect(quantityOf(bytes)).toBe(quantity);
});

test.each([
  [3_600, '1h'],
  [36 * 3_600, '36h'],
  [86_400, '1d'],
  [30 * 86_400, '30d'],
])('%d seconds are the period %s', (seconds, period) => {
  const { number, unit } = periodOf(seconds);

  expect(`${number}${unit}`).toBe(period);
});
