import { expect, test } from '@jest/globals';
import { Gather } from './gather.ts';

test('what is asked while a call is under way goes together with the next, and each has its own answer', async () => {
  const calls: number[][] = [];
  const doubled = new Gather<number, number>(async (asks) => {
    calls.push([...asks]);
    await new Promise((resolve) => setImmediate(resolve));
    return asks.map((ask) => 2 * ask);
  });

  const first = [doubled.ask(1), doubled.ask(2)];
  await new Promise((resolve) => setImmediate(resolve));
  const later = [doubled.ask(3), doubled.ask(4)];

  expect(await Promise.all([...first, ...later])).toEqual([2, 4, 6, 8]);
  expect(calls).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test('of 450 questions none goes with more than 199 others', async () => {
  const sizes: number[] = [];
  const same = new Gather<number, number>(async (asks) => {
    sizes.push(asks.length);
    return asks;
  });

  const answers = await Promise.all(Array.from({ length: 450 }, (_, at) => same.ask(at)));

  expect(answers).toEqual(Array.from({ length: 450 }, (_, at) => at));
  expect(sizes).toEqual([200, 200, 50]);
});

test('a call that fails fails for its own questions, and the next ones are answered', async () => {
  let fails = true;
  const once = new Gather<number, number>(async (asks) => {
    if (fails) throw new Error('away');
    return asks;
  });

  const [one, other] = await Promise.allSettled([once.ask(1), once.ask(2)]);
  fails = false;

  expect([one.status, other.status, await once.ask(3)]).toEqual(['rejected', 'rejected', 3]);
});
