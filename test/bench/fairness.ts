import { type Death, measureFairness } from '../faults/fairness.ts';
import type { Line } from './measure.ts';

const WAITING = 10_000;
const MOST = 3;

/** A tenant's event → receiver, alone and beside a neighbour with a backlog for a dead receiver. */
export async function fairness(): Promise<Line[]> {
  return [await line('refuses'), await line('stalls')];
}

async function line(death: Death): Promise<Line> {
  const { alone, beside } = await measureFairness({ waiting: WAITING, rounds: 5, death });
  const ratio = beside / alone;
  return {
    what: `event → receiver beside ${WAITING} waiting for a receiver that ${death}, p99`,
    ours: `${beside.toFixed(1)} ms`,
    control: `${alone.toFixed(1)} ms alone`,
    ratio,
    target: `≤ ${MOST} ×`,
    met: ratio <= MOST,
  };
}
