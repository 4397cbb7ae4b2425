import { expect, test } from '@jest/globals';
import type { JobHandler, Unwritten } from '../events/processor.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import type { Leased } from '../store/postgres/leases.ts';
import { range } from '../../test/support/wait.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { DueJobsRunner } from './due-jobs-runner.ts';

const row = (id: number): Leased =>
  ({ id, tenant: 't', attempts: 1, fence: `f${id}`, createdAt: new Date(0) }) as unknown as Leased;
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Returns a runner with eight slots, two per tenant, and four rows ahead. Leases and attempts end when the test says so. */
function runner() {
  const leases: PromiseWithResolvers<Leased[]>[] = [];
  const attempts = new Map<number, PromiseWithResolvers<Unwritten | undefined>>();
  const released: number[] = [];
  const handler = {
    store: {
      lease: () => {
        const lease = Promise.withResolvers<Leased[]>();
        leases.push(lease);
        return lease.promise;
      },
      release: async (rows: readonly Leased[]) => void released.push(...rows.map(({ id }) => id)),
      extend: async (rows: readonly Leased[]) => rows,
    },
    attempt: ({ id }: Leased) => {
      const attempt = Promise.withResolvers<Unwritten | undefined>();
      attempts.set(id, attempt);
      return attempt.promise;
    },
  } as unknown as JobHandler;
  const limiter = new ConcurrencyLimiter(8, 2);
  const shard = new DueJobsRunner({
    handler,
    limiter,
    ahead: 4,
    spared: 0,
    onRelease: () => undefined,
    clock: systemClock,
    log: silentLogger,
  });
  return { shard, limiter, leases, attempts, released };
}

/** Both slots of the tenant are held, and a lease of rows ahead of them is running. */
async function leasingAhead() {
  const parts = runner();
  const { shard, leases, attempts } = parts;
  const first = shard.take('t', 2);
  await settled();
  leases[0]?.resolve([row(1), row(2)]);
  await first;
  expect([...attempts.keys()]).toEqual([1, 2]);
  const ahead = shard.take('t', 1);
  await settled();
  expect(leases).toHaveLength(2);
  return { ...parts, ahead };
}

const finish = async (attempts: Map<number, PromiseWithResolvers<Unwritten | undefined>>): Promise<void> => {
  for (const attempt of attempts.values()) attempt.resolve(undefined);
  await settled();
};

test.each([
  ['has a slot', 5],
  ['has no slot', 8],
])('rows that were leased while slots became scarce are attempted or released, where the tenant %s', async (_what, taken) => {
  const { shard, limiter, leases, attempts, released, ahead } = await leasingAhead();
  for (const tenant of ['a', 'b', 'c', 'd', 'e', 'f']) limiter.reserve(tenant, 1);
  await finish(attempts);
  while (limiter.free > 8 - taken) limiter.reserve(`other-${limiter.free}`, 1);

  leases[1]?.resolve([row(3), row(4), row(5)]);
  await ahead;
  await finish(attempts);
  await shard.ended();

  const begun = [...attempts.keys()].filter((id) => id > 2);
  expect([...begun, ...released].toSorted((a, b) => a - b)).toEqual([3, 4, 5]);
  expect(begun.length > 0).toBe(taken < 8);
});

test('rows that are leased while the worker stops are released, not attempted', async () => {
  const { shard, leases, attempts, released } = runner();
  const taken = shard.take('t', 2);
  await settled();
  const stopped = shard.stop();

  leases[0]?.resolve([row(1), row(2)]);
  await Promise.all([taken, stopped, shard.ended()]);

  expect([...attempts.keys()]).toEqual([]);
  expect(released).toEqual([1, 2]);
});

test('an ended attempt releases its slot before its outcome is written, for at most `ahead` outcomes of a tenant', async () => {
  const { shard, limiter, leases, attempts } = runner();
  const writing: PromiseWithResolvers<void>[] = [];
  const first = shard.take('t', 2);
  await settled();
  leases[0]?.resolve(range(6).map(row));
  await first;

  for (const id of range(6)) {
    const outcome = Promise.withResolvers<void>();
    writing.push(outcome);
    attempts.get(id)?.resolve({ written: outcome.promise });
    await settled();
  }

  expect([attempts.size, limiter.free]).toEqual([6, 6]);
  await shard.stop();
  leases[1]?.resolve([]);
  writing.forEach(({ resolve }) => resolve());
  await shard.ended();
  expect(limiter.free).toBe(8);
});
