import { describe, expect, test } from '@jest/globals';
import { decideTick, firstTick, MISSED_AFTER_MS, offsetOf, runAt } from './tick.policy.ts';

const SLUG = 'biology';
const OFFSET = offsetOf(SLUG);
const HOURLY = { cron: '0 * * * *', timeZone: 'UTC' };
const at = (time: string, ms = 0): Date => new Date(Date.parse(`2026-01-01T${time}:00Z`) + ms);
/** Decides `lateMs` milliseconds after the run of 03:00 is due. */
const decide = (lateMs: number, state: { catchUp?: boolean; isRunning?: boolean } = {}) =>
  decideTick(
    { ...HOURLY, tick: at('03:00'), catchUp: true, isRunning: false, now: at('03:00', OFFSET + lateMs), ...state },
    SLUG,
  );

test('the offset of a tenant stays the same, is below a minute, and differs between tenants', () => {
  const offsets = Array.from({ length: 1_000 }, (_, n) => offsetOf(`tenant-${n}`));

  expect(offsetOf(SLUG)).toBe(OFFSET);
  expect(Math.min(...offsets)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...offsets)).toBeLessThan(60_000);
  // No second of the minute has much more than its share.
  const seconds = Map.groupBy(offsets, (offset) => Math.floor(offset / 1_000));
  expect(seconds.size).toBe(60);
  expect(Math.max(...[...seconds.values()].map(({ length }) => length))).toBeLessThan(40);
});

test('the first tick is the one whose run is ahead, even within the minute of the tick', () => {
  expect(firstTick(HOURLY, at('03:00', OFFSET - 1), SLUG)).toEqual(at('03:00'));
  expect(firstTick(HOURLY, at('03:00', OFFSET), SLUG)).toEqual(at('04:00'));
  expect(runAt(at('03:00'), SLUG)).toEqual(at('03:00', OFFSET));
});

describe('a tick', () => {
  test('that is not due stays the next', () => {
    expect(decide(-1)).toEqual({ outcome: 'early', next: at('03:00'), lateMs: -1 });
  });

  test.each([0, 1_000, MISSED_AFTER_MS])('that has been due for %i ms is a run, and the next hour follows', (lateMs) => {
    expect(decide(lateMs)).toEqual({ outcome: 'run', next: at('04:00'), lateMs });
    expect(decide(lateMs, { catchUp: false }).outcome).toBe('run');
  });

  test('that finds the previous run active is skipped', () => {
    expect(decide(0, { isRunning: true })).toMatchObject({ outcome: 'skipped', next: at('04:00') });
  });

  test('that a clock passed by two hours is one run, or none without catch_up, and the hours in between do not run', () => {
    const jump = 2 * 3_600_000;
    expect(decide(jump)).toMatchObject({ outcome: 'run', next: at('06:00') });
    expect(decide(jump, { catchUp: false })).toMatchObject({ outcome: 'missed', next: at('06:00') });
  });

  test('that a clock was set back before is not due again', () => {
    expect(decide(-2 * 3_600_000)).toMatchObject({ outcome: 'early', next: at('03:00') });
  });
});
