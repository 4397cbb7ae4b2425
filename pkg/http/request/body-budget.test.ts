import { expect, test } from '@jest/globals';
import { BodyBudget } from './body-budget.ts';

test('no owner has more than a third, and all together have no more than the budget', () => {
  const budget = new BodyBudget(300);

  expect([budget.take('a', 100), budget.take('a', 1)]).toEqual([true, false]);
  expect([budget.take('b', 100), budget.take('c', 60), budget.take('d', 60)]).toEqual([true, true, false]);
  expect([budget.take('d', 40), budget.taken]).toEqual([true, 300]);
});

test('what is given back may be taken again', () => {
  const budget = new BodyBudget(300);
  budget.take('a', 60);
  budget.take('a', 40);

  budget.give('a', 60);

  expect([budget.take('a', 61), budget.take('a', 60), budget.taken]).toEqual([false, true, 100]);
});
