import { expect, test } from '@jest/globals';
import { type LoggedLimit, LocalSlidingLogLimiter } from './sliding-log-limiter.ts';

const user: LoggedLimit = { key: 'user', max: 3, windowSeconds: 60 };
const tenant: LoggedLimit = { key: 'tenant', max: 4, windowSeconds: 60 };

test('a window takes its maximum, then states the wait until the oldest call leaves it', () => {
  const limiter = new LocalSlidingLogLimiter();
  const decisions = [0, 10_000, 20_000, 30_000].map((now) => limiter.take([user], now));

  expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
  expect(decisions[3]?.tightest).toMatchObject({ remaining: 0, waitMs: 30_000, freeAt: 80_000 });
  expect(limiter.take([user], 60_000).allowed).toBe(true);
});

test('a call that one limit refuses counts against none', () => {
  const limiter = new LocalSlidingLogLimiter();
  for (const now of [0, 1, 2]) limiter.take([user, tenant], now);

  expect(limiter.take([user, tenant], 3)).toMatchObject({ allowed: false, tightest: { limit: user } });
  expect(limiter.take([tenant], 4)).toMatchObject({ allowed: true, tightest: { remaining: 0 } });
});

test('a call that is undone makes room for another', async () => {
  const limiter = new LocalSlidingLogLimiter();
  for (const now of [0, 1]) limiter.take([user], now);
  const last = limiter.take([user], 2);
  await last.undo();

  expect(limiter.take([user], 3).allowed).toBe(true);
});

test('calls of one member count once, from the first on, and are taken while the limit is full', async () => {
  const limiter = new LocalSlidingLogLimiter();
  const of = (member: string): LoggedLimit => ({ key: 'people', max: 2, windowSeconds: 60, member });
  const asked = ['ada', 'ada', 'ben', 'chi', 'ada'].map((member, at) => limiter.take([of(member)], at * 1000));

  expect(asked.map(({ allowed, states }) => [allowed, states[0]?.count])).toEqual([
    [true, 1],
    [true, 1],
    [true, 2],
    [false, 2],
    [true, 2],
  ]);
  expect(asked[3]?.tightest.waitMs).toBe(57_000);
  await asked[1]?.undo(); // the first still counts
  expect(limiter.take([of('chi')], 6_000).allowed).toBe(false);
  await asked[2]?.undo();
  expect(limiter.take([of('chi')], 7_000).allowed).toBe(true);
});
