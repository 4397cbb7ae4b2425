import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTenant, type TestTenant } from '../../support/server.ts';
import { countBy, range } from '../../support/wait.ts';

let tenant: TestTenant;
beforeAll(async () => {
  tenant = await startTenant();
});
afterAll(() => tenant.stop());

test('signing in gives both tokens, their lifetime and the user', async () => {
  const { email, password } = tenant.administrator;
  const reply = await tenant.anonymous.post('/auth/login', { email: email.toUpperCase(), password });

  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    access_token: expect.stringMatching(/^ey/),
    token_type: 'Bearer',
    expires_in: 900,
    refresh_token: expect.stringMatching(/^[\w-]{43}$/),
    user: expect.objectContaining({ email, roles: ['admin'], tenant_id: tenant.tenantId, is_active: true }),
  });
});

test('a wrong password, an unknown person, a deactivated one and the system user look the same', async () => {
  const { user, password } = await tenant.user();
  await tenant.admin.patch(`/users/${user.id}`, { is_active: false });
  const attempts = [
    { email: tenant.administrator.email, password: 'wrong' },
    { email: 'nobody@example.org', password: 'wrong' },
    { email: user.email, password },
    { email: 'system@carrel.invalid', password: 'wrong' },
  ];

  const replies = await Promise.all(attempts.map((attempt) => tenant.anonymous.post('/auth/login', attempt)));

  expect(new Set(replies.map(({ status, body }) => `${status} ${body.error} ${body.message}`))).toEqual(
    new Set(['401 invalid_credentials The e-mail address or the password is wrong.']),
  );
});

test('a refused sign-in asks and computes the same, whether there is such a person or not', async () => {
  const [{ user: known }, { user: inactive }] = [await tenant.user(), await tenant.user()];
  await tenant.admin.patch(`/users/${inactive.id}`, { is_active: false });
  const { user: without } = await tenant.user();
  await tenant.db.query('UPDATE users SET password_hash = NULL WHERE uuid = $1', [without.id]);
  const refused = async (email: string) => {
    const before = process.cpuUsage();
    const { reply, sql, redisTrips } = await tenant.counting(() => tenant.anonymous.post('/auth/login', { email, password: 'wrong' }));
    const { user, system } = process.cpuUsage(before);
    return { seen: [reply.status, redisTrips, ...sql], cpu: user + system };
  };

  const emails = [known.email, inactive.email, without.email, 'nobody@example.org'];
  const rounds: { email: string; seen: unknown[]; cpu: number }[] = [];
  for (const _ of range(6)) for (const email of emails) rounds.push({ email, ...(await refused(email)) });
  const least = emails.map((email) => Math.min(...rounds.filter((round) => round.email === email).map(({ cpu }) => cpu)));

  expect(new Set(rounds.map(({ seen }) => JSON.stringify(seen))).size).toBe(1);
  expect(rounds[0]?.seen).toEqual([401, 2, expect.stringContaining('lower(email)')]);
  // argon2 is most of it: one that is left out would leave a small part.
  expect(Math.min(...least)).toBeGreaterThan(Math.max(...least) / 2);
});

test('refreshing gives new tokens, and the old refresh token is used up', async () => {
  const { api } = await tenant.user();

  const fresh = await tenant.anonymous.post('/auth/refresh', { refresh_token: api.refreshToken });
  const me = await tenant.anonymous.as(fresh.body.access_token).get('/users/me');

  expect([fresh.status, me.status]).toEqual([200, 200]);
  expect(fresh.body.refresh_token).not.toBe(api.refreshToken);
});

test('a refresh token that is used twice ends its session whole, access tokens included', async () => {
  const { api } = await tenant.user();
  const fresh = await tenant.anonymous.post('/auth/refresh', { refresh_token: api.refreshToken });
  const before = await tenant.anonymous.as(fresh.body.access_token).get('/users/me');

  const again = await tenant.anonymous.post('/auth/refresh', { refresh_token: api.refreshToken });

  const next = await tenant.anonymous.post('/auth/refresh', { refresh_token: fresh.body.refresh_token });
  const access = await Promise.all([api.get('/users/me'), tenant.anonymous.as(fresh.body.access_token).get('/users/me')]);
  expect([before.status, again.status, again.body.error]).toEqual([200, 401, 'invalid_refresh_token']);
  expect([next.status, ...access.map(({ status }) => status)]).toEqual([401, 401, 401]);
});

test('of 50 racing uses of one refresh token exactly one wins, and the session is over', async () => {
  const { api } = await tenant.user();

  const replies = await Promise.all(range(50).map(() => tenant.anonymous.post('/auth/refresh', { refresh_token: api.refreshToken })));

  expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 1, 401: 49 });
  expect((await api.get('/users/me')).status).toBe(401);
});

