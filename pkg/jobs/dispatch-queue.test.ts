import { expect, test } from '@jest/globals';
import { leaseBatches } from './dispatch-queue.ts';

const lease = (tenant: string, id: number) => ({ tenant, id, attempt: 1 });

test('rows of one tenant share batches up to the maximum, rows of two tenants share none, and each row is in one batch', () => {
  const leases = [lease('a', 1), lease('b', 2), lease('a', 3), lease('a', 4), lease('a', 5), lease('b', 6)];

  const batches = leaseBatches('one', leases, 3);

  expect(batches).toEqual([
    { shard: 'one', leases: [lease('a', 1), lease('a', 3), lease('a', 4)] },
    { shard: 'one', leases: [lease('b', 2), lease('b', 6)] },
    { shard: 'one', leases: [lease('a', 5)] },
  ]);
});

test('the first batch of each tenant goes before the second of any', () => {
  const leases = [lease('a', 1), lease('a', 2), lease('a', 3), lease('b', 4), lease('b', 5)];

  const first = leaseBatches('one', leases, 1).map(({ leases: [only] }) => only?.id);

  expect(first).toEqual([1, 4, 2, 5, 3]);
  expect(leaseBatches('one', [], 1)).toEqual([]);
});
