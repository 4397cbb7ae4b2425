import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis as RawClient } from 'ioredis';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { redisPrefix, RedisUsers, redisUser } from '../../../pkg/store/redis/acl.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { unique } from '../../support/cluster/operator.ts';
import { range, waitFor } from '../../support/wait.ts';

/** These tests call the functions as a tenant's Redis user, with arguments and stored values of its own choice. */
const { redis } = testBackends().stores;
const slug = unique();
const prefix = redisPrefix(slug);
const users = new RedisUsers({ url: redis.adminUrl, log: silentLogger });
let client: RawClient;

beforeAll(async () => {
  await waitFor('the user', async () => Boolean(await users.ensure({ slug, passwords: ['secret'] })));
  client = new RawClient(`redis://${redisUser(slug)}:secret@${redis.address}`, {
    enableReadyCheck: false,
    commandTimeout: 30_000,
  });
});
afterAll(async () => {
  client.disconnect();
  await users.remove(slug);
  await users.close();
});

type Call = readonly [fn: string, keys: readonly string[], args: readonly (string | number)[]];

/** Returns the time that Redis worked on the call, and its answer. */
async function called([fn, keys, args]: Call): Promise<{ ms: number; answer: unknown }> {
  const began = performance.now();
  const words = [`carrel_${fn}`, keys.length, ...keys.map((key) => `${prefix}${key}`), ...args];
  const answer = await client.call('fcall', words).catch((error: Error) => error.message);
  return { ms: performance.now() - began, answer };
}

const keys = (count: number, of = 'k'): string[] => range(count).map((at) => `${of}${at}`);
/** An array of MessagePack that has so many times the number 0. */
const zeros = (count: number): Buffer => Buffer.concat([Buffer.from([0xdc, count >> 8, count & 0xff]), Buffer.alloc(count)]);

test('a call with more keys or arguments, or a longer argument, than Carrel sends is refused', async () => {
  const calls: Call[] = [
    ['take', keys(9), []],
    ['undo', keys(9), []],
    ['count', keys(401), []],
    ['lookup', keys(1_001), []],
    ['mark', keys(251), []],
    ['renew', keys(251), []],
    ['count_and_lookup', keys(1_401), []],
    ['lookup', keys(1), range(2_001)],
    ['lookup', keys(1), ['x'.repeat(129)]],
  ];

  const answers = await Promise.all(calls.map(async (call) => (await called(call)).answer));

  expect(answers.filter((answer) => !/too many keys|too many arguments|too long/.test(String(answer)))).toEqual([]);
});

test('a call whose arguments are no numbers, negative or endless ends at once', async () => {
  const oddities = ['-1', '-1e9', '1e9', '0', '0.5', 'inf', '-inf', 'nan', 'x', ''];
  const calls = oddities.flatMap((odd): Call[] => [
    ['count', keys(2), [1, 5, 60, 5, 60, odd, 1, 2, odd]],
    ['count', keys(2), [odd, odd, odd, odd, odd, 1, odd]],
    ['count', keys(2), [1, 5, 60, 5, 60, 1, odd]],
    ['lookup', keys(9), ['v', 60, 'now', odd, 0, odd, 0]],
    ['lookup', keys(9), ['v', odd, 'now', 1, odd]],
    ['lookup', keys(900), ['v', 60, 'now', ...range(300).flatMap((at) => [at % 2 === 0 ? 600 : odd, 0])]],
    ['count_and_lookup', keys(3), [odd, odd, 1, 2, 3]],
    ['count_and_lookup', keys(3), [1, odd, 1, 2, 3]],
    ['mark', keys(2), ['m', odd, odd]],
    ['renew', keys(2), [odd, 'v', odd, odd]],
    ['take', keys(2), [odd, 'n', odd, odd, '', odd, odd, odd]],
    ['undo', keys(2), [odd, 'n', odd, odd]],
  ]);

  const results = await Promise.all(calls.map(async (call) => ({ call, ...(await called(call)) })));

  expect(results.filter(({ answer }) => /timed out|BUSY/.test(String(answer)))).toEqual([]);
  expect(await client.ping()).toBe('PONG');
});

test('no call runs long over what a tenant has stored: long values, deep lists, maps that look like lists', async () => {
  const values: Record<string, Buffer | string> = {
    zeros: zeros(500),
    many: zeros(32_000),
    // {3: 0, 5: 0} of MessagePack: #calls is 0, and calls[3] is there.
    map: Buffer.from([0x82, 0x03, 0x00, 0x05, 0x00]),
    nested: Buffer.concat([Buffer.alloc(400, 0x91), Buffer.from([0x00])]),
    broken: Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff]),
    text: 'x'.repeat(500),
    marks: `pending ${'a:1'.repeat(1_300)}`,
    digits: `pending a:${'1'.repeat(4_000)}x`,
    pairs: `pending ${'a:99999999999 '.repeat(290)}`,
    long: `pending ${'a'.repeat(1_000_000)}`,
  };
  const slowest = async (name: string, value: Buffer | string): Promise<number> => {
    const times: number[] = [];
    const count = name === 'long' ? 17 : 400;
    const some = (most: number): string[] => keys(Math.min(count, most), name);
    const calls: Call[] = [
      ['count', some(400), [1e13, ...some(400).flatMap(() => [1, 0]), ...some(400).flatMap((_, at) => [1, at + 1])]],
      ['count', some(400), [0, ...some(400).flatMap(() => [-1, 60_000]), ...some(400).flatMap((_, at) => [1, at + 1])]],
      ['lookup', some(400), ['v', 60, 'now', some(400).length - 1, 0]],
      ['mark', some(250), ['m', 60, 1]],
      ['renew', some(250), ['m', 'v', 60, 1]],
      ['take', some(8), [1e13, 'n', ...some(8).flatMap(() => [5, 1e13, 'm'])]],
      ['undo', some(8), some(8).flatMap(() => [1e12, 'n'])],
    ];
    for (const call of calls) {
      // Restore what the last call changed.
      for (const at of range(count)) void client.set(`${prefix}${name}${at}`, value, 'EX', 60);
      await client.ping();
      times.push((await called(call)).ms);
    }
    return Math.max(...times);
  };

  const times: [string, number][] = [];
  for (const [name, value] of Object.entries(values)) times.push([name, Math.round(await slowest(name, value))]);

  // Some ms each on a quiet machine. Redis answers BUSY after 5,000.
  expect(times.filter(([, ms]) => ms > 4_000)).toEqual([]);
});

test('a version does not grow without end by the marks of writers', async () => {
  const mark = (at: number): Call => ['mark', ['crowded'], [`${'m'.repeat(100)}${at}`, 60, 1]];
  const answers: unknown[] = [];
  for (const at of range(200)) answers.push((await called(mark(at))).answer);

  expect(answers[0]).toBe(1);
  expect(String(answers.at(-1))).toContain('too many writers');
});
