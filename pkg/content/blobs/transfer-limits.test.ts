import { expect, test } from '@jest/globals';
import { leastRate, TRANSFER_LIMITS } from './transfer-limits.ts';

test.each([
  [0, 1],
  [0.5, 1],
  [0.75, 16.5],
  [1, 32],
  [2, 32],
])('while %d of the downloads are taken, a client has to take %d KiB a second', (taken, kib) => {
  expect(leastRate(TRANSFER_LIMITS, taken) / 1024).toBe(kib);
});

test('300 students behind one address who open one link at once stay below the limits, on a line of 100 Mbit/s', () => {
  const { byLinks, byLinksOfOwner, byLinksToNetwork } = TRANSFER_LIMITS;
  expect(Math.min(byLinksOfOwner, byLinksToNetwork)).toBeGreaterThanOrEqual(300);
  expect(leastRate(TRANSFER_LIMITS, 300 / byLinks)).toBeLessThan(100_000_000 / 8 / 300);
});
