import { expect, test } from '@jest/globals';
import { ManualClock } from '../../../../test/support/clock.ts';
import { EndingPods } from './role-connections.ts';

test('pods of a suspended tenant keep its connections for a minute at most, each time that it is suspended', async () => {
  const clock = new ManualClock();
  const ending = new EndingPods(clock);

  const first = ending.mayLast('7', 'suspension');
  await clock.advance(59_000);
  const shortly = [ending.mayLast('7', 'suspension'), ending.mayLast('8', 'suspension')];
  await clock.advance(1_000);
  const after = ending.mayLast('7', 'suspension');
  ending.end('7');

  expect([first, ...shortly, after, ending.mayLast('7', 'suspension')]).toEqual([true, true, true, false, true]);
});

test('pods of a rollout have six minutes, those of a suspended tenant one, and neither prolongs the other', async () => {
  const clock = new ManualClock();
  const ending = new EndingPods(clock);
  const both = (): boolean[] => [ending.mayLast('7', 'rollout'), ending.mayLast('7', 'suspension')];

  const rollout = ending.mayLast('7', 'rollout');
  await clock.advance(120_000);
  const suspended = both();
  await clock.advance(60_000);
  const afterAMinute = both();
  await clock.advance(180_000);

  expect([rollout, suspended, afterAMinute, both()]).toEqual([true, [true, true], [true, false], [false, false]]);
});
