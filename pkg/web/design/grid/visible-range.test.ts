import { expect, test } from '@jest/globals';
import { scrollNeeded, visibleRange } from './visible-range.ts';

const at = (top: number, count = 100_000) => visibleRange({ top, screen: 880, row: 44, count });

test('of 100,000 rows those on the screen are rendered, and eight more on each side', () => {
  expect([at(0), at(-44_000), at(-4_399_120)]).toEqual([
    { start: 0, end: 28 },
    { start: 992, end: 1028 },
    { start: 99_972, end: 100_000 },
  ]);
});

test('a list below the screen, above it, or without rows renders what there is', () => {
  expect([at(2_000), at(-10_000_000), at(0, 0), at(0, 3)]).toEqual([
    { start: 0, end: 0 },
    { start: 100_000, end: 100_000 },
    { start: 0, end: 0 },
    { start: 0, end: 3 },
  ]);
});

test('a row that is seen whole needs no scrolling', () => {
  expect([
    scrollNeeded({ top: 50, bottom: 94 }, 40, 800),
    scrollNeeded({ top: 10, bottom: 54 }, 40, 800),
    scrollNeeded({ top: 790, bottom: 834 }, 40, 800),
  ]).toEqual([0, -30, 34]);
});
