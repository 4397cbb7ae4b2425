import { expect, test } from '@jest/globals';
import { Meter } from './meter.ts';

test('a meter gives no rate within its first second', () => {
  const meter = new Meter(10);
  meter.add(500, 0);

  expect(meter.perSecond(900)).toBeUndefined();
  expect(meter.perSecond(1_000)).toBe(500);
});

test('a meter gives the rate of the time that it has measured', () => {
  const meter = new Meter(10);
  for (let second = 0; second < 4; second += 1) meter.add(100, second * 1_000);

  expect(meter.perSecond(4_000)).toBe(100);
});

test('a meter forgets what is older than its span', () => {
  const meter = new Meter(10);
  meter.add(1_000_000, 0);
  for (let second = 1; second <= 20; second += 1) meter.add(100, second * 1_000);

  expect(meter.perSecond(20_999)).toBeCloseTo(100);
});

test('a meter gives no rate when nothing has happened within its span, and starts again', () => {
  const meter = new Meter(10);
  meter.add(100, 0);

  expect(meter.perSecond(30_000)).toBeUndefined();
  meter.add(70, 30_000);
  expect(meter.perSecond(31_000)).toBe(70);
});
