import { median } from '../faults/latency.ts';
import { range } from '../support/wait.ts';

/** One line of docs/design/testing.md, Speed and size. */
export interface Line {
  readonly what: string;
  readonly ours: string;
  /** What is measured beside it, in the same run. */
  readonly control: string;
  readonly ratio?: number;
  readonly target: string;
  /** Undefined: told, not judged. */
  readonly met?: boolean;
}

const ROUNDS = 5;

/** Medians of several rounds, ours and the control by turns after a round that does not count. */
export async function byTurns(ours: () => Promise<number>, control: () => Promise<number>, rounds = ROUNDS) {
  await ours();
  await control();
  const measured: { ours: number; control: number }[] = [];
  for (const _ of range(rounds)) measured.push({ ours: await ours(), control: await control() });
  return { ours: median(measured.map(({ ours }) => ours)), control: median(measured.map(({ control }) => control)) };
}

/** Runs `work` for each item, `concurrency` at once; gives how many a second. */
export async function perSecond<T>(items: readonly T[], concurrency: number, work: (item: T) => Promise<void>): Promise<number> {
  const started = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) await work(items[at] as T);
  };
  await Promise.all(range(concurrency).map(worker));
  return (items.length * 1000) / (performance.now() - started);
}

/** A line whose numbers are rates: ours must be `least` × the control. */
export function rateLine(what: string, measured: { ours: number; control: number }, control: string, least?: number): Line {
  const ratio = measured.ours / measured.control;
  return {
    what,
    ours: `${Math.round(measured.ours)}/s`,
    control: `${Math.round(measured.control)}/s ${control}`,
    ratio,
    target: least === undefined ? '' : `≥ ${least} ×`,
    ...(least === undefined ? {} : { met: ratio >= least }),
  };
}
