import { expect, test } from '@jest/globals';
import { cronInWords, cronOf, faultOf, NIGHTLY, timesOf } from './times.ts';

test('what the form can say comes back from its expression', () => {
  const expressions = ['15 * * * *', '0 3 * * *', '30 2 * * mon-fri', '5 23 * * sun', '0 6 31 * *'];

  expect(expressions.map((cron) => [timesOf(cron).often, cronOf(timesOf(cron))])).toEqual([
    ['hourly', '15 * * * *'],
    ['daily', '0 3 * * *'],
    ['weekdays', '30 2 * * mon-fri'],
    ['weekly', '5 23 * * sun'],
    ['monthly', '0 6 31 * *'],
  ]);
});

test('another spelling of the same times is the same form', () => {
  expect([timesOf('0 3 * * 1-5').often, timesOf('00 03 * * 7').weekday, timesOf('0 3 * * MON').weekday]).toEqual([
    'weekdays',
    0,
    1,
  ]);
});

test('an expression that says more than the form can stays as it is', () => {
  const expressions = ['*/5 * * * *', '0 3 1 * mon', '0 3 * jan *', '0 3,15 * * *', '0 * 1 * *', 'nonsense', '0 3 * * mon,fri'];

  expect(expressions.map((cron) => cronOf(timesOf(cron)))).toEqual(expressions);
  expect(new Set(expressions.map((cron) => timesOf(cron).often))).toEqual(new Set(['cron']));
});

test('an expression is said in words', () => {
  expect(cronInWords('0 3 * * *')).toMatch(/^Every day at 3:00\s?AM$|^Every day at 03:00$/);
  expect(cronInWords('0 3 * * mon')).toContain('Every Monday at');
  expect(cronInWords('*/5 * * * *')).toBe('At */5 * * * *');
});

test('a form has no expression without a day of a month and a time, where it needs them', () => {
  const monthly = { ...NIGHTLY, often: 'monthly' } as const;
  const faulty = ['', '0', '00', '32', '5.0', '1e1', '-1'].map((day) => faultOf({ ...monthly, day }));
  const right = ['1', '05', '31'].map((day) => [faultOf({ ...monthly, day }), cronOf({ ...monthly, day })]);

  expect(new Set(faulty)).toEqual(new Set(['day']));
  expect(right).toEqual([
    [undefined, '0 3 1 * *'],
    [undefined, '0 3 5 * *'],
    [undefined, '0 3 31 * *'],
  ]);
  expect(faultOf({ ...NIGHTLY, time: '', day: '' })).toBe('time');
  expect(faultOf({ ...NIGHTLY, often: 'hourly', time: '', day: '' })).toBe(undefined);
});
