import { expect, test } from '@jest/globals';
import { settled } from '../../../test/support/clock.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import { ReplyBudget } from './reply-budget.ts';

test('no store has more than a third of the budget, and a reply waits until its store’s share allows', async () => {
  const budget = new ReplyBudget({ bytes: 30 });
  const first = await budget.take('a', 8);
  let second: (() => void) | undefined;
  void budget.take('a', 8).then((release) => (second = release));
  await budget.take('b', 8);
  await settled();
  expect([second, budget.taken]).toEqual([undefined, 16]);

  first();
  first();
  await settled();

  expect([typeof second, budget.taken]).toEqual(['function', 16]);
});

test('a reply without room in time is abandoned', async () => {
  const budget = new ReplyBudget({ bytes: 10, waitLimitMs: 5 });
  await budget.take('a', 10);

  await expect(budget.take('b', 1)).rejects.toThrow(StoreUnavailableError);
  expect(budget.taken).toBe(10);
});
