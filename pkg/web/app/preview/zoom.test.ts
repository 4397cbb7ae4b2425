import { expect, test } from '@jest/globals';
import { nextZoom } from './zoom.ts';

test('zoom goes from step to step, from whatever size fits, and ends at both ends', () => {
  expect([nextZoom(0.333, 1), nextZoom(0.333, -1), nextZoom(1, 1), nextZoom(1, -1), nextZoom(8, 1), nextZoom(0.05, -1)]).toEqual([
    0.5, 0.25, 1.5, 0.75, 8, 0.05,
  ]);
});
