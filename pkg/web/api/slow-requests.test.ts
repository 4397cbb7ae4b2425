import { expect, test } from '@jest/globals';
import { inBackground, isWaitedFor, SlowRequests } from './slow-requests.ts';

/** A clock that stands still until the test advances it. */
class Clock {
  #now = 0;
  #waiting: readonly { readonly at: number; readonly act: () => void }[] = [];

  schedule(ms: number, act: () => void): () => void {
    const one = { at: this.#now + ms, act };
    this.#waiting = [...this.#waiting, one];
    return () => void (this.#waiting = this.#waiting.filter((other) => other !== one));
  }

  advance(ms: number): void {
    this.#now += ms;
    const due = this.#waiting.filter(({ at }) => at <= this.#now);
    this.#waiting = this.#waiting.filter(({ at }) => at > this.#now);
    for (const { act } of due) act();
  }
}

/** Slow requests by such a clock, and each state that they reported. */
function onClock() {
  const clock = new Clock();
  const slow = new SlowRequests((ms, act) => clock.schedule(ms, act));
  const reported: boolean[] = [];
  slow.isSlow.subscribe(() => reported.push(slow.isSlow.value));
  return { clock, slow, reported };
}

test.each([
  ['a read', 'read', 4_000],
  ['a change', 'change', 8_000],
] as const)('%s is slow after a while, until a moment after its reply', (_what, kind, ms) => {
  const { clock, slow, reported } = onClock();
  const end = slow.begin(kind);
  clock.advance(ms - 1);
  const early = [...reported];
  clock.advance(1);
  const late = [...reported];
  end();
  clock.advance(699);
  const after = [...reported];
  clock.advance(1);

  expect([early, late, after, reported]).toEqual([[], [true], [true], [true, false]]);
});

test('a quick reply is never slow', () => {
  const { clock, slow, reported } = onClock();
  const end = slow.begin('read');
  clock.advance(3_999);
  end();
  clock.advance(60_000);

  expect(reported).toEqual([]);
});

test('slow requests that follow each other are slow without a break', () => {
  const { clock, slow, reported } = onClock();
  const first = slow.begin('read');
  clock.advance(600);
  const second = slow.begin('read');
  clock.advance(3_400);
  first();
  clock.advance(60_000);
  second();
  clock.advance(700);

  expect(reported).toEqual([true, false]);
});

test.each([
  ['a list', true, {}],
  ['a table to save', true, { headers: { accept: 'text/csv' } }],
  ['what may be cancelled', true, { signal: new AbortController().signal }],
  ['a look at what has changed', false, { headers: { 'if-none-match': '"7"' } }],
  ['an event stream', false, { headers: { accept: 'text/event-stream' } }],
  ['work in the background', false, { signal: inBackground(new AbortController().signal) }],
])('somebody waits for %s: %p', (_what, isWaited, request) => {
  expect(isWaitedFor(request)).toBe(isWaited);
});
