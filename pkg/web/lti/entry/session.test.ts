import { expect, test } from '@jest/globals';
import { enter, firstKeeper, historyKeeper, type Keeper, tabKeeper } from './session.ts';

const LAUNCH = '7b0c6a52-4a70-4e4e-9a57-0d6c2a2f5c11';
const jwt = (claims: unknown): string =>
  `e30.${btoa(JSON.stringify(claims)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}.sig`;
const memory = (entries: Record<string, string> = {}): Keeper & { entries: Record<string, string> } => ({
  entries,
  get: (key) => entries[key] ?? null,
  set: (key, value) => ((entries[key] = value), true),
});
const at = (query: string): URL => new URL(`https://files.example.org/lti/entry${query}`);

test('the token is removed from the address at once and stored for a reload', () => {
  const keeper = memory();
  const token = jwt({ launch_id: LAUNCH, name: '~~~???>>>' });

  const first = enter(at(`?token=${token}`), keeper);
  const reloaded = enter(at(first.shown.slice('/lti/entry'.length)), keeper);

  expect(first).toEqual({ session: { token, launchId: LAUNCH }, shown: `/lti/entry?launch=${LAUNCH}` });
  expect(first.shown).not.toContain(token);
  expect(reloaded).toEqual(first);
});

test('a launch of another tab has no session here', () => {
  expect(enter(at(`?launch=${LAUNCH}`), memory())).toEqual({ session: undefined, shown: `/lti/entry?launch=${LAUNCH}` });
});

test.each(['', '?token=', '?token=abc', `?token=${jwt(null)}`, `?token=${jwt({})}`, '?token=e30.!!!.x'])(
  'the address %j opens nothing and shows nothing of it',
  (query) => {
    expect(enter(at(query), memory())).toEqual({ session: undefined, shown: '/lti/entry' });
  },
);

test('a browser that refuses its storage to frames still opens the page', () => {
  const refusing = tabKeeper(() => {
    throw new Error('SecurityError');
  });
  const token = jwt({ launch_id: LAUNCH });

  expect(enter(at(`?token=${token}`), refusing).session).toEqual({ token, launchId: LAUNCH });
  expect(enter(at(`?launch=${LAUNCH}`), refusing).session).toBeUndefined();
});

test('where storage is refused the tab’s history keeps the session for a reload, and only there', () => {
  const history = {
    state: null as unknown,
    replaceState: (state: unknown) => void (history.state = state),
  };
  const refusing = tabKeeper(() => {
    throw new Error('SecurityError');
  });
  const token = jwt({ launch_id: LAUNCH });
  const storage = memory();

  enter(at(`?token=${token}`), firstKeeper(storage, historyKeeper(history)));
  expect(history.state).toBeNull();
  enter(at(`?token=${token}`), firstKeeper(refusing, historyKeeper(history)));

  expect(enter(at(`?launch=${LAUNCH}`), firstKeeper(refusing, historyKeeper(history))).session).toEqual({
    token,
    launchId: LAUNCH,
  });
});
