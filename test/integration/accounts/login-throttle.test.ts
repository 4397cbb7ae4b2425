import { describe, expect, test } from '@jest/globals';
import { LoginThrottle, type LoginAttempt, personOf } from '../../../pkg/accounts/sign-in/login-throttle.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SlidingLogLimiter } from '../../../pkg/store/redis/sliding-log-limiter.ts';
import type { ApiReply } from '../../support/clients/api.ts';
import { ManualClock } from '../../support/clock.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';

const tenant = serverSuite({ trustedProxies: 1, realPasswords: true });

interface From {
  readonly network?: string;
  readonly cookie?: string;
  readonly of?: TestTenant;
}

function login(email: string, password: string, { network = '198.51.100.1', cookie, of = tenant }: From = {}): Promise<ApiReply> {
  const headers = { 'x-forwarded-for': network, ...(cookie === undefined ? {} : { cookie }) };
  return of.anonymous.post('/auth/login', { email, password }, { headers });
}

/** Returns the number of calls in a rate limiter's log. */
const callsIn = async ({ redisAdmin }: TestTenant, key: string): Promise<unknown> =>
  redisAdmin.eval("local log = redis.call('get', KEYS[1]); return log and #cmsgpack.unpack(log) / 2 or 0", 1, key);

/** The cookie by which a browser is known. */
const knownBy = ({ headers }: ApiReply): string => /carrel_known=[^;]+/.exec(String(headers['set-cookie']))?.[0] ?? '';

test('after 10 failures a network cannot sign a person in for 15 minutes; no other user is affected', async () => {
  const [{ user, password }, other] = [await tenant.user(), await tenant.user()];

  const guesses = await Promise.all(range(50).map((guess) => login(user.email, `guess ${guess}`)));
  const right = await login(user.email, password);
  const others = await login(other.user.email, other.password);
  const elsewhere = await login(user.email, password, { network: '198.51.100.2' });

  expect(countBy(guesses, ({ status }) => status)).toEqual({ 401: 10, 429: 40 });
  expect([right.status, right.body.error, others.status, elsewhere.status]).toEqual([429, 'too_many_attempts', 200, 200]);
  expect(right.body.retry_after).toBeGreaterThan(880);
  expect(right.headers['retry-after']).toBe(String(right.body.retry_after));
});

test('spellings of an address that find the same person share its ten guesses', async () => {
  const { user } = await tenant.user({ email: `irina-${Date.now()}@example.org` });
  const spellings = [user.email, user.email.toUpperCase(), user.email.replaceAll('i', 'İ'), user.email.replace('i', 'İ')];

  const guesses = await Promise.all(range(20).map((at) => login(spellings[at % 4] ?? '', `guess ${at}`)));

  expect(countBy(guesses, ({ status }) => status)).toEqual({ 401: 10, 429: 10 });
});

test('a browser known to a person has ten guesses of its own, which its cookie gives to no other person or tenant', async () => {
  const [{ user, password }, other, foreign] = [
    await tenant.user(),
    await tenant.user(),
    await startTenant({ trustedProxies: 1 }),
  ];
  const network = '198.51.100.3';
  const cookie = knownBy(await login(user.email, password, { network }));
  const others = knownBy(await login(other.user.email, other.password, { network }));
  const foreigners = knownBy(await login(foreign.administrator.email, foreign.administrator.password, { of: foreign }));
  await foreign.stop();
  await Promise.all(range(10).map((guess) => login(user.email, `guess ${guess}`, { network })));

  const strangers = [undefined, others, foreigners, `${cookie.slice(0, -4)}AAAA`, 'carrel_known=v1.x.y', 'carrel_known='];
  const refused = await Promise.all(
    strangers.map((theirs) => login(user.email, password, { network, ...(theirs === undefined ? {} : { cookie: theirs }) })),
  );
  const known = await login(user.email.toUpperCase(), password, { network, cookie });
  const guesses = await Promise.all(range(20).map((guess) => login(user.email, `guess ${guess}`, { network, cookie })));

  expect(refused.map(({ status }) => status)).toEqual(Array(6).fill(429));
  expect(known.status).toBe(200);
  expect(countBy(guesses, ({ status }) => status)).toEqual({ 401: 10, 429: 10 });
  expect(cookie).not.toContain(user.email);
});

test('a browser knows its last eight people for 90 days each, and its cookie is for /auth alone', async () => {
  const clock = new ManualClock();
  const own = await startTenant({ trustedProxies: 1, clock });
  const people: Awaited<ReturnType<TestTenant['user']>>[] = [];
  for (const _ of range(9)) people.push(await own.user());
  const signIn = (at: number, cookie?: string) => {
    const { user, password } = people[at] as (typeof people)[number];
    return login(user.email, password, { of: own, network: '198.51.100.4', ...(cookie === undefined ? {} : { cookie }) });
  };
  const shutOut = async (at: number) => {
    for (const guess of range(10))
      await login(people[at]?.user.email ?? '', `guess ${guess}`, { of: own, network: '198.51.100.4' });
  };
  const first = await signIn(0);
  let cookie = knownBy(first);
  for (const at of range(9)) cookie = knownBy(await signIn(at, cookie));
  await shutOut(0);
  await shutOut(1);

  const evicted = await signIn(0, cookie);
  const known = await signIn(1, cookie);
  await clock.advance(90 * 86_400_000 + 1);
  await shutOut(1);
  const lapsed = await signIn(1, cookie);
  await own.stop();

  expect([evicted, known, lapsed].map(({ status }) => status)).toEqual([429, 200, 429]);
  expect(first.headers['set-cookie']).toMatch(
    /^carrel_known=[^;]+; Path=\/api\/v1\/auth; Max-Age=7776000; HttpOnly; SameSite=Strict$/,
  );
});

