import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Redis } from '../../../pkg/store/redis/redis.ts';
import type { Decision, Limit } from '../../../pkg/store/redis/rate-limit.ts';
import { GroupedWindowLimiter } from '../../../pkg/store/redis/grouped-window-limiter.ts';
import { type ApiReply, sendRaw } from '../../support/clients/api.ts';
import { ManualClock } from '../../support/clock.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { countBy, range } from '../../support/wait.ts';

const tenants: TestTenant[] = [];
const start: typeof startTenant = async (options) => {
  const tenant = await startTenant(options);
  tenants.push(tenant);
  return tenant;
};
afterEach(async () => {
  await Promise.all(tenants.splice(0).map((tenant) => tenant.stop()));
});

/*
 * Most requests here are for `/nothing`. The OpenAPI document costs a second of CPU when it is first asked for; on a busy machine
 * the replies of Redis to the requests beside it lie unread for longer than a request waits for Redis, and the server counts by
 * itself what Redis has counted.
 */

const limitHeaders = ({ headers }: ApiReply): string[] =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => headers[name] as string);

test('every reply of the API has the headers of the tightest limit', async () => {
  const clock = new ManualClock();
  const tenant = await start({ limits: { user: 100, tenant: 1000, ip: 10_000 }, clock });
  const reset = String(Math.ceil(clock.now().getTime() / 1000) + 60);

  const replies = [
    await tenant.admin.get('/users/me'),
    await tenant.admin.get('/users/none'),
    await tenant.anonymous.get('/users/me'),
    await tenant.anonymous.get('/nothing'),
    await tenant.anonymous.get('/openapi.json'),
    await tenant.anonymous.get('/users', { headers: { 'x-tenant-id': 'another' } }),
  ];

  expect(replies.map(limitHeaders)).toEqual([
    ['100', '99', reset],
    ['100', '98', reset],
    ['67', '66', reset], // of the 200 for all, one network has a third
    ['67', '65', reset],
    ['67', '64', reset],
    ['67', '63', reset],
  ]);
});

test('replies of every status have the limit headers', async () => {
  const tenant = await start();
  const { admin, anonymous } = tenant;
  const file = (await admin.upload('/files', { name: 'a.txt', file: Buffer.from('text') })).body as {
    id: string;
    checksum: string;
  };
  const key = { headers: { 'idempotency-key': 'key' } };
  await admin.post('/folders', { name: 'a' }, key);
  const tagged = (name: string, tag: string) => ({ headers: { [name]: `"${tag}"` } });
  const noHost = await sendRaw(`${tenant.apiUrl}/users/me`, { headers: ['connection', 'close'] });
  const replies = [
    await admin.get(`/files/${file.id}/download`),
    await admin.post('/folders', { name: 'b' }),
    await admin.get(`/files/${file.id}/download`, { headers: { range: 'bytes=0-1' } }),
    await admin.get(`/files/${file.id}/download`, tagged('if-none-match', file.checksum)),
    noHost,
    await admin.get('/users?colour=red'),
    await anonymous.get('/users/me'),
    await anonymous.as('a.b.c').post('/files', {}),
    await admin.get('/users/me', { headers: { 'x-tenant-id': 'another' } }),
    await admin.get('/nothing'),
    await admin.get(tenant.apiUrl),
    await admin.patch('/users', {}),
    await admin.raw('OPTIONS', '/users'),
    await admin.post('/folders', { name: 'a' }),
    await admin.patch(`/files/${file.id}`, { name: 'b.txt' }, tagged('if-match', 'old')),
    await anonymous.post('/auth/login', { email: 'a@example.org', password: 'x'.repeat(70_000) }),
    await admin.post('/folders', 'name', { headers: { 'content-type': 'text/plain' } }),
    await admin.get(`/files/${file.id}/download`, { headers: { range: 'bytes=9-' } }),
    await admin.post('/folders', { name: 'c' }, key),
  ];
  await tenant.restart({ CARREL_LIMIT_USER_PER_MINUTE: 1 });
  replies.push(await admin.get('/users/me'));

  expect(replies.map(({ status }) => status)).toEqual([
    200, 201, 206, 304, 400, 400, 401, 401, 403, 404, 404, 405, 405, 409, 412, 413, 415, 416, 422, 429,
  ]);
  expect(replies.filter((reply) => limitHeaders(reply).some((value) => !/^\d+$/.test(value)))).toEqual([]);
});

