import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';

const SLOTS = 512;
const PER_TENANT = 8;

test('a single tenant holds its limit, and gets as many slots as it released', () => {
  const limiter = new ConcurrencyLimiter(SLOTS, PER_TENANT);

  const reserved = [limiter.reserve('a', 3), limiter.reserve('a', Infinity), limiter.reserve('a', Infinity)];
  limiter.release('a', 2);

  expect([reserved, limiter.reserve('a', Infinity)]).toEqual([[3, PER_TENANT - 3, 0], 2]);
  expect([limiter.free, limiter.isScarce]).toEqual([SLOTS - PER_TENANT, false]);
});

test('once half of the slots are held, a tenant that holds its share gets none until it releases some', () => {
  const limiter = new ConcurrencyLimiter(SLOTS, PER_TENANT);
  limiter.reserve('a', 4);
  for (let at = 0; limiter.free > SLOTS * 0.25; at += 1) limiter.reserve(`t${at}`, 1);

  expect([limiter.isScarce, limiter.tenantLimit, limiter.reserve('a', Infinity)]).toEqual([true, 4, 0]);
  limiter.release('a', 2);
  expect([limiter.reserve('a', Infinity), limiter.reserve('b', Infinity)]).toEqual([2, 3]);
});

test('tenants hold no more slots than exist', () => {
  const limiter = new ConcurrencyLimiter(2, PER_TENANT);
  const reserved = ['a', 'b', 'c'].map((tenant) => limiter.reserve(tenant, 1));
  limiter.release('a');

  expect([reserved, limiter.free, limiter.reserve('c', Infinity)]).toEqual([[1, 1, 0], 1, 1]);
});

test.each([20, 64, 200, 400])('%i tenants that never release their slots leave a tenth of all to others', (tenants) => {
  const limiter = new ConcurrencyLimiter(SLOTS, PER_TENANT);
  for (let round = 0; round < PER_TENANT; round += 1) {
    // Reserves as a dispatcher does.
    const share = limiter.shareOf(tenants);
    for (let at = 0; at < tenants; at += 1) limiter.reserve(`t${at}`, share);
  }

  expect(limiter.free).toBeGreaterThan(SLOTS * 0.1);
  expect(limiter.reserve('another', Infinity)).toBeGreaterThan(0);
});

test('a waiter for a free slot resumes after the call that released it, not within it', async () => {
  const limiter = new ConcurrencyLimiter(1, PER_TENANT);
  limiter.reserve('a', 1);
  const order: string[] = [];
  const { promise: resumed, resolve } = Promise.withResolvers<void>();
  limiter.onceFree(() => {
    order.push('resumed');
    resolve();
  });

  limiter.release('a');
  order.push('released');
  await resumed;

  expect(order).toEqual(['released', 'resumed']);
});

test('all waiters for a free slot resume, each once', async () => {
  const limiter = new ConcurrencyLimiter(2, PER_TENANT);
  limiter.reserve('a', 1);
  limiter.reserve('b', 1);
  const resumed: string[] = [];
  const first = (): void => void resumed.push('first');
  limiter.onceFree(first);
  limiter.onceFree(first);
  limiter.onceFree(() => void resumed.push('second'));

  limiter.release('a');
  limiter.release('b');
  await turn();

  expect(resumed).toEqual(['first', 'second']);
});
