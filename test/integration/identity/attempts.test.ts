import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { personOf } from '../../../pkg/identity/sign-in/attempts.ts';
import type { ApiReply } from '../../support/api.ts';
import { ManualClock } from '../../support/clock.ts';
import { startTenant, type TestTenant } from '../../support/server.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';

let tenant: TestTenant;
beforeAll(async () => {
  tenant = await startTenant({ trustedProxies: 1 });
});
afterAll(() => tenant.stop());

interface From {
  readonly network?: string;
  readonly cookie?: string;
  readonly of?: TestTenant;
}

function login(email: string, password: string, { network = '198.51.100.1', cookie, of = tenant }: From = {}): Promise<ApiReply> {
  const headers = { 'x-forwarded-for': network, ...(cookie === undefined ? {} : { cookie }) };
  return of.anonymous.post('/auth/login', { email, password }, { headers });
}

/** The cookie by which a browser is known. */
const knownBy = ({ headers }: ApiReply): string => /carrel_known=[^;]+/.exec(String(headers['set-cookie']))?.[0] ?? '';

test('after 10 failures from one network a person is refused there for 15 minutes, even with the right password, and nobody else is', async () => {
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

test('a browser that a person signed in with before has ten guesses of its own, which no other person or tenant has by its cookie', async () => {
  const [{ user, password }, other, foreign] = [await tenant.user(), await tenant.user(), await startTenant({ trustedProxies: 1 })];
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

test('a browser knows the last eight people who signed in with it, each for 90 days, and its cookie is for /auth alone', async () => {
  const clock = new ManualClock();
  const own = await startTenant({ trustedProxies: 1, clock });
  const people: Awaited<ReturnType<TestTenant['user']>>[] = [];
  for (const _ of range(9)) people.push(await own.user());
  const signIn = (at: number, cookie?: string) => {
    const { user, password } = people[at] as (typeof people)[number];
    return login(user.email, password, { of: own, network: '198.51.100.4', ...(cookie === undefined ? {} : { cookie }) });
  };
  const shutOut = async (at: number) => {
    for (const guess of range(10)) await login(people[at]?.user.email ?? '', `guess ${guess}`, { of: own, network: '198.51.100.4' });
  };
  const first = await signIn(0);
  let cookie = knownBy(first);
  for (const at of range(9)) cookie = knownBy(await signIn(at, cookie));
  await shutOut(0);
  await shutOut(1);

  const forgotten = await signIn(0, cookie);
  const known = await signIn(1, cookie);
  await clock.advance(90 * 86_400_000 + 1);
  await shutOut(1);
  const lapsed = await signIn(1, cookie);
  await own.stop();

  expect([forgotten, known, lapsed].map(({ status }) => status)).toEqual([429, 200, 429]);
  expect(first.headers['set-cookie']).toMatch(/^carrel_known=[^;]+; Path=\/api\/v1\/auth; Max-Age=7776000; HttpOnly; SameSite=Strict$/);
});

test('guesses at one person from many networks wait longer and longer, and the right password comes through from a new one', async () => {
  const clock = new ManualClock();
  const own = await startTenant({ trustedProxies: 1, clock });
  const { user, password } = await own.user();
  const idle = clock.sleepers;
  const guess = (at: number) => login(user.email, `guess ${at}`, { of: own, network: `203.0.113.${at}` });

  const undelayed = await Promise.all(range(20).map(guess));
  const waiting = Promise.all(range(40).map((at) => guess(20 + at)));
  await waitFor('forty guesses to wait', () => clock.sleepers === idle + 40);
  const right = login(user.email, password, { of: own, network: '198.51.100.9' });
  await waitFor('the right one to wait too', () => clock.sleepers === idle + 41);
  const left = [];
  for (const ms of [249, 1, 250, 500, 1_000, 2_000, 3_999]) {
    await clock.advance(ms);
    left.push(clock.sleepers - idle);
  }
  await clock.advance(1);
  const [delayed, entered] = [await waiting, await right];
  await own.stop();

  expect(left).toEqual([41, 36, 31, 26, 21, 16, 16]);
  expect(countBy([...undelayed, ...delayed], ({ status }) => status)).toEqual({ 401: 60 });
  expect(entered.status).toBe(200);
});

test('one network fails at a hundred people, and goes on with those; others are for other networks', async () => {
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

test('who signs in with the right password takes no place among the people at whom a network fails', async () => {
  const { user, password } = await tenant.user();
  const network = '198.51.100.7';

  const right = await Promise.all(range(12).map(() => login(user.email, password, { network })));
  const wrong = await Promise.all(range(100).map((at) => login(`nobody-${at}@example.net`, 'guess', { network })));

  expect(countBy(right, ({ status }) => status)).toEqual({ 200: 12 });
  expect(countBy(wrong, ({ status }) => status)).toEqual({ 401: 100 });
});

test("nobody who is not signed in uses up the guesses at one's own present password, of which there are ten", async () => {
  const { api, user, password } = await tenant.user();
  await Promise.all(range(20).map((guess) => login(user.email, `guess ${guess}`, { network: '127.0.0.1' })));
  const change = (present: string) => api.post('/users/me/password', { current_password: present, new_password: 'something longer' });

  const wrong = await Promise.all(range(20).map((at) => change(`guess ${at}`)));
  const right = await change(password);

  expect(countBy(wrong, ({ status }) => status)).toEqual({ 401: 10, 429: 10 });
  expect(right.status).toBe(429);
});

test('an attempt that its client gives up while it waits is nobody’s failure', async () => {
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
  const places = [`w:sign-in:network:198.51.100.8:${personOf(user.email)}`, 'w:sign-in:people:198.51.100.8'];
  await waitFor('the places to be given back', async () => {
    const counts = await own.redis.run(places.map((key) => ['zcard', key]));
    return counts.every((count) => count === 0);
  });
  await own.stop();
});