test('a page replies to a client that accepts JSON with an error body and Retry-After', async () => {
  const tenant = await start({ limits: { ip: 5 } });
  const ask = () => tenant.anonymous.raw('GET', `${tenant.url}/lti/launch`, { headers: { accept: 'application/json' } });

  const replies = await Promise.all(range(6).map(ask));
  const refused = replies.find(({ status }) => status === 429) as ApiReply;

  expect(refused.body).toEqual({
    error: 'rate_limit_exceeded',
    message: expect.any(String),
    request_id: expect.any(String),
    retry_after: Number(refused.headers['retry-after']),
  });
});

test('20 of 50 racing requests of a user with a limit of 20 succeed, and another user is served', async () => {
  const tenant = await start({ limits: { user: 20 } });
  const other = await tenant.user();

  const replies = await Promise.all(range(50).map(() => other.api.get('/users/me')));
  const refused = replies.find(({ status }) => status === 429) as ApiReply;

  expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 20, 429: 30 });
  expect(refused.body).toEqual({
    error: 'rate_limit_exceeded',
    message: expect.any(String),
    request_id: expect.any(String),
    retry_after: expect.any(Number),
  });
  expect(refused.headers['retry-after']).toBe(String(refused.body.retry_after));
  expect((await tenant.admin.get('/users/me')).status).toBe(200);
});

test('the window slides: what is asked again at its edge is not doubled, and retry_after is exact', async () => {
  const clock = new ManualClock();
  const tenant = await start({ limits: { user: 4 }, clock });
  const ask = async (): Promise<number> => (await tenant.admin.get('/users/me')).status;

  const first = [await ask(), await ask()];
  await clock.advance(50_000);
  const second = [await ask(), await ask(), await ask()];
  const refused = await tenant.admin.get('/users/me');
  await clock.advance(9_999);
  const early = await ask();
  await clock.advance(1);
  const third = [await ask(), await ask(), await ask()];

  expect([first, second, early, third]).toEqual([[200, 200], [200, 200, 429], 429, [200, 200, 429]]);
  expect([refused.body.retry_after, limitHeaders(refused)]).toEqual([
    10,
    ['4', '0', String(Date.parse('2026-01-01T00:01:50Z') / 1000)],
  ]);
});

test('the limit of the tenant counts all its users together', async () => {
  const tenant = await start({ limits: { tenant: 20 } });
  const { api } = await tenant.user(); // one request of the administrator's

  const replies = await Promise.all(range(40).map((at) => (at % 2 === 0 ? api : tenant.admin).get('/users/me')));

  expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 19, 429: 21 });
});

/** Headers of a request from the nth of many networks. */
const network = (at: number) => ({ headers: { 'x-forwarded-for': `203.0.113.${at}` } });

test('requests without a valid token share a fifth of the tenant’s limit, and take nothing from people or pages', async () => {
  const tenant = await start({ limits: { tenant: 30 }, trustedProxies: 1 });
  const asked = await Promise.all([
    ...range(20).map((at) => tenant.anonymous.raw('OPTIONS', '/users', network(at))),
    ...range(20).map((at) => tenant.anonymous.as('a.b.c').get('/users/me', network(at))),
    ...range(20).map((at) => tenant.anonymous.get('/nothing', network(at))),
    ...range(20).map((at) => tenant.anonymous.get('/users', { headers: { ...network(at).headers, 'x-tenant-id': 'another' } })),
  ]);
  const pages = () => Promise.all(range(130).map((at) => tenant.anonymous.raw('GET', `${tenant.url}/lti/launch`, network(at))));
  const signedIn = await Promise.all(range(30).map(() => tenant.admin.get('/users/me')));
  const shown = await pages();

  expect(asked.filter(({ status }) => status !== 429)).toHaveLength(6);
  expect(countBy(signedIn, ({ status }) => status)).toEqual({ 200: 30 });
  expect(countBy(shown, ({ status }) => status)).toEqual({ 400: 120, 429: 10 });
});

