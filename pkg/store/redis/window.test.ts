import { expect, test } from '@jest/globals';
import { type Limit, LocalWindows } from './window.ts';

const user: Limit = { key: 'user', max: 3, windowSeconds: 60 };
const tenant: Limit = { key: 'tenant', max: 4, windowSeconds: 60 };

test('a window takes its maximum, then tells the wait until the oldest call leaves it', () => {
  const windows = new LocalWindows();
  const verdicts = [0, 10_000, 20_000, 30_000].map((now) => windows.take([user], now));

  expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
  expect(verdicts[3]?.tightest).toMatchObject({ remaining: 0, waitMs: 30_000, freeAt: 80_000 });
  expect(windows.take([user], 60_000).allowed).toBe(true);
});

test('a call that one limit refuses counts against none', () => {
  const windows = new LocalWindows();
  for (const now of [0, 1, 2]) windows.take([user, tenant], now);

  expect(windows.take([user, tenant], 3)).toMatchObject({ allowed: false, tightest: { limit: user } });
  expect(windows.take([tenant], 4)).toMatchObject({ allowed: true, tightest: { remaining: 0 } });
});

test('a call that is undone leaves its place to another', async () => {
  const windows = new LocalWindows();
  for (const now of [0, 1]) windows.take([user], now);
  const last = windows.take([user], 2);
  await last.undo();

  expect(windows.take([user], 3).allowed).toBe(true);
});

test('calls of one member count once, from the first on, and are taken while the limit is full', async () => {
  const windows = new LocalWindows();
  const of = (member: string): Limit => ({ key: 'people', max: 2, windowSeconds: 60, member });
  const asked = ['ada', 'ada', 'ben', 'chi', 'ada'].map((member, at) => windows.take([of(member)], at * 1000));

  expect(asked.map(({ allowed, standings }) => [allowed, standings[0]?.count])).toEqual([
    [true, 1],
    [true, 1],
    [true, 2],
    [false, 2],
    [true, 2],
  ]);
  expect(asked[3]?.tightest.waitMs).toBe(57_000);
  await asked[1]?.undo(); // the first still counts
  expect(windows.take([of('chi')], 6_000).allowed).toBe(false);
  await asked[2]?.undo();
  expect(windows.take([of('chi')], 7_000).allowed).toBe(true);
});
