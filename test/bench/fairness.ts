import { type Death, measureFairness } from '../faults/fairness.ts';
import type { Line } from './measure.ts';

const WAITING = 100_000;
const MOST = 3;

/** With full limits these tenants would hold more slots than a worker has, for the 15 s that a receiver may take. */
const STALLING_TENANTS = 80;

/** A tenant's event → receiver, alone and beside neighbours with backlogs for dead receivers. */
export async function fairness(): Promise<Line[]> {
  return [await line('refuses', WAITING, 1), await line('stalls', WAITING, 1), await line('stalls', 50, STALLING_TENANTS)];
}

async function line(death: Death, waiting: number, neighbours: number): Promise<Line> {
  const { alone, beside } = await measureFairness({
    waiting,
    rounds: 3,
    death,
    neighbours,
  });
  const ratio = beside / alone;
  return {
    what: `event → receiver beside ${neighbours} × ${waiting} waiting for a receiver that ${death}, p99`,
    ours: `${beside.toFixed(1)} ms`,
    control: `${alone.toFixed(1)} ms alone`,
    ratio,
    target: `≤ ${MOST} ×`,
    met: ratio <= MOST,
  };
}
