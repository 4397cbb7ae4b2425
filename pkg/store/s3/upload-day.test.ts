import { expect, test } from '@jest/globals';
import { dayOf, lastWriteOf } from './upload-day.ts';
import { HOUR_MS } from '../../runtime/time.ts';

test.each(['2026-01-31T23:59:50.000Z', '2028-02-29T00:00:00.000Z', '2026-12-31T12:00:00.000Z'])(
  'an upload begun at %s, with a day and an hour of commit, is written before the last write of its day, also on a fast clock',
  (begins) => {
    const began = new Date(begins);
    const committed = began.getTime() + 25 * HOUR_MS + HOUR_MS / 2;
    expect(lastWriteOf(dayOf(began)).getTime()).toBeGreaterThan(committed);
  },
);

test('the last write of a day is 26 hours after its end', () => {
  expect(lastWriteOf('20261231')).toEqual(new Date('2027-01-02T02:00:00.000Z'));
});
