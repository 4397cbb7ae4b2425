import { expect, test } from '@jest/globals';
import { waitFor } from '../../../test/support/wait.ts';
import { BatchedWrites, type Changes } from './batched-writes.ts';

/** Collected changes, of which the test sees each write. `refuse`: whether a write fails. */
function writesOf(refuse: (changes: Changes<number>) => boolean = () => false) {
  const written: [string, number | undefined][][] = [];
  let failures = 0;
  let firstAt = Number.NaN;
  const writes = new BatchedWrites<number>({
    write: async (changes) => {
      if (refuse(changes)) throw new Error('QuotaExceededError');
      if (written.push([...changes]) === 1) firstAt = performance.now();
    },
    onFailure: () => (failures += 1),
  });
  return { writes, written, failures: () => failures, firstAt: () => firstAt };
}

const hasValues = (changes: Changes<number>): boolean => [...changes.values()].some((value) => value !== undefined);

test('4,000 values are written in batches, the first of them after the first 300 ms', async () => {
  const { writes, written, firstAt } = writesOf();
  const started = performance.now();
  for (let n = 0; n < 4_000; n += 1) writes.put(`${n}`, n);

  await waitFor('the last batch', () => written.flat().length === 4_000);

  expect(firstAt() - started).toBeGreaterThan(300);
  expect(written.map(({ length }) => length)).toEqual(Array.from({ length: 8 }, () => 500));
  expect(new Set(written.flat().map(([key]) => key)).size).toBe(4_000);
});

test('of several changes of a key the last is written', async () => {
  const { writes, written } = writesOf();
  writes.put('a', 1);
  writes.put('b', 1);
  writes.put('a', 2);
  writes.delete('b');

  await writes.flush();

  expect(written).toEqual([
    [
      ['a', 2],
      ['b', undefined],
    ],
  ]);
});

test('a page that goes writes all at once, and nothing twice', async () => {
  const { writes, written } = writesOf();
  for (let n = 0; n < 1_000; n += 1) writes.put(`${n}`, n);

  await writes.flush();
  writes.put('later', 1);
  await waitFor('the next write', () => written.length > 1);

  expect(written.map(({ length }) => length)).toEqual([1_000, 1]);
});

test('a full storage is said once; no more values are stored, and what is deleted is still deleted', async () => {
  const { writes, written, failures } = writesOf(hasValues);
  writes.put('a', 1);
  writes.delete('b');
  await writes.flush();
  writes.put('c', 1);
  writes.delete('d');
  await writes.flush();

  expect([failures(), written]).toEqual([1, [[['b', undefined]], [['d', undefined]]]]);
});

test('without any storage, deletions alone say nothing', async () => {
  const { writes, failures } = writesOf(() => true);
  writes.delete('a');
  await writes.flush();

  expect(failures()).toBe(0);
});

test('what is discarded is not written', async () => {
  const { writes, written } = writesOf();
  writes.put('a', 1);
  writes.clear();
  await writes.flush();

  expect(written).toEqual([]);
});
