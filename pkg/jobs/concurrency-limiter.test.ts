import { expect, test } from '@jest/globals';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';

const SLOTS = 512;
const PER_TENANT = 8;

test('a tenant alone holds its limit, and one more attempt of it is accepted while slots are plenty', () => {
  const limiter = new ConcurrencyLimiter(SLOTS, PER_TENANT);
  for (let at = 0; at < PER_TENANT; at += 1) limiter.acquire('a');

  expect(limiter.tenantLimit).toBe(PER_TENANT);
  expect(limiter.acquire('a')).toBe(true);
});

test('once half of the slots are held, a tenant that holds its share is rejected until it releases some', () => {
  const limiter = new ConcurrencyLimiter(SLOTS, PER_TENANT);
  for (let at = 0; at < SLOTS * 0.75; at += 1) limiter.acquire(`t${at}`);
  for (let at = 0; at < 4; at += 1) limiter.acquire('a');

  expect([limiter.tenantLimit, limiter.acquire('a')]).toEqual([3, false]);
  for (let at = 0; at < 3; at += 1) limiter.release('a');
  expect([limiter.acquire('a'), limiter.acquire('b')]).toEqual([true, true]);
});

test('no more slots are held than there are', () => {
  const limiter = new ConcurrencyLimiter(2, PER_TENANT);
  const acquired = ['a', 'b', 'c'].map((tenant) => limiter.acquire(tenant));
  limiter.release('a');

  expect([acquired, limiter.free, limiter.acquire('c')]).toEqual([[true, true, false], 1, true]);
});

test.each([20, 64, 200, 400])('%i tenants that never release their slots leave a tenth of all to others', (tenants) => {
  const limiter = new ConcurrencyLimiter(SLOTS, PER_TENANT);
  let busy = 0;
  // as a dispatcher does: the first of each tenant goes before the second of any
  for (let row = 0; row < PER_TENANT; row += 1)
    for (let at = 0; at < tenants; at += 1) if (row < limiter.tenantLimit && limiter.acquire(`t${at}`)) busy += 1;

  expect(busy).toBeLessThan(SLOTS * 0.9);
  expect(limiter.acquire('another')).toBe(true);
});
