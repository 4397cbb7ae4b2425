import { expect, test } from '@jest/globals';
import { once } from './once.ts';

test('concurrent and later callers share one run', async () => {
  let runs = 0;
  const run = once(async () => ++runs);

  expect(await Promise.all([run(), run()])).toEqual([1, 1]);
  expect(await run()).toBe(1);
});

test('a failed run is retried by the next caller, and its callers get its error', async () => {
  let runs = 0;
  const run = once(async () => {
    runs += 1;
    if (runs === 1) throw new Error('not yet');
    return runs;
  });

  expect(await Promise.allSettled([run(), run()])).toMatchObject([
    { reason: { message: 'not yet' } },
    { reason: { message: 'not yet' } },
  ]);
  expect(await run()).toBe(2);
});
