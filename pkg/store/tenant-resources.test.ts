import { expect, test } from '@jest/globals';
import { systemClock } from '../runtime/clock.ts';
import { PerTenant } from './tenant-resources.ts';

/** The loaded value is the number of the load. */
function counted(load: (slug: string) => Promise<void> = () => Promise.resolve()) {
  let now = 1_000;
  let loads = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const perTenant = new PerTenant({ clock, load: (slug) => load(slug).then(() => (loads += 1)) });
  return { of: (slug: string) => perTenant.of(slug), pass: (ms: number) => (now += ms) };
}

test('it is loaded once for all callers within a minute, and again after it', async () => {
  const { of, pass } = counted();

  const first = await Promise.all([of('a'), of('a'), of('b')]);
  pass(60_000);
  const within = await of('a');
  pass(1);

  expect([first, within, await of('a'), await of('b')]).toEqual([[1, 1, 2], 1, 3, 4]);
});

test('a failed load is tried again by the next caller', async () => {
  let fails = true;
  const { of } = counted(() => (fails ? Promise.reject(new Error('unavailable')) : Promise.resolve()));

  await expect(of('a')).rejects.toThrow('unavailable');
  fails = false;

  expect(await of('a')).toBe(1);
});

test('beyond 200 tenants, those requested longest ago are loaded again', async () => {
  const { of } = counted();
  for (let at = 0; at < 200; at += 1) await of(`t${at}`);
  await of('t0');
  await of('another');

  expect([await of('t0'), await of('another'), await of('t1')]).toEqual([1, 201, 202]);
});
