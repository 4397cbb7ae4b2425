import { expect, test } from '@jest/globals';
import { ManualClock } from '../../support/clock.ts';
import { countBy, range, untilServed, waitFor } from '../../support/wait.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant } from '../../support/programs/server.ts';

const tenant = serverSuite({ realPasswords: true });

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
    const { reply, sql, redisTrips } = await tenant.counting(() =>
      tenant.anonymous.post('/auth/login', { email, password: 'wrong' }),
    );
    const { user, system } = process.cpuUsage(before);
    return { seen: [reply.status, redisTrips, ...sql], cpu: user + system };
  };

  const emails = [known.email, inactive.email, without.email, 'nobody@example.org'];
  const rounds: { email: string; seen: unknown[]; cpu: number }[] = [];
  const least = () => emails.map((email) => Math.min(...rounds.filter((round) => round.email === email).map(({ cpu }) => cpu)));
  // argon2 is most of it: one that is left out would leave a small part.
  const isAlike = () => Math.min(...least()) > Math.max(...least()) / 2;
  // More where the process did something else in all of them; after ten failures nobody is asked about.
  for (let round = 0; round < 9 && (round < 6 || !isAlike()); round += 1)
    for (const email of emails) rounds.push({ email, ...(await refused(email)) });

  expect(new Set(rounds.map(({ seen }) => JSON.stringify(seen))).size).toBe(1);
  expect(rounds[0]?.seen).toEqual([
    401,
    2,
    expect.stringContaining('lower(email)'),
    expect.stringContaining('audit_refused_sign_in'),
  ]);
  expect({ least: least(), isAlike: isAlike() }).toMatchObject({ isAlike: true });
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

test('exactly one of 50 racing uses of a refresh token wins, and the session is over', async () => {
  const { api } = await tenant.user();

  const replies = await Promise.all(
    range(50).map(() => untilServed(() => tenant.anonymous.post('/auth/refresh', { refresh_token: api.refreshToken }))),
  );

  expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 1, 401: 49 });
  expect((await api.get('/users/me')).status).toBe(401);
});

test('however often it is refreshed, a session is over for good 90 days after its sign-in, and says so', async () => {
  const clock = new ManualClock();
  const own = await startTenant({ clock });
  const day = 86_400_000;
  let cookie = '';
  const ask = async (path: string, body: object) => {
    const reply = await own.anonymous.post(path, body, { headers: { cookie } });
    cookie = /carrel_refresh=[^;]+/.exec(String(reply.headers['set-cookie']))?.[0] ?? cookie;
    return {
      status: reply.status,
      error: reply.body.error,
      token: reply.body.access_token,
      set: String(reply.headers['set-cookie']),
    };
  };
  const refresh = () => ask('/auth/refresh', {});
  await ask('/auth/login', { ...own.administrator, cookie: true });

  const renewed = [];
  for (const ms of [29 * day, 29 * day, 29 * day, 3 * day - 60_000]) {
    await clock.advance(ms);
    renewed.push(await refresh());
  }
  const last = own.anonymous.as(renewed.at(-1)?.token);
  const before = await last.get('/users/me');
  await clock.advance(60_000);
  const after = await last.get('/users/me');
  const over = await refresh();
  await own.stop();

  expect(renewed.map(({ status, set }) => [status, /Max-Age=(\d+)/.exec(set)?.[1]])).toEqual([
    [200, '2592000'],
    [200, '2592000'],
    [200, String(3 * 86_400)],
    [200, '60'],
  ]);
  expect([before.status, after.status]).toEqual([200, 401]);
  expect([over.status, over.error]).toEqual([401, 'session_expired']);
});

test('a session of before that was renewed past its 90 days is over', async () => {
  const { api, user } = await tenant.user();
  await tenant.db.query(
    "UPDATE sessions SET created_at = now() - interval '91 days' WHERE user_id = (SELECT id FROM users WHERE uuid = $1)",
    [user.id],
  );

  const [access, fresh] = [
    await api.get('/users/me'),
    await tenant.anonymous.post('/auth/refresh', { refresh_token: api.refreshToken }),
  ];

  expect([access.status, fresh.status, fresh.body.error]).toEqual([401, 401, 'session_expired']);
});

test('only hashes of refresh tokens are stored', async () => {
  const { api } = await tenant.user();

  const stored = await tenant.db.query<{ tokenHash: string }>('SELECT token_hash AS "tokenHash" FROM refresh_tokens');

  expect(stored.length).toBeGreaterThan(0);
  expect(stored.every(({ tokenHash }) => /^[0-9a-f]{64}$/.test(tokenHash) && tokenHash !== api.refreshToken)).toBe(true);
});

test('signing out ends the session at once, though its copy was warm', async () => {
  const { api } = await tenant.user();
  await api.get('/users/me');

  const out = await api.post('/auth/logout');

  const after = await Promise.all([
    api.get('/users/me'),
    tenant.anonymous.post('/auth/refresh', { refresh_token: api.refreshToken }),
  ]);
  expect([out.status, out.bytes.length, ...after.map(({ status }) => status)]).toEqual([204, 0, 401, 401]);
});

