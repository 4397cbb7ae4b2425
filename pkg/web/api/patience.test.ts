import { expect, test } from '@jest/globals';
import { patiently, pause } from './patience.ts';
import { ApiProblem } from './problem.ts';

const refusal = (retryAfter?: number, status = 429): ApiProblem =>
  new ApiProblem({ status, code: 'rate_limit_exceeded', message: '', retryAfter });

interface Outcome {
  readonly result: unknown;
  readonly waits: readonly number[];
}

/** Reads a list that is refused with these problems before it is given; returns what came of it, and the waits. */
async function read(...refusals: readonly ApiProblem[]): Promise<Outcome> {
  const left = [...refusals];
  const waits: number[] = [];
  const result = await patiently(
    () => {
      const problem = left.shift();
      return problem ? Promise.reject(problem) : Promise.resolve('list');
    },
    new AbortController().signal,
    (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
  ).catch((error: unknown) => error);
  return { result, waits };
}

test.each([
  ['is given at once', [], []],
  ['is refused twice waits as long as each refusal says', [refusal(7), refusal(60)], [7_000, 60_000]],
  ['is refused without a time waits a second', [refusal(), refusal(0)], [1_000, 1_000]],
])('a read that %s, and goes on', async (_what, refusals, waits) => {
  expect(await read(...refusals)).toEqual({ result: 'list', waits });
});

test('a refusal for longer than a minute, another one, and one that does not end are the caller’s', async () => {
  const [day, other] = [refusal(86_400), refusal(1, 503)];
  const endless = Array.from({ length: 20 }, () => refusal(1));

  const outcomes = [await read(day), await read(other), await read(...endless)];

  expect(outcomes.map(({ result, waits }) => [result, waits.length])).toEqual([
    [day, 0],
    [other, 0],
    [endless[9], 9],
  ]);
});

test('whoever leaves waits no longer', async () => {
  const leaving = new AbortController();
  const waiting = [pause(60_000, leaving.signal)];

  leaving.abort();

  waiting.push(pause(60_000, leaving.signal));
  const ends = await Promise.allSettled(waiting);
  expect(ends.map((end) => (end.status === 'rejected' ? (end.reason as Error).name : end.status))).toEqual([
    'AbortError',
    'AbortError',
  ]);
});
