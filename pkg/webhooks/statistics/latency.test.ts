import { expect, test } from '@jest/globals';
import { bucketOf, LATENCY_BUCKETS, quantile } from './latency.ts';

const countsOf = (times: readonly number[]): number[] => {
  const counts = Array.from({ length: LATENCY_BUCKETS }, () => 0);
  for (const ms of times) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
  return counts;
};

test.each([
  ['evenly spread times', Array.from({ length: 2_000 }, (_, n) => n + 1)],
  ['times that are all the same', Array.from({ length: 100 }, () => 37)],
  ['fast ones and a slow tail', [...Array.from({ length: 900 }, () => 12), ...Array.from({ length: 100 }, (_, n) => 9_000 + n)]],
])('quantiles of %s are known to within 20 percent and a millisecond', (_what, times) => {
  const sorted = times.toSorted((a, b) => a - b);
  for (const share of [0.5, 0.95]) {
    const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
    const found = quantile(countsOf(times), share) ?? 0;
    expect(Math.abs(found - exact)).toBeLessThanOrEqual(0.2 * exact + 1);
  }
});

test('an empty set has no quantile, and times below a millisecond or above a minute count', () => {
  expect(quantile(countsOf([]), 0.5)).toBeNull();
  expect([bucketOf(0), bucketOf(0.4), bucketOf(1), bucketOf(1.1), bucketOf(600_000)]).toEqual([0, 0, 0, 1, LATENCY_BUCKETS - 1]);
  expect(quantile(countsOf([0.2]), 0.95)).toBe(1);
});
