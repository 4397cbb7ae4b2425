import { expect, test } from '@jest/globals';
import { numberToType, typedNumber } from './typed-number.ts';

test.each([
  ['en', '10', 10],
  ['en', ' 2.5 ', 2.5],
  ['en', '2,5', 2.5],
  ['en', '1.465', 1.465],
  ['en', '1,000', undefined],
  ['en', '1,000.5', undefined],
  ['en', '12,000,000', undefined],
  ['de', '2,5', 2.5],
  ['de', '2.5', 2.5],
  ['de', '1,465', 1.465],
  ['de', '1.500', undefined],
  ['de', '1.500,5', undefined],
  ['de-CH', '1.465', 1.465],
  ['en', '.5', 0.5],
  ['en', '3.', 3],
  ['en', '', undefined],
  ['en', '.', undefined],
  ['en', '-1', undefined],
  ['en', '1e3', undefined],
  ['en', '0x10', undefined],
  ['en', 'ten', undefined],
])('in %s the text %j is the number %j', (locale, text, number) => {
  expect(typedNumber(text, locale)).toBe(number);
});

test.each(['en', 'de', 'de-CH', 'en-IN'])('a number that is shown in %s is read as the same again', (locale) => {
  const numbers = [0, 0.125, 1.465, 2.5, 999.999, 1000, 123_456.7];

  expect(numbers.map((number) => typedNumber(numberToType(number, locale), locale))).toEqual(numbers);
});
