import { expect, test } from '@jest/globals';
import { sleepUnlessAborted, whenAborted } from './abort.ts';
import { systemClock } from './clock.ts';

test('whenAborted resolves at the abort, and at once where that has been', async () => {
  const ending = new AbortController();
  const aborted = whenAborted(ending.signal);
  ending.abort();

  await aborted;
  await whenAborted(ending.signal);
});

test('a sleep that is aborted ends quietly, and another failure is thrown', async () => {
  const { signal } = new AbortController();
  const broken = { sleep: () => Promise.reject(new Error('no clock')) };

  await sleepUnlessAborted(systemClock, 60_000, AbortSignal.abort());
  await expect(sleepUnlessAborted(broken, 1, signal)).rejects.toThrow('no clock');
});
