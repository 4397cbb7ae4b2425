import { expect, test } from '@jest/globals';
import { BodyBudget } from './body-budget.ts';

test('one owner holds at most a third, and all owners together hold at most the budget', () => {
  const budget = new BodyBudget(300);

  expect([budget.take('a', 100), budget.take('a', 1)]).toEqual([true, false]);
  expect([budget.take('b', 100), budget.take('c', 60), budget.take('d', 60)]).toEqual([true, true, false]);
  expect([budget.take('d', 40), budget.taken]).toEqual([true, 300]);
});

test('returned bytes can be taken again', () => {
  const budget = new BodyBudget(300);
  budget.take('a', 60);
  budget.take('a', 40);

  budget.give('a', 60);

  expect([budget.take('a', 61), budget.take('a', 60), budget.taken]).toEqual([false, true, 100]);
});
