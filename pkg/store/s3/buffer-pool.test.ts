import { expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../unavailable.ts';
import { BufferPool } from './buffer-pool.ts';

const never = new AbortController().signal;
const pool = (waitLimitMs = 60_000): BufferPool => new BufferPool({ size: 8, most: 3, maxIdle: 1, waitLimitMs });

test('no more than the limit are in use; waiting owners are served in order of arrival', async () => {
  const buffers = pool();
  const held = [await buffers.take('a', never), await buffers.take('b', never), await buffers.take('c', never)];
  const turns: string[] = [];
  const waiting = ['d', 'e'].map((owner) => buffers.take(owner, never).then(() => turns.push(owner)));
  expect([buffers.inUse, buffers.waiting]).toEqual([3, 2]);

  buffers.give(held[1] as Buffer);
  await waiting[0];
  expect([turns, buffers.inUse, buffers.waiting]).toEqual([['d'], 3, 1]);
  buffers.give(held[0] as Buffer);
  await waiting[1];
  expect([turns, buffers.inUse]).toEqual([['d', 'e'], 3]);
});

test('one owner has at most a third, and others behind it do not wait for it', async () => {
  const buffers = pool();
  const first = await buffers.take('greedy', never);
  const second = buffers.take('greedy', never);
  await buffers.take('modest', never);
  expect([buffers.inUse, buffers.waiting]).toEqual([2, 1]);

  buffers.give(first);
  await second;
  expect([buffers.inUse, buffers.waiting]).toEqual([2, 0]);
});

test('a waiter that times out or aborts leaves the queue, and the others keep their order', async () => {
  const buffers = pool(50);
  const held = await Promise.all(['a', 'b', 'c'].map((owner) => buffers.take(owner, never)));
  const gone = new AbortController();
  const left = buffers.take('d', gone.signal);
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  await expect(buffers.take('e', never)).rejects.toBeInstanceOf(StoreUnavailableError);
  expect(buffers.waiting).toBe(0);

  held.forEach((buffer) => buffers.give(buffer));
  held.forEach((buffer) => buffers.give(buffer)); // returned twice, which changes nothing
  expect(buffers.inUse).toBe(0);
  await expect(buffers.take('a', AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
});
