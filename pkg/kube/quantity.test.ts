import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareQuantities, parseQuantity, QuantityError, quantityToNumber, sameQuantity } from './quantity.ts';

test.each([
  ['0.5', '500m'],
  ['1024Mi', '1Gi'],
  ['1Gi', '1073741824'],
  ['1e3', '1k'],
  ['1E', '1000000000000000000'],
  ['.5', '500m'],
  ['5.', '5'],
  ['+1', '1'],
  ['0', '-0'],
  ['1.5Gi', '1536Mi'],
  ['100n', '0.1u'],
])('%s is as much as %s', (a, b) => {
  expect(compareQuantities(a, b)).toBe(0);
});

test.each(['', '.', 'Gi', '1 Gi', '1gi', '1KB', '0x10', '1e', 'NaN', '--1', '1e1Gi'])('%j is not a quantity', (text) => {
  expect(() => parseQuantity(text)).toThrow(QuantityError);
  expect(sameQuantity(text, text)).toBe(false);
});

test('numbers are whole units', () => {
  expect(quantityToNumber('10Gi')).toBe(10_737_418_240);
  expect(quantityToNumber('250m')).toBe(0.25);
});

test('quantities are ordered by amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.bigInt({ min: 0n, max: 10n ** 12n }), (a, b) => {
      const order = a < b ? -1 : a > b ? 1 : 0;
      expect(compareQuantities(`${a}m`, `${b}m`)).toBe(order);
      expect(compareQuantities(`${a}Mi`, `${b * 1024n}Ki`)).toBe(order);
    }),
  );
});
