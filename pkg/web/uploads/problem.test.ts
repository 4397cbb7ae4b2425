import { expect, test } from '@jest/globals';
import { type Reaction, reactionTo } from './problem.ts';

/** A server that dies leaves the Idempotency-Key of its request locked for so long (pkg/http/idempotency.ts). */
const LOCK_MS = 10_000;

/** What happens to an upload that is refused with this code each time, until it is not tried again. */
function reactionsTo(code: string): Reaction[] {
  const reactions: Reaction[] = [];
  do reactions.push(reactionTo({ code, message: '' }, { attempts: reactions.length, onTaken: 'ask' }));
  while (reactions.at(-1)?.next === 'again');
  return reactions;
}

test('an upload is tried until the server that had its Idempotency-Key can have it no more', () => {
  const pauses = reactionsTo('conflict').map((reaction) => (reaction.next === 'again' ? (reaction.afterMs ?? 0) : 0));

  expect(pauses.reduce((sum, pause) => sum + pause)).toBeGreaterThan(LOCK_MS);
});
