import { expect, test } from '@jest/globals';
import { closeAtPlatform } from './close.ts';

interface Fake {
  readonly posted: unknown[];
  parent: Fake;
  opener: Fake | null;
  postMessage(message: unknown, targetOrigin: string): void;
}

function fake(): Fake {
  const posted: unknown[] = [];
  const window = {
    posted,
    opener: null,
    postMessage: (message: unknown, origin: string) => void posted.push([message, origin]),
  } as unknown as Fake;
  window.parent = window;
  return window;
}
const CLOSE = [[{ subject: 'org.imsglobal.lti.close' }, '*']];

test('a frame tells its parent, a window its opener, and a page of its own nobody', () => {
  const [frame, parent, opened, opener, alone] = [fake(), fake(), fake(), fake(), fake()];
  frame.parent = parent;
  opened.opener = opener;

  expect([closeAtPlatform(frame), closeAtPlatform(opened), closeAtPlatform(alone)]).toEqual([true, true, false]);
  expect([parent.posted, opener.posted, frame.posted, alone.posted]).toEqual([CLOSE, CLOSE, [], []]);
});