test('two networks that ask for all they can leave a third of every limit without a token to the others', async () => {
  const tenant = await start({ limits: { tenant: 45 }, trustedProxies: 1 });
  const kinds = {
    reference: (from: object) => tenant.anonymous.get('/nothing', from),
    login: (from: object) => tenant.anonymous.post('/auth/login', { email: 'a@example.org', password: 'wrong' }, from),
    refresh: (from: object) => tenant.anonymous.post('/auth/refresh', { refresh_token: 'none' }, from),
    page: (from: object) => tenant.anonymous.raw('GET', `${tenant.url}/lti/launch`, from),
    link: (from: object) => tenant.anonymous.get('/s/none/children', from),
  };
  // An IPv6 connection has 256 networks of 64 bits, which count as one.
  const flooding = range(64).flatMap((at) => [
    network(1),
    { headers: { 'x-forwarded-for': `2001:db8:1:${(0x100 + at).toString(16)}::1` } },
  ]);
  const taken: Record<string, unknown> = {};
  for (const [kind, ask] of Object.entries(kinds)) {
    const flood = await Promise.all(flooding.map(ask));
    const other = await ask(network(2));
    taken[kind] = [flood.filter(({ status }) => status !== 429).length, other.status];
  }

  // The login of the harness came before.
  expect(taken).toEqual({ reference: [6, 404], login: [6, 401], refresh: [30, 401], page: [120, 400], link: [60, 404] });
});

