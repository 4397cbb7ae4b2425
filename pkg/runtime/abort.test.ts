import { expect, test } from '@jest/globals';
import { ManualClock } from '../../test/support/clock.ts';
import { abortable, atMost, sleepUnlessAborted, whenAborted } from './abort.ts';
import { systemClock } from './clock.ts';

test('whenAborted resolves at the abort, and at once if it was already aborted', async () => {
  const ending = new AbortController();
  const aborted = whenAborted(ending.signal);
  ending.abort();

  await aborted;
  await whenAborted(ending.signal);
});

test('work that is abortable ends as it would, or with the reason of the abort', async () => {
  const ending = new AbortController();
  const never = abortable(new Promise(() => {}), ending.signal);

  expect(await abortable(Promise.resolve('done'), ending.signal)).toBe('done');
  await expect(abortable(Promise.reject(new Error('failed')), ending.signal)).rejects.toThrow('failed');
  ending.abort(new Error('stopping'));
  await expect(never).rejects.toThrow('stopping');
  await expect(abortable(Promise.resolve('done'), ending.signal)).rejects.toThrow('stopping');
});

test('a sleep that is aborted ends quietly, and another failure is thrown', async () => {
  const { signal } = new AbortController();
  const broken = { sleep: () => Promise.reject(new Error('no clock')) };

  await sleepUnlessAborted(systemClock, 60_000, AbortSignal.abort());
  await expect(sleepUnlessAborted(broken, 1, signal)).rejects.toThrow('no clock');
});

test('atMost ends with the work or after the time, and leaves no timer', async () => {
  const clock = new ManualClock();

  await atMost(clock, 60_000, Promise.resolve());
  expect(clock.sleepers).toBe(0);
  const late = atMost(clock, 60_000, new Promise(() => {}));
  await clock.advance(60_000);
  await late;
  expect(clock.sleepers).toBe(0);
});
