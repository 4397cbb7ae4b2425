import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { backOffMs } from './backoff.ts';
import { systemRandom } from './random.ts';

const backOff = { baseMs: 100, maxMs: 5_000, jitter: 0.5 };
const fixed = (fraction: number) => ({ ...systemRandom, fraction: () => fraction });

test('the delay doubles with each attempt up to the maximum', () => {
  expect([1, 2, 3, 6, 7, 8].map((attempt) => backOffMs(backOff, attempt, fixed(0)))).toEqual([100, 200, 400, 3200, 5000, 5000]);
});

test('jitter takes off at most its share, and every attempt has a delay in range', () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 0.999_999, noNaN: true }), (attempt, fraction) => {
      const delay = backOffMs(backOff, attempt, fixed(fraction));
      return delay >= backOff.baseMs * 0.5 && delay <= backOff.maxMs;
    }),
  );
});