test('requests without a token keep nobody from downloads by link, signing in, or staying signed in', async () => {
  const tenant = await start({ limits: { tenant: 50, user: 20 } });
  const { body: file } = await tenant.admin.upload('/files', { file: Buffer.from('x'), name: 'x' });
  const { url } = (await tenant.admin.post(`/files/${file.id}/ticket`)).body;
  const asked = await Promise.all(range(12).map(() => tenant.anonymous.get('/nothing')));

  const served = [
    await tenant.anonymous.get(url),
    await tenant.anonymous.post('/auth/login', tenant.administrator),
    await tenant.anonymous.post('/auth/refresh', { refresh_token: tenant.admin.refreshToken }),
  ];

  expect(countBy(asked, ({ status }) => status)).toEqual({ 404: 4, 429: 8 });
  expect(served.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('a download by link counts against person and tenant; one by an invalid link as a request without a token', async () => {
  const tenant = await start({ limits: { tenant: 100, user: 6 } });
  const { body: file } = await tenant.admin.upload('/files', { file: Buffer.from('x'), name: 'x' });
  const { url } = (await tenant.admin.post(`/files/${file.id}/ticket`)).body;

  const forged = await Promise.all(range(10).map(() => tenant.anonymous.get(`${url.slice(0, -4)}AAAA`)));
  const opened = await Promise.all(range(10).map(() => tenant.anonymous.get(url)));
  const byToken = await tenant.admin.get('/users/me');

  expect(countBy(forged, ({ status }) => status)).toEqual({ 404: 7, 429: 3 });
  expect(countBy(opened, ({ status }) => status)).toEqual({ 200: 4, 429: 6 });
  expect(opened.find(({ status }) => status === 200)?.headers['x-ratelimit-limit']).toBe('6');
  expect(byToken.status).toBe(429);
});

test('the limit of an address counts by the hour, behind the proxies that are trusted', async () => {
  const tenant = await start({ limits: { ip: 10 }, trustedProxies: 1 });
  const from = (forwarded: string): Promise<ApiReply> =>
    tenant.anonymous.get('/nothing', { headers: { 'x-forwarded-for': forwarded } });

  const one = await Promise.all(range(12).map(() => from('198.51.100.7')));
  const two = await from('198.51.100.8');

  expect(countBy(one, ({ status }) => status)).toEqual({ 404: 10, 429: 2 });
  expect(two.status).toBe(404);
  expect(one.find(({ status }) => status === 429)?.body.retry_after).toBeGreaterThan(3500);
});

test('a client behind a trusted proxy cannot forge its address by a header of its own', async () => {
  const tenant = await start({ limits: { ip: 5 }, trustedProxies: 1 });

  // The proxy appends the true address; what stands before it is the client's invention.
  const forged = await Promise.all(
    range(10).map((at) => tenant.anonymous.get('/nothing', { headers: { 'x-forwarded-for': `203.0.113.${at}, 198.51.100.7` } })),
  );

  expect(countBy(forged, ({ status }) => status)).toEqual({ 404: 5, 429: 5 });
});

test('without a trusted proxy X-Forwarded-For says nothing', async () => {
  const tenant = await start({ limits: { ip: 5 } });

  const forged = await Promise.all(
    range(10).map((at) => tenant.anonymous.get('/nothing', { headers: { 'x-forwarded-for': `203.0.113.${at}` } })),
  );

  expect(countBy(forged, ({ status }) => status)).toEqual({ 404: 4, 429: 6 }); // the harness signed in first
});

test('a token that does not hold still counts against its address', async () => {
  const tenant = await start({ limits: { ip: 6 } });

  const replies = await Promise.all(range(10).map(() => tenant.anonymous.as('a.b.c').get('/users/me')));

  expect(countBy(replies, ({ status }) => status)).toEqual({ 401: 5, 429: 5 });
});

/** Counts requests by one call. */
async function counted(
  redis: Redis,
  limiter: GroupedWindowLimiter,
  requests: readonly (readonly Limit[])[],
): Promise<Decision[]> {
  const { call, read } = limiter.command(requests);
  return read(await redis.call(call));
}

test('requests of one call are counted in order, each against all of its limits or, when refused, against none', async () => {
  const { redis } = await start();
  const clock = new ManualClock();
  const limiter = new GroupedWindowLimiter({ clock });
  const [ada, ben] = ['ada', 'ben'].map((key) => ({ key, max: 2, windowSeconds: 60 })) as [Limit, Limit];
  const tenant = { key: 'tenant', max: 3, windowSeconds: 60 };

  const first = await counted(redis, limiter, [
    [ada, tenant],
    [ada, tenant],
    [ada, tenant],
    [ben, tenant],
    [ben, tenant],
  ]);
  await clock.advance(59_999);
  const [early] = await counted(redis, limiter, [[ben, tenant]]);
  await clock.advance(1);
  const [late] = await counted(redis, limiter, [[ben, tenant]]);

  expect(first.map(({ allowed, tightest: { limit, remaining, waitMs } }) => [allowed, limit.key, remaining, waitMs])).toEqual([
    [true, 'ada', 1, 0],
    [true, 'ada', 0, 0],
    [false, 'ada', 0, 60_000],
    [true, 'tenant', 0, 0],
    [false, 'tenant', 0, 60_000],
  ]);
  expect([early?.allowed, early?.tightest.waitMs, late?.allowed]).toEqual([false, 1, true]);
});

test('no window has more than its limit, and no request is refused that a window a twentieth longer would take', async () => {
  const { redis } = await start();
  const limits = [
    { key: 'few', max: 5, windowSeconds: 20 },
    { key: 'many', max: 12, windowSeconds: 60 },
  ];
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ afterMs: fc.nat(4_000), requests: fc.integer({ min: 1, max: 3 }) }), { minLength: 30 }),
      async (steps) => {
        const clock = new ManualClock();
        const limiter = new GroupedWindowLimiter({ clock });
        const own = limits.map((limit) => ({ ...limit, key: `${limit.key}:${runs}` }));
        runs += 1;
        const taken: number[] = [];
        const since = (ms: number): number => taken.filter((at) => at > clock.monotonic() - ms).length;
        for (const { afterMs, requests } of steps) {
          await clock.advance(afterMs);
          for (const { allowed, tightest } of await counted(redis, limiter, Array(requests).fill(own))) {
            const isFull = (longer: number): boolean =>
              limits.some(({ max, windowSeconds }) => since(windowSeconds * 1000 * longer) >= max);
            expect(allowed ? isFull(1) : !isFull(1.05)).toBe(false);
            if (allowed) taken.push(clock.monotonic());
            else expect(tightest.waitMs).toBeGreaterThan(0);
          }
        }
      },
    ),
    { numRuns: 10 },
  );
});
