import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeAll, afterAll, expect, test } from '@jest/globals';
import { afterAwake } from '../../../pkg/runtime/awake.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { redisPrefix, RedisUsers, redisUser } from '../../../pkg/store/redis/acl.ts';
import { connectRedis, type Redis } from '../../../pkg/store/redis/redis.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { unique } from '../../support/cluster/operator.ts';
import { waitFor } from '../../support/wait.ts';

const { redis: shared } = testBackends().stores;
const slug = unique();
const users = new RedisUsers({ url: shared.adminUrl, log: silentLogger });
const opened: { close(): Promise<void> }[] = [];

// Other files use the same Redis, and may keep it busy for a while.
beforeAll(() => waitFor('the user', async () => Boolean(await users.ensure({ slug, passwords: ['secret'] }))));
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});
afterAll(async () => {
  await users.remove(slug);
  await users.close();
});

/** Connected through the relay. */
async function connected(relay: { readonly address: string }, commandTimeoutMs: number): Promise<Redis> {
  const url = `redis://${redisUser(slug)}:secret@${relay.address}`;
  const redis = connectRedis({ url, prefix: redisPrefix(slug), log: silentLogger, commandTimeoutMs });
  opened.push(redis);
  await waitFor('a connection', () => redis.ping().then(() => true));
  return redis;
}

async function outcome(work: Promise<unknown>): Promise<{ error: unknown }> {
  return work.then(
    () => ({ error: undefined }),
    (error: unknown) => ({ error }),
  );
}

test('a command that waits for the batches before it waits no longer than one time-out', async () => {
  const relay = await startRelay(shared.address);
  opened.push(relay);
  const redis = await connected(relay, 5_000);

  const replies = relay.hold();
  const first = redis.mget(['first']);
  await waitFor('the first reply', () => replies.length === 1);
  const second = outcome(redis.mget(['second']));
  await waitFor('the second reply', () => replies.length === 2);
  const third = outcome(redis.mget(['third']));
  // Time itself is tested: most of the third's time-out is to pass while it waits, and nothing else happens meanwhile.
  await systemClock.sleep(3_000);
  relay.answer(1);
  await first;

  // The third was sent only then. Its own time-out ends before this one, however slow the machine is.
  const another = new Promise<void>((resolve) => void afterAwake(4_000, resolve));
  expect(await Promise.race([third, another])).toMatchObject({ error: expect.any(StoreUnavailableError) });
  expect(await second).toMatchObject({ error: expect.any(StoreUnavailableError) });
});

test('a process that stalls beyond the time-out reads the replies that came meanwhile and keeps its connection', async () => {
  const relay = await startRelay(shared.address);
  opened.push(relay);
  const redis = await connected(relay, 5_000);
  await redis.set('a', '1', { ttlSeconds: 60 });
  const before = relay.clients.length;

  const replies = relay.hold();
  const commands = [redis.mget(['a'])];
  await waitFor('the first reply', () => replies.length === 1);
  commands.push(redis.mget(['a', 'b']));
  await waitFor('the second reply', () => replies.length === 2);
  // This one is sent once the first is answered.
  commands.push(redis.mget(['b']));
  // From here on timers come before what can be read.
  await new Promise((resolve) => setImmediate(resolve));
  relay.hold(false);
  relay.answer(2);
  standStill(6_500);

  expect(await Promise.all(commands)).toEqual([['1'], ['1', null], [null]]);
  expect(relay.clients.length).toBe(before);
});

test('a Redis that takes a connection and says nothing is connected to again after the time-out', async () => {
  let connections = 0;
  const silent = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    opened.push({ close: async () => void socket.destroy() });
  });
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  opened.push({ close: async () => void silent.close() });
  const url = `redis://someone:secret@127.0.0.1:${(silent.address() as AddressInfo).port}`;
  opened.push(connectRedis({ url, prefix: '', log: silentLogger, commandTimeoutMs: 200 }));

  await waitFor('a second connection', () => connections >= 2, 30_000);
});

test('a subscription that Redis does not answer after a reconnect is tried again, and ends no program', async () => {
  const relay = await startRelay(shared.address);
  opened.push(relay);
  const url = new URL(shared.adminUrl);
  const redis = connectRedis({
    url: url.href.replace(url.host, relay.address),
    prefix: '',
    log: silentLogger,
    // The first subscription has it too, at a Redis that other files may keep busy.
    commandTimeoutMs: 2_000,
  });
  opened.push(redis);
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  const channel = unique();
  const received: string[] = [];
  const unsubscribe = await redis.subscribe(channel, (message) => void received.push(message));
  try {
    const dropped = relay.drop('subscribe');
    relay.clients.forEach((client) => client.destroy());
    await waitFor('two unanswered subscriptions', () => dropped.length >= 2);
    relay.drop(undefined);

    await waitFor('a message', () => redis.publish(channel, 'hello').then(() => received.length > 0));
    expect(received).toContain('hello');
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
    await unsubscribe();
  }
});

/**
 * Blocks as a process does on a machine without time for it: its timers are due when it continues, and it has not read what
 * arrived meanwhile.
 */
const standStill = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/**
 * A connection to Redis on which replies can be held back, each as the chunk that it came in, and on which commands can get
 * lost.
 */
async function startRelay(redisAddress: string) {
  const [host, port] = redisAddress.split(':');
  const held: Buffer[] = [];
  const clients: Socket[] = [];
  let isHolding = false;
  let lost: string | undefined;
  const dropped: Buffer[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port), host);
    clients.push(client);
    client.on('data', (chunk) => (lost !== undefined && chunk.includes(lost) ? dropped.push(chunk) : upstream.write(chunk)));
    upstream.on('data', (chunk) => (isHolding ? held.push(chunk) : client.write(chunk)));
    for (const socket of [client, upstream])
      socket.on('error', () => {}).on('close', () => (client.destroy(), upstream.destroy()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    clients: clients as readonly Socket[],
    hold: (holding = true): readonly Buffer[] => ((isHolding = holding), held),
    answer: (count: number): void => held.splice(0, count).forEach((chunk) => clients.at(-1)?.write(chunk)),
    /** Loses what a client sends with this word in it, from now on; returns what was lost. */
    drop: (word: string | undefined): readonly Buffer[] => ((lost = word), dropped),
    close: async (): Promise<void> => {
      clients.forEach((client) => client.destroy());
      server.close();
      await Promise.resolve();
    },
  };
}
