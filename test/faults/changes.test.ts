import { expect, test } from '@jest/globals';
import { withstand } from './withstand.ts';

/** `make faults` asks for more (Makefile), each time with other faults, and `SEED=… make faults` for the same again. */
const CHANGES = Number(process.env.CHANGES ?? 500);
const isLong = process.env.CHANGES !== undefined;
const SEED = Number(process.env.SEED ?? (isLong ? Date.now() % 1_000_000 : 1));

const say = (line: string): void => void process.stderr.write(`  ${line}\n`);

test(
  `${CHANGES} changes under faults of receiver, worker, server, Redis and Postgres: no event is lost, none differs ` +
    `(SEED=${SEED})`,
  async () => {
    if (isLong) say(`${CHANGES} changes, SEED=${SEED}`);

    const { faults, injected, kinds, summary } = await withstand({
      changes: CHANGES,
      seed: SEED,
      progress: isLong ? say : () => undefined,
    });

    say(summary);
    if (isLong) say(JSON.stringify(injected));
    expect({ SEED, faults }).toEqual({ SEED, faults: [] });
    expect(Object.keys(injected)).toHaveLength(kinds);
  },
  120_000 + CHANGES * 1_000,
);
