import { connect } from 'node:net';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { Redis as RawClient } from 'ioredis';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { redisPrefix, RedisUsers, redisUser } from '../../../pkg/store/redis/acl.ts';
import { countAndLookup, LIBRARY, LIBRARY_CODE } from '../../../pkg/store/redis/library.ts';
import { TAKE } from '../../../pkg/store/redis/sliding-log-limiter.ts';
import { connectRedis, type Redis, type Reply, type RoundTrip, WAKE_CHANNEL } from '../../../pkg/store/redis/redis.ts';
import { GroupedWindowLimiter } from '../../../pkg/store/redis/grouped-window-limiter.ts';
import { type CacheEntry, LOOKUP, TaggedCache } from '../../../pkg/store/redis/tagged-cache.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import { ownStores } from '../../support/suites/server-suite.ts';
import { range, waitFor } from '../../support/wait.ts';

const running = ownStores();
let users: RedisUsers;
let admin: RawClient;
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  users = new RedisUsers({ url: running.redis.adminUrl, log: silentLogger });
  admin = new RawClient(running.redis.adminUrl);
  admin.on('error', () => {});
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.close()));
});
atEnd(async () => {
  admin?.disconnect();
  await users?.close();
});

const urlOf = (slug: string, password = 'secret'): string => `redis://${redisUser(slug)}:${password}@${running.redis.address}`;

async function tenantRedis(slug: string, observe?: (trip: RoundTrip) => void): Promise<Redis> {
  await users.ensure({ slug, passwords: ['secret'] });
  const redis = connectRedis({ url: urlOf(slug), prefix: redisPrefix(slug), log: silentLogger, ...(observe ? { observe } : {}) });
  opened.push(redis);
  return redis;
}

test('keys have the tenant’s prefix; values live as long as their TTL', async () => {
  const redis = await tenantRedis('plain');

  await redis.set('a', '1', { ttlSeconds: 60 });

  expect(await redis.mget(['a', 'b'])).toEqual(['1', null]);
  expect(await admin.get('t:plain:a')).toBe('1');
  expect(await admin.ttl('t:plain:a')).toBeGreaterThan(50);
});

test('a connection with the functions loads them where there are none, and replaces none that the operator loaded', async () => {
  const listed = async (): Promise<string> =>
    JSON.stringify(await admin.call('FUNCTION', ['LIST', 'LIBRARYNAME', LIBRARY, 'WITHCODE']));
  const bring = async (): Promise<void> => {
    const redis = connectRedis({ url: running.redis.adminUrl, prefix: '', library: LIBRARY_CODE, log: silentLogger });
    opened.push(redis);
    // Commands of a connection are answered in order, so the functions were taken or refused before.
    await redis.ping();
  };
  const newer = `${LIBRARY_CODE}\n-- newer`;

  await admin.call('FUNCTION', ['FLUSH']);
  await bring();
  const loaded = await listed();
  await admin.call('FUNCTION', ['LOAD', 'REPLACE', newer]);
  await bring();
  const untouched = await listed();
  await admin.call('FUNCTION', ['LOAD', 'REPLACE', LIBRARY_CODE]);

  expect(loaded).toContain('carrel_take');
  expect(loaded).not.toContain('-- newer');
  expect(untouched).toContain('-- newer');
});

test('requests are counted and values looked up by one command, each with its own keys and arguments', async () => {
  const trips: string[] = [];
  const redis = await tenantRedis('joined', ({ command }) => void trips.push(command));
  const limiter = new GroupedWindowLimiter({ clock: systemClock });
  const cache = new TaggedCache({ redis, random: systemRandom, log: silentLogger });
  const entries = [
    { key: 'there', tags: ['one', 'two'] },
    { key: 'missing', tags: [] },
  ];
  await (await cache.lookup(entries[0] as CacheEntry)).put('value', 60);
  trips.length = 0;
  const limits = limiter.command([[{ key: 'ada', max: 5, windowSeconds: 60 }], [{ key: 'ben', max: 1, windowSeconds: 60 }]]);
  const lookups = cache.command(entries);

  const [counted = null, found = null] = (await redis.call(countAndLookup(limits.call, lookups.call))) as readonly Reply[];

  expect(limits.read(counted).map(({ tightest }) => tightest.remaining)).toEqual([4, 0]);
  expect(lookups.read(found).map(({ value }) => value)).toEqual(['value', undefined]);
  expect(trips).toEqual(['fcall']);
});

