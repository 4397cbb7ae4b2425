import { expect, test } from '@jest/globals';
import { ManualClock } from '../../../test/support/clock.ts';
import { ENDING_MS, EndingPods } from './connections.ts';

test('pods of a suspended tenant keep its connections for a minute at most, each time that it is suspended', async () => {
  const clock = new ManualClock();
  const ending = new EndingPods(clock);

  const first = ending.mayLast('7', ENDING_MS);
  await clock.advance(59_000);
  const shortly = [ending.mayLast('7', ENDING_MS), ending.mayLast('8', ENDING_MS)];
  await clock.advance(1_000);
  const after = ending.mayLast('7', ENDING_MS);
  ending.end('7');

  expect([first, ...shortly, after, ending.mayLast('7', ENDING_MS)]).toEqual([true, true, true, false, true]);
});
