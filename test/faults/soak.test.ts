import { expect, test } from '@jest/globals';
import { TASK_KINDS } from '../../pkg/tasks/tasks.schema.ts';
import { JOB_CHAINS } from './job-kinds.ts';
import { soak } from './soak.ts';

/**
 * `make faults` asks for 20,000 changes and 2,000 jobs, each time with other faults, and `SEED=… make faults` for the same again.
 */
const isLong = process.env.JOBS !== undefined;
const NAMES = JOB_CHAINS.flat().map(({ name }) => name);
const JOBS = Number(process.env.JOBS ?? 2 * NAMES.length);
const CHANGES = isLong ? Number(process.env.SOAK_CHANGES ?? 20_000) : 100;
const SEED = Number(process.env.SEED ?? (isLong ? Date.now() % 1_000_000 : 1));
const TENANTS = isLong ? 6 : 3;

const say = (line: string): void => void process.stderr.write(`  ${line}\n`);

test(
  `${CHANGES} changes and ${JOBS} jobs of several tenants under faults: every event arrives, every job ends, each ` +
    `item is done once (SEED=${SEED})`,
  async () => {
    const { faults, injected, kinds, summary, jobs } = await soak({
      tenants: TENANTS,
      changes: CHANGES,
      jobs: JOBS,
      seed: SEED,
      progress: isLong ? say : () => undefined,
    });

    say(summary);
    if (isLong) say(JSON.stringify({ injected, jobs: Object.fromEntries(jobs.ended) }));
    expect({ SEED, faults }).toEqual({ SEED, faults: [] });
    expect(Object.keys(injected)).toHaveLength(kinds);
    expect(jobs.count).toBe(JOBS);
    if (isLong) expect(NAMES.filter((name) => !jobs.ended.has(`${name} succeeded`))).toEqual([]);
  },
  180_000 + (CHANGES + 5 * JOBS) * 1_000,
);

test('a soak has jobs of every kind', () => {
  expect(new Set(NAMES.map((name) => name.split(' ')[0]))).toEqual(new Set(TASK_KINDS));
});