test('guesses from many networks wait in a row, two a network and eight in all; a known browser signs in meanwhile', async () => {
  const clock = new ManualClock();
  const own = await startTenant({ trustedProxies: 1, clock });
  const { user, password } = await own.user();
  const cookie = knownBy(await login(user.email, password, { of: own }));
  const guess = (at: number) => login(user.email, `guess ${at}`, { of: own, network: `203.0.113.${at}` });
  const undelayed = await Promise.all(range(20).map(guess));
  const idle = clock.sleepers;
  const waiting: Promise<ApiReply>[] = [];
  const wait = async (reply: Promise<ApiReply>) => {
    waiting.push(reply);
    const taken = () => callsIn(own, `w:sign-in:person:${personOf(user.email)}`);
    await waitFor(`attempt ${waiting.length} to wait`, async () => (await taken()) === 20 + waiting.length);
  };

  for (const at of [30, 30]) await wait(guess(at));
  const third = await guess(30);
  for (const at of [31, 32, 33, 34, 35]) await wait(guess(at));
  await wait(login(user.email, password, { of: own, network: '198.51.100.9' }));
  const ninth = await guess(36);
  const known = await login(user.email, password, { of: own, network: '198.51.100.9', cookie });
  const sleepers = [];
  for (const ms of [249, 1, 999, 1, 1_499]) {
    await clock.advance(ms);
    sleepers.push(clock.sleepers - idle);
  }
  await clock.advance(1);
  const done = await Promise.all(waiting);
  await own.stop();

  expect(countBy(undelayed, ({ status }) => status)).toEqual({ 401: 20 });
  expect([third, ninth].map(({ status, body }) => [status, body.error, body.retry_after])).toEqual([
    [429, 'too_many_attempts', 1],
    [429, 'too_many_attempts', 4],
  ]);
  expect(known.status).toBe(200);
  expect(sleepers).toEqual([1, 1, 1, 1, 1]); // one at a time: five of 250 ms, three of 500 ms
  expect(done.map(({ status }) => status)).toEqual([...range(7).map(() => 401), 200]);
});

test('a /56 of IPv6 counts as one network', async () => {
  const { user } = await tenant.user();

  const guesses = await Promise.all(
    range(20).map((at) => login(user.email, `guess ${at}`, { network: `2001:db8:7:${(0x1200 + at).toString(16)}::1` })),
  );
  const next = await login(user.email, 'guess', { network: '2001:db8:7:1300::1' });

  expect(countBy(guesses, ({ status }) => status)).toEqual({ 401: 10, 429: 10 });
  expect(next.status).toBe(401);
});

test('a change of the password ends the exemption of all browsers that knew the former one', async () => {
  const { user, password } = await tenant.user();
  const network = '198.51.100.10';
  const cookie = knownBy(await login(user.email, password, { network }));
  await tenant.admin.patch(`/users/${user.id}`, { password: 'another, longer one' });
  await Promise.all(range(10).map((guess) => login(user.email, `guess ${guess}`, { network })));

  const former = await login(user.email, 'another, longer one', { network, cookie });
  const fresh = knownBy(await login(user.email, 'another, longer one', { network: '198.51.100.11', cookie }));
  const known = await login(user.email, 'another, longer one', { network, cookie: fresh });

  expect([former.status, known.status]).toEqual([429, 200]);
});

test('guesses by many browsers that a person signed in with before wait behind each other too', async () => {
  const clock = new ManualClock();
  const own = await startTenant({ trustedProxies: 1, clock });
  const { user, password } = await own.user();
  const cookies: string[] = [];
  for (const _ of range(3)) cookies.push(knownBy(await login(user.email, password, { of: own })));
  const idle = clock.sleepers;
  const guess = (at: number) => login(user.email, `guess ${at}`, { of: own, cookie: cookies[Math.floor(at / 10)] as string });

  const undelayed = await Promise.all(range(20).map(guess));
  const delayed = guess(20);
  await waitFor('the next to wait', () => clock.sleepers === idle + 1);
  await clock.advance(250);
  const last = await delayed;
  await own.stop();

  expect(countBy([...undelayed, last], ({ status }) => status)).toEqual({ 401: 21 });
});

