import { expect, test } from '@jest/globals';
import { silentLogger } from '../runtime/log.ts';
import type { DueTenant } from '../store/postgres/leases.ts';
import { ManualClock } from '../../test/support/clock.ts';
import { range } from '../../test/support/wait.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { Dispatcher } from './dispatcher.ts';
import type { TenantQueue } from './tenant-queue.ts';

/** Far below the time between two sweeps. */
const SOON_MS = 100;

test.each([63, 64])('a dispatcher that finds %i tenants waiting goes on as soon as workers have taken them', async (found) => {
  const due: readonly DueTenant[] = range(3).map((id) => ({ tenant: `t${id}`, id, attempts: 0 }));
  const added = new Set<string>();
  let waiting = found;
  const queue = {
    waiting: async () => waiting,
    add: async (_shard: string, tenants: readonly DueTenant[]) => tenants.forEach(({ tenant }) => added.add(tenant)),
  } as unknown as TenantQueue;
  const clock = new ManualClock();
  const limiter = new ConcurrencyLimiter(16, 4);
  const store = { dueTenants: async () => [...due] };
  const stopping = new AbortController();
  const dispatcher = new Dispatcher({ shard: 's', store, limiter, queue, clock, log: silentLogger });

  const running = dispatcher.run(stopping.signal);
  await clock.advance(1);
  waiting = 0;
  await clock.advance(SOON_MS);
  stopping.abort();
  await running;

  expect([...added]).toEqual(['t0', 't1', 't2']);
});
