import { readFileSync } from 'node:fs';
import { range } from '../support/wait.ts';
import { type Measured, nextTurn } from './turn.ts';

/** A line of docs/design/testing.md, Speed and size. */
export interface Line {
  readonly what: string;
  readonly ours: string;
  /** The control that the same run measures. */
  readonly control: string;
  readonly ratio?: number;
  readonly target: string;
  /** Undefined: reported, not judged. */
  readonly met?: boolean;
  /** CPU time that server or worker took for one operation. */
  readonly cpu?: string;
}

export interface TurnOptions {
  /** 5 unless set. */
  readonly rounds?: number;
  /** The control is the checkout's own code too, so each checkout has its own. */
  readonly own?: boolean;
}

const ROUNDS = 5;
const TICKS_PER_SECOND = 100; // USER_HZ of every Linux that Node runs on
const OUR_PROGRAMS = /cmd\/(server|worker)\/main/;

/** Operations since the present turn began. */
let operations = 0;

/**
 * Medians of several rounds, ours and the control by turns after a round that does not count.
 * With `make bench BASE=…` both checkouts call this at the same point, and their turns alternate beside one control.
 */
export async function byTurns(
  ours: () => Promise<number>,
  control: () => Promise<number>,
  { rounds = ROUNDS, own = false }: TurnOptions = {},
): Promise<Measured> {
  process.send?.({ rounds, own });
  for (;;) {
    const turn = await nextTurn();
    if (typeof turn === 'object') return turn;
    operations = 0;
    const before = cpuMs();
    const value = await (turn === 'ours' ? ours() : control());
    process.send?.({
      value,
      ...(turn === 'ours' && operations > 0 ? { cpuMs: (cpuMs() - before) / operations } : {}),
    });
  }
}

/** Says what takes long before the next turns. */
export const progress = (doing: string): void => void process.stderr.write(`  ${doing}\n`);

/** Runs `work` for each item, `concurrency` at once; gives how many a second. */
export async function perSecond<T>(items: readonly T[], concurrency: number, work: (item: T) => Promise<void>): Promise<number> {
  const started = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) await work(items[at] as T);
  };
  await Promise.all(range(concurrency).map(worker));
  countOperations(items.length);
  return (items.length * 1000) / (performance.now() - started);
}

/** Sets the number of operations to divide the CPU time by, for a measurement without `perSecond`. */
export function countOperations(count: number): void {
  operations += count;
}

/** A line whose numbers are rates: ours must be `least` × the control. */
export function rateLine(what: string, measured: Measured, control: string, least?: number, unit = '/s'): Line {
  const ratio = measured.ours / measured.control;
  return {
    what,
    ours: `${Math.round(measured.ours)}${unit}`,
    control: `${Math.round(measured.control)}${unit} ${control}`,
    ratio,
    target: least === undefined ? '' : `≥ ${least} ×`,
    ...(least === undefined ? {} : { met: ratio >= least }),
    ...(measured.cpuMs === undefined ? {} : { cpu: `${measured.cpuMs.toFixed(2)} ms` }),
  };
}

/** A line whose numbers are costs: ours must be at most `most` × the control. */
export function costLine(what: string, measured: Measured, control: string, most: number, unit: string): Line {
  const ratio = measured.ours / measured.control;
  const [ours, other] = [measured.ours, measured.control].map((value) => `${Math.round(value)} ${unit}`);
  return {
    what,
    ours: ours ?? '',
    control: `${other} ${control}`,
    ratio,
    target: `≤ ${most} ×`,
    met: ratio <= most,
  };
}

/** CPU time, in ms, that servers and workers which this process started have taken. */
function cpuMs(): number {
  return (
    childrenOf(process.pid)
      .filter((pid) => OUR_PROGRAMS.test(textOf(`/proc/${pid}/cmdline`)))
      .reduce((sum, pid) => sum + ticksOf(pid), 0) *
    (1_000 / TICKS_PER_SECOND)
  );
}

const childrenOf = (pid: number): string[] => textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean);

/** utime and stime, the 14th and 15th field (proc_pid_stat(5)); the second is the program's name, with spaces perhaps. */
function ticksOf(pid: string): number {
  const fields = textOf(`/proc/${pid}/stat`).split(') ').pop()?.split(' ') ?? [];
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

/** Empty where there is no such file: not Linux, or the process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
