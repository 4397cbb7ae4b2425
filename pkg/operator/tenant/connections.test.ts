import { expect, test } from '@jest/globals';
import { ManualClock } from '../../../test/support/clock.ts';
import { EndingPods } from './connections.ts';

test('pods of a suspended tenant keep its connections for a minute at most, each time that it is suspended', async () => {
  const clock = new ManualClock();
  const ending = new EndingPods(clock);

  const first = ending.mayLast('7');
  await clock.advance(59_000);
  const shortly = [ending.mayLast('7'), ending.mayLast('8')];
  await clock.advance(1_000);
  const after = ending.mayLast('7');
  ending.end('7');

  expect([first, ...shortly, after, ending.mayLast('7')]).toEqual([true, true, true, false, true]);
});
