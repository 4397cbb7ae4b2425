import { expect, test } from '@jest/globals';
import { Semaphore } from './semaphore.ts';

test('a limited number of tasks runs at once, the others start in order, and a failed one frees its permit', async () => {
  const semaphore = new Semaphore(2);
  const started: number[] = [];
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<number>());
  const results = ends.map(({ promise }, at) =>
    semaphore.run(() => {
      started.push(at);
      return promise;
    }),
  );

  expect(started).toEqual([0, 1]);
  ends[1]?.reject(new Error('failed'));
  await expect(results[1]).rejects.toThrow('failed');
  expect(started).toEqual([0, 1, 2]);
  for (const [at, { resolve }] of ends.entries()) resolve(at);

  expect(await Promise.all([results[0], results[2], results[3]])).toEqual([0, 2, 3]);
  expect(started).toEqual([0, 1, 2, 3]);
});