test('functions that Redis has lost are loaded again with the next user, and at the next connection', async () => {
  const redis = await tenantRedis('lost');
  const limiter = new GroupedWindowLimiter({ clock: systemClock });
  const count = () => redis.call(limiter.command([[{ key: 'ada', max: 5, windowSeconds: 60 }]]).call);
  await count();
  await admin.call('FUNCTION', ['FLUSH']);

  await expect(count()).rejects.toBeInstanceOf(StoreUnavailableError);
  expect(await users.ensure({ slug: 'lost', passwords: ['secret'] })).toEqual({ changed: false });
  await count();

  await admin.call('FUNCTION', [
    'LOAD',
    'REPLACE',
    "#!lua name=carrel\nredis.register_function('carrel_count', function() return 1 end)",
  ]);
  await users.ensure({ slug: 'lost', passwords: ['secret'] });
  expect(await count()).toHaveLength(2);

  await admin.call('FUNCTION', ['FLUSH']);
  await admin.call('CLIENT', ['KILL', 'USER', 'carrel_admin', 'SKIPME', 'yes']);
  await until(count);
});

test('commands that come while others are on their way wait for them and go together, and each gets its own reply', async () => {
  const redis = await tenantRedis('gathered');
  await redis.ping();
  const readsBefore = await eventsOf();

  const replies = await Promise.all(
    range(200).map(async (at) => redis.set(`k${at}`, 'v', { ttlSeconds: 60 }).then(() => redis.mget([`k${at}`]))),
  );

  expect(replies).toEqual(range(200).map(() => ['v']));
  expect((await eventsOf()) - readsBefore).toBeLessThan(40);
});

/** Returns how often the server has read from clients so far. */
const eventsOf = async (): Promise<number> => Number(/total_reads_processed:(\d+)/.exec(await admin.info('stats'))?.[1]);

test('refusals of Redis are thrown unchanged', async () => {
  const redis = await tenantRedis('wrong');

  await expect(redis.call(TAKE.call(range(9).map((at) => `k${at}`)))).rejects.toThrow('too many keys');
});

