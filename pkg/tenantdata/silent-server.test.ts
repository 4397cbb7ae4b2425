import { expect, test } from '@jest/globals';
import { ManualClock, settled } from '../../test/support/clock.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { StoreUnavailableError } from '../store/unavailable.ts';
import { type AnswerWatch, watchAnswers } from './silent-server.ts';

const never = new Promise<never>(() => undefined);
const failure = (code: string): Error => new StoreUnavailableError('postgres', Object.assign(new Error('no'), { code }));

interface Watched {
  readonly watch: AnswerWatch;
  readonly advance: (seconds: number) => Promise<void>;
  readonly calls: () => number;
}

function watched(answer: () => Promise<unknown>): Watched {
  const clock = new ManualClock();
  let calls = 0;
  const pool = { query: answer } as unknown as Sql;
  const watch = watchAnswers({ pool, clock }, () => (calls += 1));
  const advance = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 1) {
      await settled();
      await clock.advance(1_000);
    }
    await settled();
  };
  return { watch, advance, calls: () => calls };
}

test.each([
  ['leaves a question unanswered', () => never],
  ['cannot be reached', () => Promise.reject(failure('EHOSTUNREACH'))],
])('a server that %s is silent after 15 s, which is reported once', async (_what, answer) => {
  const { watch, advance, calls } = watched(answer);

  await advance(14);
  expect([watch.isSilent, calls()]).toEqual([false, 0]);
  await advance(2);
  expect([watch.isSilent, calls()]).toEqual([true, 1]);
  await advance(60);
  expect(calls()).toBe(1);
  await watch.end();
});

test('a server that answers, refuses, or cannot be reached for 8 s is not silent', async () => {
  let answer: () => Promise<unknown> = () => Promise.resolve([]);
  const { watch, advance, calls } = watched(() => answer());

  await advance(60);
  answer = () => Promise.reject(failure('53300'));
  await advance(60);
  answer = () => Promise.reject(failure('ECONNREFUSED'));
  await advance(8);
  answer = () => Promise.resolve([]);
  await advance(60);

  expect([watch.isSilent, calls()]).toEqual([false, 0]);
  await watch.end();
});

test('ending the watch does not wait for an answer', async () => {
  const { watch, advance, calls } = watched(() => never);

  await advance(1);
  await watch.end();
  await advance(60);

  expect(calls()).toBe(0);
});
