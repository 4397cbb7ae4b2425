import { describe, expect, test } from '@jest/globals';
import { Cron, cronFault, timeZoneFault } from './cron.ts';

const after = (expression: string, timeZone: string, time: string, times = 1): string[] => {
  const cron = new Cron(expression, timeZone);
  const found: string[] = [];
  for (let last = new Date(time); found.length < times; found.push(last.toISOString())) last = cron.nextAfter(last);
  return found;
};

describe('the next time', () => {
  test.each([
    ['is after the time itself', '0 3 * * *', 'UTC', '2026-01-01T03:00:00Z', '2026-01-02T03:00:00.000Z'],
    ['is a whole minute', '* * * * *', 'UTC', '2026-01-01T03:00:00.001Z', '2026-01-01T03:01:00.000Z'],
    ['is in the time zone', '30 3 * * *', 'Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01T22:00:00.000Z'],
    ['takes names in any case', '0 0 * JAN Mon', 'UTC', '2026-01-01T00:00:00Z', '2026-01-05T00:00:00.000Z'],
    ['takes 7 for Sunday', '0 0 * * 7', 'UTC', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00.000Z'],
    ['takes a range to 7', '0 0 * * 6-7', 'UTC', '2026-01-03T00:00:00Z', '2026-01-04T00:00:00.000Z'],
    ['takes lists of ranges with steps', '5-20/5,50 * * * *', 'UTC', '2026-01-01T00:20:00Z', '2026-01-01T00:50:00.000Z'],
    ['matches either day if both day fields are set', '0 0 13 * fri', 'UTC', '2026-01-09T00:00:00Z', '2026-01-13T00:00:00.000Z'],
    ['matches both day fields if one is *', '0 0 * * fri', 'UTC', '2026-01-09T00:00:00Z', '2026-01-16T00:00:00.000Z'],
    ['is in a leap year', '0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    [
      'is eight years ahead where a century has no leap year',
      '0 0 29 2 *',
      'UTC',
      '2096-03-01T00:00:00Z',
      '2104-02-29T00:00:00.000Z',
    ],
  ])('%s', (_what, expression, timeZone, time, next) => {
    expect(after(expression, timeZone, time)).toEqual([next]);
  });

  test('for a local time that the clock skips is on the day after', () => {
    expect(after('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-30T00:30:00.000Z',
      '2026-03-31T00:30:00.000Z',
    ]);
  });

  test('for a local time that occurs twice is the first of the two, once', () => {
    expect(after('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  test('is not in the repeated hour, even if asked within it', () => {
    expect(after('*/30 * * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z', 2)).toEqual([
      '2026-10-25T02:00:00.000Z',
      '2026-10-25T02:30:00.000Z',
    ]);
    expect(after('*/30 * * * *', 'Europe/Berlin', '2026-10-25T01:15:00Z')).toEqual(['2026-10-25T02:00:00.000Z']);
  });

  test('skips a day that a zone left out', () => {
    expect(after('0 12 * * *', 'Pacific/Apia', '2011-12-29T23:00:00Z')).toEqual(['2011-12-30T22:00:00.000Z']);
  });

  test('follows a change of half an hour', () => {
    expect(after('15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T16:00:00Z', 2)).toEqual([
      '2026-10-04T15:15:00.000Z',
      '2026-10-05T15:15:00.000Z',
    ]);
  });
});

describe('an expression is refused', () => {
  test.each([
    ['0 0 * *', 'must have five fields (minute, hour, day of month, month, day of week), such as "0 3 * * mon-fri", and has 4'],
    [
      '0 0 0 * * *',
      'must have five fields (minute, hour, day of month, month, day of week), such as "0 3 * * mon-fri", and has 6',
    ],
    ['@daily', 'must have five fields (minute, hour, day of month, month, day of week), such as "0 3 * * mon-fri", and has 1'],
    ['60 0 * * *', 'minute: "60" is not one of 0 to 59'],
    ['0 24 * * *', 'hour: "24" is not one of 0 to 23'],
    ['0 0 0 * *', 'day of month: "0" is not one of 1 to 31'],
    ['0 0 * 13 *', 'month: "13" is not one of 1 to 12 or jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec'],
    ['0 0 * * 8', 'day of week: "8" is not one of 0 to 7 or sun, mon, tue, wed, thu, fri, sat'],
    ['0 0 * * montag', 'day of week: "montag" is not one of 0 to 7 or sun, mon, tue, wed, thu, fri, sat'],
    ['0 22-2 * * *', 'hour: the range 22-2 ends before it begins: write it as two, separated by a comma'],
    ['5/15 * * * *', 'minute: a step needs a range: write 5-59/15 instead of 5/15'],
    ['*/0 * * * *', 'minute: a step is 1 to 59'],
    ['0 0 * * */8', 'day of week: a step is 1 to 7'],
    ['0 0 */32 * *', 'day of month: a step is 1 to 31'],
    ['0 0 L * *', 'day of month: "L" is not one of 1 to 31'],
    ['0 0 15W * *', 'day of month: "15W" is not *, a number, a range such as 1-31, or one of these with a step'],
    ['0 0 ? * *', 'day of month: "?" is not *, a number, a range such as 1-31, or one of these with a step'],
    ['0 0 * * mon#2', 'day of week: "mon#2" is not *, a number, a range such as 0-7, or one of these with a step'],
    ['0 0 * * +1', 'day of week: "+1" is not *, a number, a range such as 0-7, or one of these with a step'],
    ['0,,5 * * * *', 'minute: "" is not *, a number, a range such as 0-59, or one of these with a step'],
    ['-1 * * * *', 'minute: "-1" is not *, a number, a range such as 0-59, or one of these with a step'],
    ['0 0 30 2 *', 'never matches: the given months do not have such a day'],
    ['0 0 31 4,6,9,11 *', 'never matches: the given months do not have such a day'],
    [`${'1,'.repeat(50)}1 * * * *`, 'must have at most 100 characters'],
  ])('%s', (expression, fault) => {
    expect(cronFault(expression)).toBe(fault);
    expect(() => new Cron(expression, 'UTC')).toThrow(fault);
  });
});

test.each(['', '+02:00', 'CEST+1', 'Europe/Bielefeld', 'local', 'Europe/Berlin; DROP'])(
  'the time zone "%s" is refused',
  (timeZone) => {
    expect(timeZoneFault(timeZone)).toBe('must be an IANA time zone, such as Europe/Berlin or UTC');
    expect(() => new Cron('0 0 * * *', timeZone)).toThrow(RangeError);
  },
);

test.each(['UTC', 'Europe/Berlin', 'US/Eastern', 'america/new_york', 'Etc/GMT+5'])('the time zone %s is accepted', (timeZone) => {
  expect(timeZoneFault(timeZone)).toBeNull();
});