test("a tenant's user runs no command that Carrel does not use, not even on its own keys, and sends no Lua", async () => {
  await users.ensure({ slug: 'curious', passwords: ['secret'] });
  const curious = new RawClient(urlOf('curious'), { enableReadyCheck: false });
  opened.push({ close: async () => curious.disconnect() });

  const unused: [string, ...string[]][] = [
    ['GET', 't:curious:a'],
    ['DEL', 't:curious:a'],
    ['APPEND', 't:curious:a', 'x'],
    ['ZADD', 't:curious:a', '1', 'm'],
    ['EXISTS', 't:curious:a'],
    ['INCR', 't:curious:a'],
    ['TTL', 't:curious:a'],
    ['HGETALL', 't:curious:a'],
    ['SADD', 't:curious:a', 'm'],
    ['ZRANGEBYSCORE', 't:curious:a', '0', '1'],
    ['UNLINK', 't:curious:a'],
    ['TIME'],
    ['SELECT', '1'],
    ['MULTI'],
    ['EVAL', 'return 1', '0'],
    ['EVAL_RO', 'return 1', '0'],
    ['EVALSHA', 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db', '0'],
    ['FCALL_RO', 'carrel_take', '0'],
    ['SCRIPT', 'LOAD', 'return 1'],
    ['SCRIPT', 'KILL'],
    ['FUNCTION', 'LOAD', 'REPLACE', '#!lua name=carrel'],
    ['FUNCTION', 'DELETE', 'carrel'],
    ['FUNCTION', 'KILL'],
  ];
  const refusals = await Promise.all(
    unused.map(async ([command, ...args]) => [
      command,
      await curious.call(command, args).then(
        () => 'allowed',
        (error: Error) => error.message,
      ),
    ]),
  );

  expect(refusals.filter(([, message]) => !/NOPERM|ACL failure/.test(String(message)))).toEqual([]);
});

test("a tenant's user reaches nothing of another's, lists no keys, and publishes on the wake-up channel alone", async () => {
  const theirs = await tenantRedis('theirs');
  await theirs.set('secret', 'x', { ttlSeconds: 60 });
  await users.ensure({ slug: 'ours', passwords: ['secret'] });
  const intruder = new RawClient(urlOf('ours'), { enableReadyCheck: false });
  opened.push({ close: async () => intruder.disconnect() });

  const attempts: [string, ...string[]][] = [
    ['GET', 't:theirs:secret'],
    ['SET', 't:theirs:secret', 'mine'],
    ['DEL', 't:theirs:secret'],
    ['EXISTS', 't:theirs:secret'],
    ['MGET', 't:ours:a', 't:theirs:secret'],
    ['FCALL', 'carrel_lookup', '2', 't:ours:a', 't:theirs:secret', 'v', '60', 'now', '1', '0'],
    ['FCALL', 'carrel_renew', '1', 't:theirs:secret', '-', 'v', '60', '0'],
    ['SCAN', '0'],
    ['KEYS', '*'],
    ['RANDOMKEY'],
    ['DBSIZE'],
    ['FLUSHALL'],
    ['FLUSHDB'],
    ['SWAPDB', '0', '1'],
    ['CONFIG', 'GET', '*'],
    ['ACL', 'LIST'],
    ['ACL', 'SETUSER', 'x', 'on'],
    ['CLIENT', 'LIST'],
    ['CLIENT', 'KILL', 'TYPE', 'normal'],
    ['INFO'],
    ['MONITOR'],
    ['DEBUG', 'SLEEP', '0'],
    ['SHUTDOWN'],
    ['SCRIPT', 'FLUSH'],
    ['FUNCTION', 'LIST'],
    ['SORT', 't:ours:l', 'GET', 't:theirs:*'],
    ['PUBLISH', 'other', 'x'],
    ['SUBSCRIBE', WAKE_CHANNEL],
    ['PSUBSCRIBE', '*'],
    ['MIGRATE', 'h', '1', 't:ours:a', '0', '1'],
  ];
  const refusals = await Promise.all(
    attempts.map(async ([command, ...args]) => [
      command,
      ...args,
      await intruder.call(command, args).then(
        () => 'allowed',
        (error: Error) => error.message,
      ),
    ]),
  );
  expect(refusals.filter((line) => !/NOPERM|ACL failure|not allowed/.test(String(line.at(-1))))).toEqual([]);
  expect(await intruder.call('PUBLISH', [WAKE_CHANNEL, 'tenant_ours'])).toBe(0);
  expect(await theirs.mget(['secret'])).toEqual(['x']);
});

test('a correct user is not written again; a changed password and a user edited by hand are corrected', async () => {
  expect(await users.ensure({ slug: 'kept', passwords: ['one'] })).toEqual({ changed: true });
  expect(await users.ensure({ slug: 'kept', passwords: ['one'] })).toEqual({ changed: false });
  expect(await users.ensure({ slug: 'kept', passwords: ['two'] })).toEqual({ changed: true });
  await admin.call('ACL', ['SETUSER', 'tenant_kept', '+@all']);

  expect(await users.ensure({ slug: 'kept', passwords: ['two'] })).toEqual({ changed: true });
  const redis = connectRedis({ url: urlOf('kept', 'two'), prefix: '', log: silentLogger });
  opened.push(redis);
  await redis.ping();
  const wrong = connectRedis({ url: urlOf('kept', 'one'), prefix: '', log: silentLogger });
  opened.push(wrong);
  await expect(wrong.ping()).rejects.toBeInstanceOf(StoreUnavailableError);
});

test('users outlive a restart, values do not, and users go with their keys when removed', async () => {
  const redis = await tenantRedis('lasting');
  await redis.set('a', '1', { ttlSeconds: 600 });

  await running.kill('valkey', 'SIGTERM');
  await expect(redis.mget(['a'])).rejects.toBeInstanceOf(StoreUnavailableError);
  await until(() => redis.ping());
  expect(await redis.mget(['a'])).toEqual([null]);
  await redis.set('a', '1', { ttlSeconds: 600 });
  await users.remove('lasting');
  await users.remove('lasting');

  expect(await admin.keys('t:lasting:*')).toEqual([]);
  await expect(redis.ping()).rejects.toBeInstanceOf(StoreUnavailableError);
});

test('a frozen Redis is reported within the time-out, then at once, and used again when it thaws', async () => {
  const redis = await tenantRedis('frozen');
  await redis.ping();

  running.signal('valkey', 'SIGSTOP');
  const first = await timed(redis.mget(['a']));
  const second = await timed(redis.mget(['a']));
  running.signal('valkey', 'SIGCONT');

  expect(first.error).toBeInstanceOf(StoreUnavailableError);
  expect(first.ms).toBeLessThan(10_000); // two seconds; the rest is a busy machine's
  expect(second.error).toBeInstanceOf(StoreUnavailableError);
  expect([first, second].map(({ error }) => String(error).includes('did not answer in time'))).toEqual([true, false]);
  await until(() => redis.ping());
});

test('a subscriber receives what is published, also after Redis was unavailable', async () => {
  const worker = connectRedis({ url: running.redis.adminUrl, prefix: '', log: silentLogger });
  opened.push(worker);
  const heard: string[] = [];
  const stop = await worker.subscribe(WAKE_CHANNEL, (message) => void heard.push(message));
  const redis = await tenantRedis('waking');

  await redis.publish(WAKE_CHANNEL, 'one');
  await until(async () => expect(heard).toEqual(['one']));
  await running.kill('valkey');
  await until(async () => {
    await redis.publish(WAKE_CHANNEL, 'two');
    expect(heard).toContain('two');
  });
  await stop();
});

test.each([
  ['a tenant', 'tenant_greedy', 'AUTH tenant_greedy secret\r\n'],
  ['whoever does not sign in', 'default', ''],
])('%s that holds most connections loses them, and others keep theirs and find room', async (_who, user, greeting) => {
  const [honest] = [await tenantRedis('honest'), await users.ensure({ slug: 'greedy', passwords: ['secret'] })];
  await until(() => honest.ping());
  await admin.config('SET', 'maxclients', '60');
  const { hostname, port } = new URL(urlOf('greedy'));
  const greedy = range(45).map(() => connect(Number(port), hostname).on('error', () => {}));
  greedy.forEach((socket) => socket.resume().write(greeting));
  // One that Redis takes later than the others would be no part of the crowd that is ended.
  await waitFor('each to hold its connection', async () => {
    const lines = String(await admin.client('LIST')).split('\n');
    const held = lines.filter((line) => line.includes(` user=${user} `)).map((line) => / addr=\S+:(\d+) /.exec(line)?.[1]);
    return greedy.every(({ localPort }) => held.includes(String(localPort)));
  });

  const ended = await users.endCrowds();
  await waitFor('their end', () => greedy.every(({ closed }) => closed));
  const again = await users.endCrowds();
  await admin.config('SET', 'maxclients', '10000');

  expect([ended, again, honest.isReady]).toEqual([[user], [], true]);
});

async function timed(work: Promise<unknown>): Promise<{ ms: number; error: unknown }> {
  const began = performance.now();
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { ms: performance.now() - began, error };
}

const until = (check: () => Promise<unknown>): Promise<true> =>
  waitFor('what was checked', async () => {
    await check();
    return true;
  });

test('a call that is made by a function is made once, when its batch leaves', async () => {
  const redis = await tenantRedis('gathered');
  const keys: string[] = [];
  let made = 0;
  const reply = redis.call(() => LOOKUP.call(keys, [`v${(made += 1)}`, 60, 'now', keys.length - 1, 0]));
  keys.push('value', 'tag');

  expect(await reply).toEqual([['v1']]);
  expect(made).toBe(1);
});
