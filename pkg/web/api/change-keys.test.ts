import { expect, test } from '@jest/globals';
import { ChangeKeys, isUndecided } from './change-keys.ts';
import { ApiProblem, problemOf, unreachable } from './problem.ts';

test('the same content has the same key until the change is made, and other content has another', () => {
  const { keyOf } = new ChangeKeys();
  const [chess, club, again] = [keyOf('Chess'), keyOf('Chess club'), keyOf('Chess')];

  expect([again === chess, club === chess]).toEqual([true, false]);
});

test('after the change is made, the same content is a new change', () => {
  const keys = new ChangeKeys();
  const first = keys.keyOf('Chess');
  keys.clear();

  expect(keys.keyOf('Chess')).not.toBe(first);
});

test.each([
  ['a lost reply', unreachable(), true],
  ['an error of the page after the reply', problemOf(new Error('broken')), true],
  ['a request in progress', new ApiProblem({ status: 409, code: 'conflict', message: '', retryAfter: 1 }), true],
  ['a change by somebody else', new ApiProblem({ status: 409, code: 'conflict', message: '' }), false],
  ['a refusal', new ApiProblem({ status: 409, code: 'name_conflict', message: '' }), false],
])('%s leaves open whether the change was made: %#', (_what, problem, isOpen) => {
  expect(isUndecided(problem)).toBe(isOpen);
});
