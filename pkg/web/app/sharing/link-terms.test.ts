import { expect, test } from '@jest/globals';
import { dayOf, deadReasons, endOfDay, hasEnded, latestEnd } from './link-terms.ts';
import { suggestedPassword } from './suggested-password.ts';

const NOW = new Date('2026-03-09T12:00:00Z');
const LINK = { is_active: true, expires_at: null, max_downloads: null, download_count: 3, blocked_by: [] };

test('a link works until it is switched off, ends, is used up or breaks a rule, and each reason is named', () => {
  expect(deadReasons(LINK, NOW)).toEqual([]);
  expect(deadReasons({ ...LINK, expires_at: '2026-03-09T12:00:01Z', max_downloads: 4 }, NOW)).toEqual([]);
  expect(
    deadReasons(
      { ...LINK, is_active: false, expires_at: '2026-03-09T12:00:00Z', max_downloads: 3, blocked_by: ['password_required'] },
      NOW,
    ),
  ).toEqual(['off', 'ended', 'usedUp', 'password_required']);
});

test('a link has ended once its end has passed or its downloads are used up, but not while it can be allowed again', () => {
  expect(hasEnded({ ...LINK, expires_at: '2026-03-09T12:00:00Z' }, NOW)).toBe(true);
  expect(hasEnded({ ...LINK, is_active: false, max_downloads: 3 }, NOW)).toBe(true);
  expect(hasEnded({ ...LINK, is_active: false, expires_at: '2026-03-09T12:00:01Z', max_downloads: 4 }, NOW)).toBe(false);
  expect(hasEnded({ ...LINK, blocked_by: ['password_required'] }, NOW)).toBe(false);
});

test('days count as 24 hours from when a link was made, and a day of a date field ends with its last second', () => {
  expect(latestEnd(NOW, 30)?.toISOString()).toBe('2026-04-08T12:00:00.000Z');
  expect(latestEnd(NOW, null)).toBeNull();
  expect(dayOf(endOfDay('2026-03-09'))).toBe('2026-03-09');
  expect(dayOf(new Date(endOfDay('2026-12-31').getTime() + 1000))).toBe('2027-01-01');
});

test('a suggested password has twelve letters of the alphabet, and skips bytes that would favour some', () => {
  const given = [255, 0, 30, 31, 254, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const password = suggestedPassword((length) => Uint8Array.from(given.splice(0, length)));

  expect(password).toBe('a9ab-cdef-ghjk');
});
