import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import { median } from '../faults/latency.ts';
import type { Line } from './measure.ts';

/**
 * A bench runs in a process of its own for each checkout (run.ts), and only one of them runs at any moment: each goes on to its next
 * `byTurns`, waits there, and gets its turns from here. So two checkouts are measured alternately beside the same control.
 */

/** Medians. */
export interface Measured {
  readonly ours: number;
  readonly control: number;
  /** Of server and worker, for one operation. */
  readonly cpuMs?: number;
}

type Turn = 'ours' | 'control' | Measured;

/** What a bench's process says. */
type Message =
  | { readonly rounds: number; readonly own: boolean }
  | { readonly value: number; readonly cpuMs?: number }
  | { readonly lines: Line[] };

/** In a bench's process: the next measurement to take, or what all of them gave. */
export async function nextTurn(): Promise<Turn> {
  const [turn] = (await once(process, 'message')) as [Turn];
  return turn;
}

/** A checkout of the repository, and what programs in it are started with. */
export interface Checkout {
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The bench's lines of each checkout, of the first the control; undefined for one that cannot run it. */
export async function runBench(name: string, checkouts: readonly Checkout[]): Promise<(Line[] | undefined)[]> {
  const all = checkouts.map((checkout) => new BenchProcess(name, checkout));
  try {
    for (const one of all) await one.start();
    for (;;) {
      const waiting = all.filter(({ at }) => at !== undefined && 'rounds' in at);
      if (waiting.length === 0) return all.map(({ at }) => (at !== undefined && 'lines' in at ? at.lines : undefined));
      await takeTurns(waiting);
    }
  } finally {
    for (const one of all) await one.end();
  }
}

async function takeTurns(waiting: readonly BenchProcess[]): Promise<void> {
  const [first] = waiting;
  if (first?.at === undefined || !('rounds' in first.at)) return;
  const { rounds, own } = first.at;
  for (const one of waiting) one.clear();
  for (let round = 0; round <= rounds; round += 1) {
    for (const one of waiting) await one.measure('ours');
    for (const one of own ? waiting : [first]) await one.measure('control');
  }
  const control = (one: BenchProcess): number => (own ? one : first).median('control');
  for (const one of waiting) await one.goOn(control(one));
}

/** One checkout's process of a bench. */
class BenchProcess {
  /** What it said last; undefined: it has failed. */
  at: Message | undefined;
  readonly #child: ChildProcess;
  readonly #messages: AsyncIterator<[Message]>;
  /** Aborted once nothing more comes from the process. */
  readonly #silent = new AbortController();
  #values: Record<'ours' | 'control', { value: number; cpuMs?: number }[]> = {
    ours: [],
    control: [],
  };

  constructor(name: string, { root, environment }: Checkout) {
    const env = { ...process.env, ...environment };
    this.#child = fork(join(root, 'test/bench/run.ts'), [name], {
      cwd: root,
      env,
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    this.#child.once('disconnect', () => this.#silent.abort());
    this.#messages = on(this.#child, 'message', {
      signal: this.#silent.signal,
    }) as AsyncIterator<[Message]>;
  }

  async start(): Promise<void> {
    this.#child.send('start');
    this.at = await this.#next();
  }

  /** Before the turns of the next measurement. */
  clear(): void {
    this.#values = { ours: [], control: [] };
  }

  async measure(turn: 'ours' | 'control'): Promise<void> {
    if (this.at === undefined) return;
    this.#child.send(turn);
    const said = await this.#next();
    if (said === undefined) this.at = undefined;
    else if ('value' in said) this.#values[turn].push(said);
  }

  /** The first round does not count. */
  median(turn: 'ours' | 'control', of: 'value' | 'cpuMs' = 'value'): number {
    return median(this.#values[turn].slice(1).map(({ [of]: value }) => value ?? Number.NaN));
  }

  async goOn(control: number): Promise<void> {
    if (this.at === undefined) return;
    const cpuMs = this.median('ours', 'cpuMs');
    this.#child.send({
      ours: this.median('ours'),
      control,
      ...(Number.isNaN(cpuMs) ? {} : { cpuMs }),
    });
    this.at = await this.#next();
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill();
    await ended;
  }

  async #next(): Promise<Message | undefined> {
    try {
      return ((await this.#messages.next()) as IteratorYieldResult<[Message]>).value[0];
    } catch (error) {
      if (this.#silent.signal.aborted) return undefined;
      throw error;
    }
  }
}
