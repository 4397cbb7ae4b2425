import { expect, test } from '@jest/globals';
import { ManualClock } from '../../test/support/clock.ts';
import { range } from '../../test/support/wait.ts';
import { silentLogger } from '../runtime/log.ts';
import { DEAF_AFTER_MS, Watchdog } from './watchdog.ts';

function start() {
  const clock = new ManualClock();
  let restarts = 0;
  const watchdog = new Watchdog({ clock, log: silentLogger, restart: () => void (restarts += 1) });
  /** Runs a round each second. */
  const rounds = async (ms: number, found: (at: number) => boolean = () => true): Promise<void> => {
    for (const at of range(ms / 1_000)) {
      await clock.advance(1_000);
      watchdog.found('one', found(at));
    }
  };
  return { watchdog, rounds, restarts: () => restarts };
}

test('a queue whose due jobs the worker does not take is restarted, and again if that does not help', async () => {
  const { rounds, restarts } = start();

  await rounds(DEAF_AFTER_MS);
  const early = restarts();
  await rounds(1_000);
  const once = restarts();
  await rounds(2 * DEAF_AFTER_MS);

  expect([early, once, restarts()]).toEqual([0, 1, 2]);
});

test('a queue whose jobs are taken, or that has none for a moment, is not restarted', async () => {
  const { watchdog, rounds, restarts } = start();

  await rounds(4 * DEAF_AFTER_MS, (at) => at % 10 !== 0);
  for (const _ of range(8)) {
    await rounds(DEAF_AFTER_MS / 2);
    watchdog.taken();
  }

  expect(restarts()).toBe(0);
});
