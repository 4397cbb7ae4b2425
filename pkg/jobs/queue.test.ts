import { expect, test } from '@jest/globals';
import { ticketsOf } from './queue.ts';

const lease = (tenant: string, id: number) => ({ tenant, id, attempt: 1 });

test('rows of one tenant share tickets up to the most, those of two never do, and each row is in one', () => {
  const leases = [lease('a', 1), lease('b', 2), lease('a', 3), lease('a', 4), lease('a', 5), lease('b', 6)];

  const tickets = ticketsOf('one', leases, 3);

  expect(tickets).toEqual([
    { shard: 'one', leases: [lease('a', 1), lease('a', 3), lease('a', 4)] },
    { shard: 'one', leases: [lease('b', 2), lease('b', 6)] },
    { shard: 'one', leases: [lease('a', 5)] },
  ]);
});

test('the first of each tenant goes before the second of any', () => {
  const leases = [lease('a', 1), lease('a', 2), lease('a', 3), lease('b', 4), lease('b', 5)];

  const first = ticketsOf('one', leases, 1).map(({ leases: [only] }) => only?.id);

  expect(first).toEqual([1, 4, 2, 5, 3]);
  expect(ticketsOf('one', [], 1)).toEqual([]);
});
