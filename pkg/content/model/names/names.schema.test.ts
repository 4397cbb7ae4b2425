import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NAME_PATTERN } from './names.schema.ts';
import { nameFault, normalName } from './names.policy.ts';

const inBmp = fc
  .string({ unit: 'grapheme-composite', minLength: 1, maxLength: 20 })
  .filter((text) => !/[\ud800-\udfff]/.test(text));
const odd = fc.string({
  unit: fc.constantFrom(
    ...Array.from(
      '.. /\\a\u0000\u0009\u0020\u007f\u00a0\u00ad\u061c\u200b\u200e\u202e\u2069\u2800\u3164\ufe0f\ufeff\ufffd\u180e\u115f\u034f',
    ),
  ),
  minLength: 1,
  maxLength: 6,
});

test('the pattern of a name in the API description accepts exactly the valid names', () => {
  const pattern = new RegExp(NAME_PATTERN);
  fc.assert(
    fc.property(fc.oneof(inBmp, odd), (text) => {
      fc.pre(normalName(text) === text);
      expect([text, pattern.test(text)]).toEqual([text, nameFault(text) === null]);
    }),
    { numRuns: 5_000 },
  );
});
