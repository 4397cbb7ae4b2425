import { once } from 'node:events';

/** Medians. */
export interface Measured {
  readonly ours: number;
  readonly control: number;
  /** CPU time of server and worker for one operation. */
  readonly cpuMs?: number;
}

export type Turn = 'ours' | 'control' | Measured;

/** In a bench's process: the next measurement to take, or what all of them gave. */
export async function nextTurn(): Promise<Turn> {
  const [turn] = (await once(process, 'message')) as [Turn];
  return turn;
}
