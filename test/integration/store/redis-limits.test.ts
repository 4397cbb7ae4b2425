import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis as RawClient } from 'ioredis';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { redisPrefix, RedisUsers, redisUser } from '../../../pkg/store/redis/acl.ts';
import { SlidingLogLimiter } from '../../../pkg/store/redis/sliding-log-limiter.ts';
import { connectRedis, type Redis } from '../../../pkg/store/redis/redis.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { ManualClock } from '../../support/clock.ts';
import { unique } from '../../support/cluster/operator.ts';
import { range, waitFor } from '../../support/wait.ts';

/** Limits of guesses as several servers of a tenant keep them together. */
const { redis } = testBackends().stores;
const slug = unique();
const prefix = redisPrefix(slug);
const users = new RedisUsers({ url: redis.adminUrl, log: silentLogger });
const admin = new RawClient(redis.adminUrl, { lazyConnect: true });
const opened: Redis[] = [];

// Other files use the same Redis, and may keep it busy for a while.
beforeAll(() => waitFor('the user', async () => Boolean(await users.ensure({ slug, passwords: ['secret'] }))));
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()));
  await users.remove(slug);
  await users.close();
  admin.disconnect();
});

function connect(): Redis {
  const url = `redis://${redisUser(slug)}:secret@${redis.address}`;
  const connected = connectRedis({ url, prefix, log: silentLogger });
  opened.push(connected);
  return connected;
}

test('a log of calls is kept for two windows from its last change, and without calls that have left the window', async () => {
  const clock = new ManualClock();
  const limiter = new SlidingLogLimiter({ redis: connect(), clock, random: systemRandom });
  const limit = { key: 'user', max: 3, windowSeconds: 60 };
  const log = `${prefix}w:user`;
  /**
   * Returns whether the log is kept for 120 s (less the time of a busy machine) after a call this much later; it had 70 s left
   * before.
   */
  const after = async (seconds: number): Promise<{ isKept: boolean; undo: () => Promise<void> }> => {
    await admin.pexpire(log, 70_000);
    await clock.advance(seconds * 1000);
    const { undo } = await limiter.take([limit]);
    const left = await admin.pttl(log);
    return { isKept: left > 95_000 && left <= 120_000, undo };
  };

  expect((await after(0)).isKept).toBe(true);
  const second = await after(30);
  const size = await admin.strlen(log);
  await second.undo();
  expect(await admin.strlen(log)).toBeLessThan(size);
  expect((await after(1)).isKept).toBe(true);
  expect((await after(30)).isKept).toBe(true); // the first has left
  expect(await admin.strlen(log)).toBe(size);
});

test('a process that took a limit’s calls refuses more of them, also when Redis has lost them', async () => {
  const limiter = new SlidingLogLimiter({ redis: connect(), clock: systemClock, random: systemRandom });
  const limit = { key: 'guesses', max: 3, windowSeconds: 60 };
  const take = async (): Promise<boolean> => (await limiter.take([limit])).allowed;
  const before = [await take(), await take()];

  await admin.del(`${prefix}w:guesses`);

  expect([...before, await take(), await take()]).toEqual([true, true, true, false]);
});

test('calls that several processes take and take back count together', async () => {
  const [one, other] = [connect(), connect()];
  const limiters = [one, other].map((each) => new SlidingLogLimiter({ redis: each, clock: systemClock, random: systemRandom }));
  const limit = { key: 'shared', max: 5, windowSeconds: 60 };
  const take = (at: number) => (limiters[at % 2] as SlidingLogLimiter).take([limit]);

  const first = await Promise.all(range(8).map(take));
  const taken = first.filter(({ allowed }) => allowed);
  await Promise.all(taken.slice(0, 3).map(({ undo }) => undo()));
  const second = await Promise.all(range(8).map(take));

  expect(taken).toHaveLength(5);
  expect(second.filter(({ allowed }) => allowed)).toHaveLength(3);
});

test('a log without a maximum says how many calls there were, and is bounded', async () => {
  const limiter = new SlidingLogLimiter({ redis: connect(), clock: systemClock, random: systemRandom });
  const limit = { key: 'all', max: Number.MAX_SAFE_INTEGER, windowSeconds: 60 };
  const counts: number[] = [];
  for (let at = 0; at < 60; at += 1) {
    const decisions = await Promise.all(range(10).map(() => limiter.take([limit])));
    counts.push(Math.max(...decisions.map(({ states }) => states[0]?.count ?? 0)));
  }

  expect(counts.slice(0, 3)).toEqual([10, 20, 30]);
  expect(await admin.strlen(`${prefix}w:all`)).toBeLessThan(16_384);
});