describe('an attempt that finds all slots taken', () => {
  const start = () => {
    const clock = new ManualClock();
    const rateLimiter = new SlidingLogLimiter({ redis: tenant.redis, clock: systemClock, random: systemRandom });
    const throttle = new LoginThrottle({ rateLimiter, clock });
    const limit = { key: `test:${systemRandom.uuid()}`, max: 1, windowSeconds: 60 };
    const guard = (work: () => Promise<true | undefined>, over: Partial<LoginAttempt> = {}) =>
      throttle.guard({ limits: [limit], signal: new AbortController().signal, ...over }, work).then(
        (result) => result ?? 'failed',
        (error: Error) => (error as { code?: string }).code ?? error.message,
      );
    return { clock, limit, guard };
  };

  test('waits for one under way that holds a slot, ten seconds at most', async () => {
    const { clock, guard } = start();
    const gate = Promise.withResolvers<true>();
    const first = guard(() => gate.promise);
    const second = guard(async () => true);
    await waitFor('the second to wait', () => clock.sleepers === 1);
    await clock.advance(10_000);
    const late = await second;
    const third = guard(async () => true);
    await waitFor('the third to wait', () => clock.sleepers === 1);
    gate.resolve(true);

    expect([late, await first, await third, clock.sleepers]).toEqual(['too_many_attempts', true, true, 0]);
  });

  test('waits no longer than its client', async () => {
    const { clock, guard } = start();
    const [gate, leaving] = [Promise.withResolvers<true>(), new AbortController()];
    const first = guard(() => gate.promise);
    const second = guard(async () => true, { signal: leaving.signal });
    await waitFor('the second to wait', () => clock.sleepers === 1);
    leaving.abort(new Error('left'));
    const left = await second;
    gate.resolve(true);

    expect([left, await first]).toEqual(['left', true]);
  });

  test('does not wait for those under way that hold none of them', async () => {
    const { limit, guard } = start();
    const of = (member: string): Partial<LoginAttempt> => ({ limits: [{ ...limit, member }] });
    const gate = Promise.withResolvers<true>();
    const failed = await guard(async () => undefined, of('ada'));
    const again = guard(() => gate.promise, of('ada'));
    const other = await guard(async () => true, of('ben'));
    gate.resolve(true);

    expect([failed, other, await again]).toEqual(['failed', 'too_many_attempts', true]);
  });
});

test('one network may fail for a hundred users and retry those; further users are refused to it only', async () => {
  const { user, password } = await tenant.user();
  const network = '198.51.100.5';
  const guess = (at: number) => login(`nobody-${at}@example.org`, 'guess', { network });

  const first = await Promise.all(range(100).map(guess));
  const next = await guess(100);
  const again = [await guess(1), await login('NOBODY-1@example.org', 'guess', { network })];
  const here = await login(user.email, password, { network });
  const elsewhere = await login(user.email, password, { network: '198.51.100.6' });

  expect(countBy(first, ({ status }) => status)).toEqual({ 401: 100 });
  expect([next.status, ...again.map(({ status }) => status)]).toEqual([429, 401, 401]);
  expect([here.status, elsewhere.status]).toEqual([429, 200]);
});

test('a sign-in with the right password does not count among the accounts that failed from a network', async () => {
  const { user, password } = await tenant.user();
  const network = '198.51.100.7';

  const right = await Promise.all(range(12).map(() => login(user.email, password, { network })));
  const wrong = await Promise.all(range(100).map((at) => login(`nobody-${at}@example.net`, 'guess', { network })));

  expect(countBy(right, ({ status }) => status)).toEqual({ 200: 12 });
  expect(countBy(wrong, ({ status }) => status)).toEqual({ 401: 100 });
});

test("only the signed-in user's own requests use up the ten attempts at the current password", async () => {
  const { api, user, password } = await tenant.user();
  await Promise.all(range(20).map((guess) => login(user.email, `guess ${guess}`, { network: '127.0.0.1' })));
  const change = (present: string) =>
    api.post('/users/me/password', { current_password: present, new_password: 'something longer' });

  const wrong = await Promise.all(range(20).map((at) => change(`guess ${at}`)));
  const right = await change(password);

  expect(countBy(wrong, ({ status }) => status)).toEqual({ 401: 10, 429: 10 });
  expect(right.status).toBe(429);
});

test('an attempt whose client disconnects while it waits does not count as a failure', async () => {
  const clock = new ManualClock();
  const own = await startTenant({ trustedProxies: 1, clock });
  const { user, password } = await own.user();
  await Promise.all(range(20).map((at) => login(user.email, `guess ${at}`, { of: own, network: `203.0.113.${at}` })));
  const idle = clock.sleepers;
  const leaving = new AbortController();
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.8' };
  const body = JSON.stringify({ email: user.email, password });
  const left = fetch(`${own.apiUrl}/auth/login`, { method: 'POST', signal: leaving.signal, headers, body }).catch(() => 'left');
  await waitFor('the attempt to wait', () => clock.sleepers === idle + 1);

  leaving.abort();

  expect(await left).toBe('left');
  const slots = [`w:sign-in:network:198.51.100.8:${personOf(user.email)}`, 'w:sign-in:people:198.51.100.8'];
  await waitFor('the slots to be released', async () => {
    const counts = await Promise.all(slots.map((key) => callsIn(own, key)));
    return counts.every((count) => count === 0);
  });
  await own.stop();
});
