import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { silentLogger } from '../runtime/log.ts';
import type { DueTenant } from '../store/postgres/leases.ts';
import { ManualClock } from '../../test/support/clock.ts';
import { range } from '../../test/support/wait.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { Dispatcher } from './dispatcher.ts';
import type { DueTenantsQueue } from './due-tenants-queue.ts';

/** Far below the time between two sweeps. */
const SOON_MS = 100;

test.each([63, 64])('a dispatcher that finds %i tenants waiting continues as soon as workers have taken them', async (found) => {
  const due: readonly DueTenant[] = range(3).map((id) => ({ tenant: `t${id}`, id, attempts: 0 }));
  const added = new Set<string>();
  let waiting = found;
  const queue = {
    waiting: async () => waiting,
    add: async (_shard: string, tenants: readonly DueTenant[]) => tenants.forEach(({ tenant }) => added.add(tenant)),
  } as unknown as DueTenantsQueue;
  const clock = new ManualClock();
  const limiter = new ConcurrencyLimiter(16, 4);
  const store = { dueTenants: async () => [...due] };
  const stopping = new AbortController();
  const dispatcher = new Dispatcher({
    shard: 's',
    store,
    limiter,
    queue,
    watchdog: { found: () => undefined },
    clock,
    log: silentLogger,
  });

  const running = dispatcher.run(stopping.signal);
  await clock.advance(1);
  waiting = 0;
  await clock.advance(SOON_MS);
  stopping.abort();
  await running;

  expect([...added]).toEqual(['t0', 't1', 't2']);
});

function idleDispatcher() {
  const clock = new ManualClock();
  let rounds = 0;
  const queue = { waiting: async () => 0, add: async () => undefined } as unknown as DueTenantsQueue;
  const store = {
    dueTenants: async () => {
      rounds += 1;
      return [];
    },
  };
  const stopping = new AbortController();
  const limiter = new ConcurrencyLimiter(16, 4);
  const dispatcher = new Dispatcher({
    shard: 's',
    store,
    limiter,
    queue,
    watchdog: { found: () => undefined },
    clock,
    log: silentLogger,
  });
  const running = dispatcher.run(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
  };
  return { clock, dispatcher, limiter, rounds: () => rounds, stop };
}

test('wake-ups that find nothing begin fewer and fewer rounds, finally 100 ms apart', async () => {
  const { clock, dispatcher, rounds, stop } = idleDispatcher();
  await clock.advance(10);
  const before = rounds();

  for (const _ of range(1_000)) {
    dispatcher.wake();
    await clock.advance(1);
  }
  const during = rounds() - before;
  await stop();

  expect(during).toBeLessThan(18);
  expect(during).toBeGreaterThan(8);
});

test('the first wake-up after idle rounds begins a round at once, whenever it comes', async () => {
  const { clock, dispatcher, rounds, stop } = idleDispatcher();
  const late: number[] = [];
  for (const at of range(20)) {
    await clock.advance(2_000 + 53 * at);
    const before = rounds();
    dispatcher.wake();
    await clock.advance(5);
    if (rounds() === before) late.push(at);
  }
  await stop();

  expect(late).toEqual([]);
});

test('a wake-up that comes while no slot is free begins a round once one is, long before the next sweep', async () => {
  const { clock, dispatcher, limiter, rounds, stop } = idleDispatcher();
  await clock.advance(1);
  for (const at of range(16)) limiter.reserve(`t${at}`, 1);
  const before = rounds();
  dispatcher.wake();
  await clock.advance(SOON_MS);
  const without = rounds() - before;

  limiter.release('t0');
  await turn();
  await clock.advance(SOON_MS);
  await stop();

  expect([without, rounds() - before]).toEqual([0, 1]);
});
