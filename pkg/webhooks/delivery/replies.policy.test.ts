import { expect, test } from '@jest/globals';
import { healthOf, outcomeOf, resultOfEgressError, resultOfReply } from './replies.policy.ts';

test.each([
  [200, 'delivered', 'well'],
  [204, 'delivered', 'well'],
  [299, 'delivered', 'well'],
  [301, 'retried', 'failing'],
  [404, 'retried', 'failing'],
  [410, 'failed', 'gone'],
  [429, 'retried', 'failing'],
  [503, 'retried', 'failing'],
])('after a %i a delivery with attempts left is %s, and its receiver %s', (status, outcome, health) => {
  const result = resultOfReply(status);

  expect([outcomeOf(result, 5_000).state, healthOf(result)]).toEqual([outcome, health]);
});

test('a delivery whose last attempt failed is failed, and says what the receiver answered', () => {
  const result = resultOfReply(500);

  expect(outcomeOf(result, null)).toEqual({ state: 'failed' });
  expect(result).toEqual({ status_code: 500, error: 'the receiver answered 500' });
});

test('a failed delivery is retried after the delay of the schedule', () => {
  expect(outcomeOf(resultOfReply(500), 60_000)).toEqual({ state: 'retried', delayMs: 60_000 });
});

test('the last attempt may succeed', () => {
  expect(outcomeOf(resultOfReply(202), null)).toEqual({ state: 'delivered' });
});

test.each([
  [200, null],
  [500, 'broke off'],
  [undefined, 'broke off'],
])('without a whole reply only the status counts: %s', (status, error) => {
  expect(resultOfEgressError({ status, message: 'broke off' })).toEqual({ status_code: status ?? null, error });
});
