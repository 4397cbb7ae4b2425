import { expect, test } from '@jest/globals';
import { Batcher } from './batcher.ts';

test('items that are submitted while a call is running go together with the next one, and each gets its own result', async () => {
  const calls: number[][] = [];
  const doubled = new Batcher<number, number>(async (items) => {
    calls.push([...items]);
    await new Promise((resolve) => setImmediate(resolve));
    return items.map((item) => 2 * item);
  });

  const first = [doubled.submit(1), doubled.submit(2)];
  await new Promise((resolve) => setImmediate(resolve));
  const later = [doubled.submit(3), doubled.submit(4)];

  expect(await Promise.all([...first, ...later])).toEqual([2, 4, 6, 8]);
  expect(calls).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test('`atOnce` calls run at once; items that are submitted meanwhile go with the next one', async () => {
  const calls: number[][] = [];
  const running: PromiseWithResolvers<void>[] = [];
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const same = new Batcher<number, number>(
    async (items) => {
      calls.push([...items]);
      running.push(Promise.withResolvers());
      await running.at(-1)?.promise;
      return items;
    },
    { atOnce: 2 },
  );

  const results: Promise<number>[] = [];
  for (const [one, other] of [
    [1, 2],
    [3, 4],
    [5, 6],
  ] as const) {
    results.push(same.submit(one), same.submit(other));
    await turn();
  }
  const before = calls.length;
  running[0]?.resolve();
  await results[0];
  await turn();
  for (const { resolve } of running) resolve();

  expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5, 6]);
  expect([before, calls]).toEqual([
    2,
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
  ]);
});

test('450 items go in calls of at most 200', async () => {
  const sizes: number[] = [];
  const same = new Batcher<number, number>(async (items) => {
    sizes.push(items.length);
    return items;
  });

  const results = await Promise.all(Array.from({ length: 450 }, (_, at) => same.submit(at)));

  expect(results).toEqual(Array.from({ length: 450 }, (_, at) => at));
  expect(sizes).toEqual([200, 200, 50]);
});

test('a failed call rejects its own items only, and the next items succeed', async () => {
  let fails = true;
  const once = new Batcher<number, number>(async (items) => {
    if (fails) throw new Error('unavailable');
    return items;
  });

  const [one, other] = await Promise.allSettled([once.submit(1), once.submit(2)]);
  fails = false;

  expect([one.status, other.status, await once.submit(3)]).toEqual(['rejected', 'rejected', 3]);
});
