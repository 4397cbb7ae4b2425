import { expect, test } from '@jest/globals';
import { ManualClock } from '../../test/support/clock.ts';
import type { Schedule, WorkerServices } from '../events/processor.ts';
import { silentLogger } from '../runtime/log.ts';
import { systemRandom } from '../runtime/random.ts';
import { runSchedule } from './triggers.ts';
import { DAY_MS } from '../runtime/time.ts';

test.each<[string, (onFailure: Parameters<Schedule['run']>[1]) => void]>([
  [
    'fails',
    () => {
      throw new Error('no database');
    },
  ],
  ['fails for one tenant', (onFailure) => onFailure(new Error('a lock'), { shard: 'one', role: 'tenant_a' })],
])('a daily run that %s is repeated within seconds, then less often, and a day later once it succeeds', async (_what, fail) => {
  const clock = new ManualClock();
  const ending = new AbortController();
  const runs: number[] = [];
  const daily: Schedule = {
    name: 'daily',
    everyMs: DAY_MS,
    run: async (_services, onFailure) => {
      if (runs.push(clock.monotonic()) <= 10) fail(onFailure);
    },
  };

  const running = runSchedule(
    daily,
    { clock, log: silentLogger, random: systemRandom } as unknown as WorkerServices,
    ending.signal,
  );
  await clock.advance(20_000);
  const soon = runs.length;
  await clock.advance(6 * 3_600_000);
  const recovered = runs.length;
  await clock.advance(DAY_MS);
  ending.abort();
  await running;

  expect(soon).toBeGreaterThanOrEqual(2);
  expect(soon).toBeLessThanOrEqual(4);
  expect(recovered).toBe(11);
  expect(runs).toHaveLength(12);
});
