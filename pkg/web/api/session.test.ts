import { expect, test } from '@jest/globals';
import type { User } from './operations.generated.ts';
import { Session } from './session.ts';

const USER = { id: 'ada' } as User;

interface Asked {
  readonly path: string;
  readonly token: string | undefined;
}

/** A session whose server answers with `replies`, one after the other; each may be a user, an error's code, or no answer. */
function sessionWith(...replies: (User | string | Error)[]) {
  const asked: Asked[] = [];
  const others: string[] = [];
  let now = 0;
  const session = new Session({
    send: async (path, _body, token) => {
      asked.push({ path, token });
      const reply = replies.shift() ?? new Error('no reply is left');
      if (reply instanceof Error) throw reply;
      if (typeof reply === 'string') return Response.json({ error: reply, message: '' }, { status: 401 });
      return Response.json({ access_token: `token-${asked.length}`, expires_in: 900, user: reply });
    },
    alone: (task) => task(),
    onSignIn: (userId) => void others.push(`${userId} signed in`),
    onSignOut: () => void others.push('signed out'),
    onOtherPerson: () => void others.push('reload'),
    now: () => now,
  });
  const pass = (seconds: number): void => {
    now += seconds * 1_000;
  };
  return { session, asked, others, pass };
}

test('a browser without a session is signed out, and its requests have no token', async () => {
  const { session } = sessionWith('invalid_refresh_token');
  await session.start();

  expect(session.state.value).toEqual({ name: 'signed-out' });
  expect(await session.current()).toBeUndefined();
});

test('a session is opened once, however often it is started; after a failure it is opened by the next start', async () => {
  const { session, asked } = sessionWith(new Error('connection refused'), USER);
  await expect(session.start()).rejects.toMatchObject({ code: 'unreachable' });

  await Promise.all([session.start(), session.start()]);
  await session.start();

  expect([asked.length, session.state.value]).toEqual([2, { name: 'signed-in', user: USER }]);
  session.leave();
});

test('the cookie of a browser opens its session; requests that need a token at once share one renewal', async () => {
  const { session, asked, pass } = sessionWith(USER, USER);
  await session.start();
  expect([await session.current(), session.state.value]).toEqual(['token-1', { name: 'signed-in', user: USER }]);

  pass(850);
  const tokens = await Promise.all([session.current(), session.current(), session.renewed('token-1')]);

  expect(tokens).toEqual(['token-2', 'token-2', 'token-2']);
  expect(asked.length).toBe(2);
  session.leave();
});

test('a request whose token was renewed meanwhile gets the new one without another renewal', async () => {
  const { session, asked } = sessionWith(USER, USER);
  await session.start();
  await session.renewed('token-1');

  expect(await session.renewed('token-1')).toBe('token-2');
  expect(asked.length).toBe(2);
  session.leave();
});

test('requests of a session that has ended wait until the person signs in again', async () => {
  const { session } = sessionWith(USER, 'session_expired', USER);
  await session.start();
  const waiting = [session.renewed('token-1'), session.current()];
  await new Promise<void>((resolve) => void session.state.subscribe(resolve));
  expect(session.state.value).toEqual({ name: 'ended', user: USER });
  waiting.push(session.current());

  await session.signIn('ada@example.org', 'secret');

  expect(await Promise.all(waiting)).toEqual(['token-3', 'token-1', 'token-3']);
  session.leave();
});

test('requests that wait fail when the person leaves, and one that is aborted stops waiting', async () => {
  const { session } = sessionWith(USER, 'session_expired');
  await session.start();
  session.endedElsewhere();
  const abort = new AbortController();
  const [left, aborted] = [session.current(), session.renewed('token-1', abort.signal)];
  abort.abort();
  session.leave();

  await expect(aborted).rejects.toThrow('aborted');
  expect(await left).toBeUndefined();
});

test('a sign-in in another tab opens the session here too, and what waited goes on', async () => {
  const { session } = sessionWith(USER, USER);
  await session.start();
  session.endedElsewhere();
  const waiting = session.current();

  session.signedInElsewhere('ada');

  expect([await waiting, session.state.value]).toEqual(['token-2', { name: 'signed-in', user: USER }]);
  session.leave();
});

test('a sign-in in another tab opens the session of a page that asks for one', async () => {
  const { session } = sessionWith('invalid_refresh_token', USER);
  await session.start();
  const changed = new Promise<void>((resolve) => void session.state.subscribe(resolve));

  session.signedInElsewhere('ada');
  await changed;

  expect([await session.current(), session.state.value]).toEqual(['token-2', { name: 'signed-in', user: USER }]);
  session.leave();
});

test('a sign-in of somebody else in another tab leaves a page whose session has ended as it is', async () => {
  const { session, asked } = sessionWith(USER);
  await session.start();
  session.endedElsewhere();

  session.signedInElsewhere('ben');

  expect([session.state.value.name, asked.length]).toEqual(['ended', 1]);
});

test('a sign-in is reported to the other tabs, a wrong password is not', async () => {
  const { session, others } = sessionWith('invalid_credentials', USER);
  await expect(session.signIn('ada@example.org', 'wrong')).rejects.toMatchObject({ code: 'invalid_credentials' });
  await session.signIn('ada@example.org', 'secret');

  expect(others).toEqual(['ada signed in']);
  session.leave();
});

test('a renewal that reaches no server ends nothing', async () => {
  const { session } = sessionWith(USER, new Error('connection refused'), USER);
  await session.start();

  await expect(session.renewed('token-1')).rejects.toMatchObject({ code: 'unreachable' });
  expect(session.state.value.name).toBe('signed-in');
  expect(await session.renewed('token-1')).toBe('token-3');
  session.leave();
});

test('a page whose cookie became another person’s is loaded anew, and its requests do not run as them', async () => {
  const { session, others } = sessionWith(USER, { ...USER, id: 'ben' });
  await session.start();

  expect(await session.renewed('token-1')).toBeUndefined();
  expect([others, session.state.value.name]).toEqual([['reload'], 'signed-out']);
  expect(session.isSignOutWished).toBe(false);
});

test('signing out ends the session on the page even if no server answers', async () => {
  const { session, asked, others } = sessionWith(USER, new Error('connection refused'));
  await session.start();

  await expect(session.signOut()).rejects.toMatchObject({ code: 'unreachable' });
  expect(session.state.value).toEqual({ name: 'signed-out' });
  expect(session.isSignOutWished).toBe(true);
  expect([asked[1], others]).toEqual([{ path: '/logout', token: 'token-1' }, ['signed out']]);
});
