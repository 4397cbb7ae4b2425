import { expect, test } from '@jest/globals';
import { limitedTo } from './limited-to.ts';

test('so many run at once, the rest in their order, also after one has failed', async () => {
  const run = limitedTo(2);
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const work = (name: string): Promise<void> =>
    run(() => {
      begun.push(name);
      const end = Promise.withResolvers<void>();
      ends.set(name, end);
      return end.promise;
    });
  const all = ['a', 'b', 'c', 'd'].map(work);
  expect(begun).toEqual(['a', 'b']);

  ends.get('a')?.reject(new Error('refused'));
  await expect(all[0]).rejects.toThrow('refused');
  expect(begun).toEqual(['a', 'b', 'c']);
  ends.get('c')?.resolve();
  await all[2];
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  for (const name of ['b', 'd']) ends.get(name)?.resolve();
  await Promise.all([all[1], all[3]]);
});