test('only hashes of refresh tokens are kept', async () => {
  const { api } = await tenant.user();

  const kept = await tenant.db.query<{ tokenHash: string }>('SELECT token_hash AS "tokenHash" FROM refresh_tokens');

  expect(kept.length).toBeGreaterThan(0);
  expect(kept.every(({ tokenHash }) => /^[0-9a-f]{64}$/.test(tokenHash) && tokenHash !== api.refreshToken)).toBe(true);
});

test('signing out ends the session at once, though its copy was warm', async () => {
  const { api } = await tenant.user();
  await api.get('/users/me');

  const out = await api.post('/auth/logout');

  const after = await Promise.all([api.get('/users/me'), tenant.anonymous.post('/auth/refresh', { refresh_token: api.refreshToken })]);
  expect([out.status, out.bytes.length, ...after.map(({ status }) => status)]).toEqual([204, 0, 401, 401]);
});

test('a browser may have the refresh token as a cookie that scripts cannot read', async () => {
  const { email, password } = tenant.administrator;
  const login = await tenant.anonymous.post('/auth/login', { email, password, cookie: true });
  const cookie = login.headers['set-cookie'] as string;

  const fresh = await tenant.anonymous.post('/auth/refresh', {}, { headers: { cookie: cookie.split(';')[0] as string } });

  expect(login.body).not.toHaveProperty('refresh_token');
  expect(cookie).toMatch(/^carrel_refresh=[\w-]{43}; Path=\/api\/v1\/auth; Max-Age=2592000; HttpOnly; SameSite=Strict$/);
  expect([fresh.status, 'refresh_token' in fresh.body]).toEqual([200, false]);
  expect(fresh.headers['set-cookie']).toMatch(/^carrel_refresh=/);
});

test('after 10 failures a person is refused for 15 minutes, even with the right password, and others are not', async () => {
  const [{ user, password }, other] = [await tenant.user(), await tenant.user()];

  const guesses = await Promise.all(
    range(50).map((guess) => tenant.anonymous.post('/auth/login', { email: user.email, password: `guess ${guess}` })),
  );
  const right = await tenant.anonymous.post('/auth/login', { email: user.email, password });
  const others = await tenant.anonymous.post('/auth/login', { email: other.user.email, password: other.password });

  expect(countBy(guesses, ({ status }) => status)).toEqual({ 401: 10, 429: 40 });
  expect([right.status, right.body.error, others.status]).toEqual([429, 'too_many_attempts', 200]);
  expect(right.body.retry_after).toBeGreaterThan(880);
  expect(right.headers['retry-after']).toBe(String(right.body.retry_after));
});

test('spellings of an address that find the same person share its ten guesses', async () => {
  const { user } = await tenant.user({ email: `irina-${Date.now()}@example.org` });
  const spellings = [user.email, user.email.toUpperCase(), user.email.replaceAll('i', 'İ'), user.email.replace('i', 'İ')];

  const guesses = await Promise.all(
    range(20).map((at) => tenant.anonymous.post('/auth/login', { email: spellings[at % 4], password: `guess ${at}` })),
  );

  expect(countBy(guesses, ({ status }) => status)).toEqual({ 401: 10, 429: 10 });
});

test('50 people who know their password sign in at once, also as the same person, in the memory of a few', async () => {
  const before = process.memoryUsage().rss;

  const replies = await Promise.all(range(50).map(() => tenant.anonymous.post('/auth/login', tenant.administrator)));

  expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 50 });
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
});

test('a warm session costs no SQL; a cold one costs one statement', async () => {
  const { api } = await tenant.user();
  const cold = await tenant.counting(() => api.post('/auth/logout', { no: 'body' }));
  const warm = await tenant.counting(() => api.post('/auth/logout', { no: 'body' }));

  expect([cold.reply.status, cold.sql.length]).toEqual([400, 1]);
  expect([warm.reply.status, warm.sql.length, warm.redisTrips]).toEqual([400, 0, 1]);
});

test("the session's copy in Redis has the specified fields and lives 3600 s, sliding", async () => {
  const { api, user } = await tenant.user();
  await api.get('/users/me');
  const sid = JSON.parse(Buffer.from((api.token as string).split('.')[1] as string, 'base64url').toString()).sid;
  const key = `c:session:${user.id}:${sid}`;
  await tenant.redis.run([['expire', key, 100]]);

  await api.get('/users/me');

  const [copy, ttl] = (await tenant.redis.run([
    ['hgetall', key],
    ['ttl', key],
  ])) as [Record<string, string> | string[], number];
  const fields = Array.isArray(copy) ? Object.fromEntries(copy.flatMap((name, at) => (at % 2 === 0 ? [[name, copy[at + 1]]] : []))) : copy;
  expect({ ...JSON.parse(fields.value as string), last_activity: fields.last_activity }).toMatchObject({
    user_id: expect.any(Number),
    email: user.email,
    roles: ['member'],
    permissions: expect.arrayContaining(['read:files']),
    tenant_id: tenant.tenantId,
    created_at: expect.stringMatching(/Z$/),
    last_activity: expect.stringMatching(/Z$/),
  });
  expect(ttl).toBeGreaterThan(3590);
});