test('a browser may have the refresh token as a cookie that scripts cannot read', async () => {
  const { email, password } = tenant.administrator;
  const login = await tenant.anonymous.post('/auth/login', { email, password, cookie: true });
  const cookie = login.headers['set-cookie'] as string;

  const fresh = await tenant.anonymous.post('/auth/refresh', {}, { headers: { cookie: cookie.split(';')[0] as string } });

  expect(login.body).not.toHaveProperty('refresh_token');
  expect(cookie).toMatch(/^carrel_refresh=[\w-]{43}; Path=\/api\/v1\/auth; Max-Age=2592000; HttpOnly; SameSite=Strict,/);
  expect([fresh.status, 'refresh_token' in fresh.body]).toEqual([200, false]);
  expect(fresh.headers['set-cookie']).toMatch(/^carrel_refresh=/);
});

test('the cookie counts only in requests of our own pages: JSON, or a matching Origin or Sec-Fetch-Site', async () => {
  const { email, password } = tenant.administrator;
  const login = await tenant.anonymous.post('/auth/login', { email, password, cookie: true });
  let cookie = String(login.headers['set-cookie']).split(';')[0] as string;
  const refresh = async (headers: Record<string, string>, body?: string) => {
    const fresh = await tenant.anonymous.raw('POST', '/auth/refresh', {
      headers: { cookie, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    if (fresh.status === 200) cookie = String(fresh.headers['set-cookie']).split(';')[0] as string;
    return [fresh.status, fresh.body.error];
  };

  const foreign = [
    await refresh({}),
    await refresh({ origin: 'http://evil.example' }),
    await refresh({ origin: 'null', 'sec-fetch-site': 'same-site' }),
    await refresh({ 'sec-fetch-site': 'cross-site' }),
    await refresh({ 'content-type': 'text/plain' }, '{}'),
  ];
  const own = [
    await refresh({ 'content-type': 'application/json' }, '{}'),
    await refresh({ origin: tenant.url }),
    await refresh({ 'sec-fetch-site': 'same-origin' }),
  ];

  expect(foreign).toEqual([...range(4).map(() => [403, 'forbidden']), [415, 'unsupported_media_type']]);
  expect(own).toEqual(range(3).map(() => [200, undefined]));
});

test('over https the names of the cookies begin with __Secure-, as the document says, and no other counts', async () => {
  const own = await startTenant();
  await own.restart({ CARREL_APP_URL: 'https://files.example' });
  const plain = await own.anonymous.post('/auth/login', own.administrator);
  const login = await own.anonymous.post('/auth/login', { ...own.administrator, cookie: true });
  const [, token] = /^__Secure-carrel_refresh=([\w-]{43});[^,]*; Secure/.exec(String(login.headers['set-cookie'])) ?? [];
  const refresh = (name: string) => own.anonymous.post('/auth/refresh', {}, { headers: { cookie: `${name}=${token}` } });
  const described = (await own.anonymous.get('/openapi.json')).body.components.headers['Set-Cookie'];

  const former = await refresh('carrel_refresh');
  const present = await refresh('__Secure-carrel_refresh');
  const out = await own.anonymous
    .as(present.body.access_token)
    .post('/auth/logout', undefined, { headers: { cookie: `__Secure-carrel_refresh=${token}` } });
  await own.stop();

  expect([former.status, former.body.error, present.status, out.status]).toEqual([401, 'invalid_refresh_token', 200, 204]);
  expect(out.headers['set-cookie']).toMatch(/^__Secure-carrel_refresh=; .*Max-Age=0/);
  expect(plain.headers['set-cookie']).toMatch(/^__Secure-carrel_known=[^,]+; Secure$/);
  expect(described.description).toMatch(/carrel_known.*__Secure-/);
});

test('50 people who know their password sign in at once, also as the same person, in the memory of a few', async () => {
  // Time stands still: each waits for those before it as long as they take, which is more than 10 s on a machine with much else
  // to do.
  const own = await startTenant({ clock: new ManualClock(), realPasswords: true });
  const before = process.memoryUsage().rss;

  const replies = await Promise.all(range(50).map(() => untilServed(() => own.anonymous.post('/auth/login', own.administrator))));
  const grown = process.memoryUsage().rss - before;
  await own.stop();

  expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 50 });
  expect(grown).toBeLessThan(300 * 1024 * 1024);
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
  const key = `v:session:${user.id}:${sid}`;
  await tenant.redisAdmin.expire(key, 100);

  // Only the first request of a second extends it.
  const ttl = await waitFor('a request that extends the life of the copy', async () => {
    await api.get('/users/me');
    const left = await tenant.redisAdmin.ttl(key);
    return left > 100 && left;
  });

  const [stored, copy] = String(await tenant.redisAdmin.get(key)).split('\n');
  expect({ ...JSON.parse(String(copy)), last_activity: stored?.split(' ')[0] }).toMatchObject({
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
