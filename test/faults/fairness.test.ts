import { expect, test } from '@jest/globals';
import { type Death, measureFairness } from './fairness.ts';

/**
 * `make faults` asks for 10,000 and judges as design, section 12 does. The short run stands beside whatever else the machine does:
 * it tells only a neighbour who holds all places for whole time-outs, and only the worse of the two dead receivers is tried.
 */
const WAITING = Number(process.env.WAITING ?? 1_000);
const isLong = process.env.WAITING !== undefined;
const MOST = isLong ? { ratio: 3, rounds: 5 } : { ratio: 10, rounds: 1 };
/** Below this a ratio says nothing but how quick the machine is. */
const UNNOTICED_MS = isLong ? 0 : 20_000;

test.each<Death>(isLong ? ['refuses', 'stalls'] : ['stalls'])(
  `${WAITING} deliveries that wait for a receiver that %s do not delay another tenant's`,
  async (death) => {
    const { alone, beside } = await measureFairness({ waiting: WAITING, rounds: MOST.rounds, death });

    process.stderr.write(`  p99 from event to receiver: ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside one that ${death}\n`);
    expect(beside).toBeLessThan(Math.max(UNNOTICED_MS, MOST.ratio * alone));
  },
  300_000,
);
