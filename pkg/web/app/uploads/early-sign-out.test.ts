import { afterEach, expect, test } from '@jest/globals';
import { Observed } from '../../api/observed.ts';
import type { User } from '../../api/operations.generated.ts';
import type { SessionState } from '../../api/session.ts';
import { uploaderOf } from '../../uploads/uploader-in-tests.ts';
import { uploads } from './current.ts';
import { forgetAtEarlySignOut } from './early-sign-out.ts';

const user = { id: 'ada' } as User;

/** The persons who are forgotten when a session goes through these states. */
function forgottenBy({ isWished = true }, ...states: SessionState[]): string[] {
  const state = new Observed<SessionState>({ name: 'starting' });
  const forgotten: string[] = [];
  forgetAtEarlySignOut({ state, isSignOutWished: isWished }, async (person) => void forgotten.push(person));
  for (const next of states) state.set(next);
  return forgotten;
}

afterEach(() => uploads.set(undefined));

test('who signs out before the page can upload is forgotten, also after the session has ended', () => {
  expect(forgottenBy({}, { name: 'signed-in', user }, { name: 'signed-out' })).toEqual(['ada']);
  expect(forgottenBy({}, { name: 'signed-in', user }, { name: 'ended', user }, { name: 'signed-out' })).toEqual(['ada']);
});

test('who has not signed out is not: the uploads wait for the same person', () => {
  expect(forgottenBy({}, { name: 'signed-in', user }, { name: 'ended', user })).toEqual([]);
  expect(forgottenBy({ isWished: false }, { name: 'signed-in', user }, { name: 'signed-out' })).toEqual([]);
  expect(forgottenBy({}, { name: 'signed-out' })).toEqual([]);
});

test('once the page can upload, the uploads themselves end with the sign-out', () => {
  uploads.set(uploaderOf().uploader);

  expect(forgottenBy({}, { name: 'signed-in', user }, { name: 'signed-out' })).toEqual([]);
});
