import { expect, test } from '@jest/globals';
import { ManualClock, settled } from '../../test/support/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../runtime/time.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { HOURS_MAX, LAST_ADDITION_MS, RequestCounts } from './request-counts.ts';

type Row = readonly [hour: string, succeeded: number, refused: number, failed: number];

/** Counts whose statements are answered by `answer`; `statements` has the rows of each. */
function counted(answer: () => Promise<unknown> = () => Promise.resolve([]), everyMs = MINUTE_MS) {
  const clock = new ManualClock();
  const statements: Row[][] = [];
  const query = (_sql: string, columns: readonly (readonly unknown[])[]): Promise<unknown> => {
    statements.push((columns[0] ?? []).map((_hour, at) => columns.map((values) => values[at]) as unknown as Row));
    return answer();
  };
  const requests = new RequestCounts({ db: { query } as unknown as Sql, clock, log: silentLogger }, everyMs);
  return { clock, statements, requests };
}

/** The hour that is so many after the first one of ManualClock. */
const hour = (at: number): string => new Date(Date.parse('2026-01-01T00:00:00Z') + at * HOUR_MS).toISOString();

const unavailable = (): Promise<never> => Promise.reject(new Error('unavailable'));

test('the requests of a minute are one statement, and while nothing is asked there is none', async () => {
  const { clock, statements, requests } = counted();

  await clock.advance(HOUR_MS);
  for (let at = 0; at < 1_000; at += 1) requests.count(200);
  await clock.advance(MINUTE_MS - 1);
  expect(statements).toEqual([]);
  await clock.advance(1);
  expect(statements).toEqual([[[hour(1), 1_000, 0, 0]]]);
  await clock.advance(24 * HOUR_MS);
  expect(statements).toHaveLength(1);
  expect(clock.sleepers).toBe(0);
});

test('2xx and 3xx succeeded, 4xx and a full quota were refused, all other 5xx failed', async () => {
  const { clock, statements, requests } = counted();

  for (const status of [200, 201, 204, 206, 302, 304, 400, 401, 404, 429, 507, 500, 502, 503, 504]) requests.count(status);
  await clock.advance(MINUTE_MS);

  expect(statements).toEqual([[[hour(0), 6, 5, 4]]]);
});

test('a request counts to the hour in which it was answered, and the hours are in their order', async () => {
  const { clock, statements, requests } = counted();

  await clock.advance(HOUR_MS - 1);
  requests.count(200);
  await clock.advance(1);
  requests.count(404);
  clock.jump(-HOUR_MS);
  requests.count(500);
  await clock.advance(MINUTE_MS);

  expect(statements).toEqual([
    [
      [hour(0), 1, 0, 1],
      [hour(1), 0, 1, 0],
    ],
  ]);
});

test('what could not be added is added once, later, with what came since', async () => {
  let answer = unavailable as () => Promise<unknown>;
  const { clock, statements, requests } = counted(() => answer());

  requests.count(200);
  await clock.advance(MINUTE_MS);
  requests.count(200);
  await clock.advance(MINUTE_MS);
  answer = () => Promise.resolve([]);
  await clock.advance(MINUTE_MS);
  await clock.advance(HOUR_MS);

  expect(statements).toEqual([[[hour(0), 1, 0, 0]], [[hour(0), 2, 0, 0]], [[hour(0), 2, 0, 0]]]);
});

test('of more than a week without the database the newest hours are there', async () => {
  let answer = unavailable as () => Promise<unknown>;
  const { clock, statements, requests } = counted(() => answer(), HOUR_MS);

  for (let at = 0; at < HOURS_MAX + 3; at += 1) {
    requests.count(200);
    await clock.advance(HOUR_MS);
  }
  answer = () => Promise.resolve([]);
  await clock.advance(HOUR_MS);

  const last = statements.at(-1) ?? [];
  expect([last.length, last[0]?.[0], last.at(-1)?.[0]]).toEqual([HOURS_MAX, hour(3), hour(HOURS_MAX + 2)]);
});

test('no addition begins while another one runs', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const { clock, statements, requests } = counted(() => promise);

  requests.count(200);
  await clock.advance(MINUTE_MS);
  requests.count(404);
  await clock.advance(10 * MINUTE_MS);
  expect(statements).toHaveLength(1);
  resolve([]);
  await settled();
  await clock.advance(MINUTE_MS);

  expect(statements).toEqual([[[hour(0), 1, 0, 0]], [[hour(0), 0, 1, 0]]]);
});

test('closing adds what is left, after an addition that runs', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const { clock, statements, requests } = counted(() => promise);

  requests.count(200);
  await clock.advance(MINUTE_MS);
  requests.count(404);
  const closed = requests.close();
  resolve([]);
  await closed;

  expect(statements).toEqual([[[hour(0), 1, 0, 0]], [[hour(0), 0, 1, 0]]]);
  expect(clock.sleepers).toBe(0);
});

test('closing waits three seconds for a database that does not answer', async () => {
  const { clock, requests } = counted(() => new Promise(() => undefined));
  let isClosed = false;

  requests.count(200);
  const closed = requests.close().then(() => (isClosed = true));
  await clock.advance(LAST_ADDITION_MS - 1);
  expect(isClosed).toBe(false);
  await clock.advance(1);
  await closed;

  expect(LAST_ADDITION_MS).toBe(3 * SECOND_MS);
});
