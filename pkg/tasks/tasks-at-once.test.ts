import { expect, test } from '@jest/globals';
import { TasksAtOnce } from './tasks-at-once.ts';

const OPTIONS = { atOnce: 2, reason: 'others run', askAgainMs: 1_000 };

/** Runs until `end`; returns undefined if it has to ask again. */
function asks(turns: TasksAtOnce, tenant: string): { end(): Promise<void> } | undefined {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isRunning = false;
  const ended = turns.run(tenant, () => {
    isRunning = true;
    return promise;
  });
  ended.catch(() => {});
  if (!isRunning) return undefined;
  return {
    end: () => {
      resolve();
      return ended;
    },
  };
}

test('a waiting tenant comes before one whose turn has just ended, but not before others that wait as long', async () => {
  let now = 0;
  const turns = new TasksAtOnce(OPTIONS, { monotonic: () => now });
  const [one, two] = [asks(turns, 'busy'), asks(turns, 'busy')];
  expect(asks(turns, 'small')).toBeUndefined();
  now += 500;
  await one?.end();

  expect(asks(turns, 'busy')).toBeUndefined();
  now += 500;
  const small = asks(turns, 'small');
  expect(small).toBeDefined();
  await small?.end();
  expect(asks(turns, 'small')).toBeUndefined();
  expect(asks(turns, 'busy')).toBeDefined();
  await two?.end();
});

test('a tenant that does not ask again delays nobody', async () => {
  let now = 0;
  const turns = new TasksAtOnce(OPTIONS, { monotonic: () => now });
  const [one, two] = [asks(turns, 'busy'), asks(turns, 'busy')];
  asks(turns, 'gone');
  await one?.end();
  expect(asks(turns, 'busy')).toBeUndefined();

  now += 3_001;

  expect(asks(turns, 'busy')).toBeDefined();
  await two?.end();
});
