import { expect, test } from '@jest/globals';
import type { Random } from '../runtime/random.ts';
import { RETRY_SECONDS, retryAfterMs, retryDelayMs } from './retry-schedule.ts';

const randomOf = (fraction: number): Random => ({ fraction: () => fraction }) as Random;

test('a delivery is tried ten times over about 3 days, never twice with the same wait', () => {
  const delays = (fraction: number): (number | null)[] =>
    RETRY_SECONDS.map((_, index) => retryDelayMs({ sent: index + 1, retryAfterMs: 0 }, RETRY_SECONDS, randomOf(fraction)));
  const days = (of: (number | null)[]): number => of.reduce<number>((sum, delay) => sum + (delay ?? 0), 0) / 86_400_000;

  expect(days(delays(0))).toBeGreaterThan(2);
  expect(days(delays(0.5))).toBeCloseTo(2.86, 1);
  expect(days(delays(0.999))).toBeLessThan(4);
  expect(retryDelayMs({ sent: RETRY_SECONDS.length + 1, retryAfterMs: 0 }, RETRY_SECONDS, randomOf(0))).toBeNull();
});

test('Retry-After lengthens a wait and never shortens it, up to a day', () => {
  const delay = (retryAfter: number) => retryDelayMs({ sent: 1, retryAfterMs: retryAfter }, [10], randomOf(0.5));
  expect([delay(0), delay(5_000), delay(60_000), delay(1e12)]).toEqual([10_000, 10_000, 60_000, 86_400_000]);
});

test.each([
  ['120', 120_000],
  [' 7 ', 7_000],
  ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000],
  ['Wed, 21 Oct 2026 07:00:00 GMT', 0],
  ['soon', 0],
  ['-5', 0],
  [undefined, 0],
  [['120', '7'], 120_000],
])('Retry-After %j is read as %i ms', (header, expected) => {
  expect(retryAfterMs(header, new Date('2026-10-21T07:28:00Z'))).toBe(expected);
});
