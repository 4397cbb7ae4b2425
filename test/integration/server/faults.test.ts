import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { TaggedCache } from '../../../pkg/store/redis/tagged-cache.ts';
import { ownStores, serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';

const running = ownStores();
const tenant = serverSuite({ stores: running, limits: { user: 50 } });

/** Ten seconds, and a busy machine's time. A wait without an end of its own would last a minute. */
const BOUND_MS = 30_000;

const timed = async <T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> => {
  const started = performance.now();
  const result = await work();
  return { result, ms: performance.now() - started };
};

test('with Redis frozen the API still answers, limits still hold, and guessing is still bounded', async () => {
  const { api, user, password } = await tenant.user();
  await api.get('/users/me');
  running.signal('valkey', 'SIGSTOP');
  try {
    const first = await timed(() => api.get('/users/me'));
    const many = await Promise.all(range(70).map(() => api.get('/users/me')));
    const guesses = await Promise.all(
      range(30).map((at) => tenant.anonymous.post('/auth/login', { email: user.email, password: `guess ${at}` })),
    );
    const right = await tenant.anonymous.post('/auth/login', { email: user.email, password });

    expect(first.result.status).toBe(200);
    expect(first.ms).toBeLessThan(BOUND_MS);
    expect(countBy(many, ({ status }) => status)).toEqual({ 200: 49, 429: 21 });
    expect(countBy(guesses, ({ status }) => status)).toEqual({ 401: 10, 429: 20 });
    expect(right.status).toBe(429);
  } finally {
    running.signal('valkey', 'SIGCONT');
  }
  await waitFor('Redis is used again', async () => (await tenant.counting(() => tenant.admin.get('/users/me'))).redisTrips > 0);
});

test('a session can be ended while Redis is frozen: nobody gets in by it then, nor once its copy is cleared', async () => {
  const { api } = await tenant.user();
  await api.get('/users/me');
  running.signal('valkey', 'SIGSTOP');
  let replies: number[];
  try {
    replies = [(await api.post('/auth/logout')).status, (await api.get('/users/me')).status];
  } finally {
    running.signal('valkey', 'SIGCONT');
  }
  await waitFor('Redis is back', () => tenant.redis.ping().then(() => true));

  const work = await tenant.db.query<{ payload: { subjects: string[] } }>(
    `SELECT payload FROM carrel.work WHERE kind = 'cache.clear'`,
  );
  const cache = new TaggedCache({ redis: tenant.redis, random: systemRandom, log: silentLogger });
  for (const { payload } of work) await cache.clear(payload.subjects);

  expect([...replies, (await api.get('/users/me')).status]).toEqual([204, 401, 401]);
});

test('with Postgres killed what needs it is a 503 with Retry-After within 10 s, and it comes back by itself', async () => {
  // It may be back before a busy machine has come to the request.
  const away = await waitFor('a request while Postgres is unavailable', async () => {
    await running.kill('postgres');
    const reply = await timed(() => tenant.anonymous.post('/auth/login', tenant.administrator));
    return reply.result.status !== 200 && reply;
  });
  const back = await waitFor('sign-in after Postgres is back', async () => {
    const reply = await tenant.anonymous.post('/auth/login', tenant.administrator);
    return reply.status === 200 && reply;
  });

  expect([away.result.status, away.result.body.error, away.result.headers['retry-after']]).toEqual([503, 'unavailable', '2']);
  expect(away.ms).toBeLessThan(BOUND_MS);
  expect(back.body.user.email).toBe(tenant.administrator.email);
});

test('with Postgres frozen a request is a 503 within 10 s', async () => {
  await tenant.admin.get('/users/me');
  await tenant.restart(); // no connection is left from before, so a new one is wanted
  running.signal('postgres', 'SIGSTOP');
  try {
    const { result, ms } = await timed(() => tenant.admin.get('/users/me'));

    expect([result.status, result.body.error]).toEqual([503, 'unavailable']);
    expect(ms).toBeLessThan(BOUND_MS);
  } finally {
    running.signal('postgres', 'SIGCONT');
  }
  await waitFor('Postgres is used again', async () => (await tenant.admin.get('/users/me')).status === 200);
});

test('a server that receives SIGTERM finishes running requests', async () => {
  let finish = (): void => undefined;
  const held = new Promise<void>((resolve) => (finish = resolve));
  async function* body(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(100_000, 'a');
    await held;
    yield Buffer.alloc(100_000, 'b');
  }
  const { trips } = tenant.observed;
  const before = trips.length;
  const upload = tenant.admin.upload('/files', { name: 'held.txt', file: Readable.from(body()) });
  await waitFor('the upload is under way', () => trips.length > before);

  const restarted = tenant.restart();
  finish();
  await restarted;

  expect((await upload).body).toMatchObject({ name: 'held.txt', size: 200_000 });
  expect((await tenant.anonymous.post('/auth/login', tenant.administrator)).status).toBe(200);
});
