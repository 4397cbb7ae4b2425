import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import { median } from '../faults/latency.ts';
import type { Line } from './measure.ts';
import type { Turn } from './turn.ts';

/**
 * A bench runs in a process of its own for each checkout (run.ts), and only one of them runs at any moment: each goes on to its
 * next
 * `byTurns`, waits there, and gets its turns from here. So two checkouts are measured alternately beside the same control.
 */

/** A message of a bench's process. */
type Message =
  | { readonly rounds: number; readonly own: boolean }
  | { readonly value: number; readonly cpuMs?: number }
  | { readonly lines: Line[] };

/** A checkout of the repository, and what programs in it are started with. */
export interface Checkout {
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Another commit, which may fail: what it writes to stderr is shown only as its reason. */
  readonly isBase: boolean;
}

/** A bench's lines; a checkout that cannot run it says why. */
export type Outcome = { readonly lines: Line[] } | { readonly failure: string };

/**
 * The bench of each checkout, with the control of the first; ends when the first has failed. `mostRounds` as in `make bench
 * ROUNDS=`.
 */
export async function runBench(name: string, checkouts: readonly Checkout[], mostRounds: number): Promise<Outcome[]> {
  const all = checkouts.map((checkout) => new BenchProcess(name, checkout));
  try {
    for (const one of all) await one.start();
    for (let measurement = 1; ; measurement += 1) {
      const waiting = all.filter(({ at }) => at !== undefined && 'rounds' in at);
      if (all[0]?.at === undefined || waiting.length === 0) return all.map((one) => one.outcome());
      const started = performance.now();
      await takeTurns(waiting, mostRounds);
      const seconds = ((performance.now() - started) / 1_000).toFixed(0);
      process.stderr.write(
        `  ${name}: measurement ${measurement} took ${seconds} s${waiting.length < all.length ? ', without the base' : ''}\n`,
      );
    }
  } finally {
    for (const one of all) await one.end();
  }
}

async function takeTurns(waiting: readonly BenchProcess[], mostRounds: number): Promise<void> {
  const [first] = waiting;
  if (first?.at === undefined || !('rounds' in first.at)) return;
  const { own } = first.at;
  const rounds = Math.min(first.at.rounds, mostRounds);
  for (const one of waiting) one.clear();
  for (let round = 0; round <= rounds; round += 1) {
    for (const one of waiting) await one.measure('ours');
    for (const one of own ? waiting : [first]) await one.measure('control');
  }
  const control = (one: BenchProcess): number => (own ? one : first).median('control');
  for (const one of waiting) await one.goOn(control(one));
}

/** The search for an error reads this many characters of a failed process's stderr. */
const STDERR_CHARACTERS = 10_000;

/** A bench's process on one checkout. */
class BenchProcess {
  /** Its last message; undefined when it ended before its lines. */
  at: Message | undefined;
  readonly #child: ChildProcess;
  readonly #messages: AsyncIterator<[Message]>;
  readonly #exited: Promise<unknown>;
  /** Aborted once nothing more comes from the process. */
  readonly #silent = new AbortController();
  #values: Record<'ours' | 'control', { value: number; cpuMs?: number }[]> = { ours: [], control: [] };
  #stderr = '';

  constructor(name: string, { root, environment, isBase }: Checkout) {
    const env = { ...process.env, ...environment };
    this.#child = fork(join(root, 'test/bench/run.ts'), [name], {
      cwd: root,
      env,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    this.#exited = once(this.#child, 'exit');
    this.#child.once('disconnect', () => this.#silent.abort());
    this.#child.stderr?.on('data', (text: Buffer) => {
      if (!isBase) process.stderr.write(text);
      this.#stderr = (this.#stderr + text.toString()).slice(-STDERR_CHARACTERS);
    });
    this.#messages = on(this.#child, 'message', { signal: this.#silent.signal }) as AsyncIterator<[Message]>;
  }

  async start(): Promise<void> {
    this.#send('start');
    this.at = await this.#next();
  }

  /** Before the turns of the next measurement. */
  clear(): void {
    this.#values = { ours: [], control: [] };
  }

  async measure(turn: 'ours' | 'control'): Promise<void> {
    if (this.at === undefined) return;
    this.#send(turn);
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
    this.#send({ ours: this.median('ours'), control, ...(Number.isNaN(cpuMs) ? {} : { cpuMs }) });
    this.at = await this.#next();
  }

  outcome(): Outcome {
    if (this.at !== undefined && 'lines' in this.at) return { lines: this.at.lines };
    const error = this.#stderr.match(/^(?:\w*Error\b.*|Error: .*)$/m)?.[0];
    return { failure: error ?? this.#stderr.trim().split('\n').at(-1) ?? '' };
  }

  async end(): Promise<void> {
    this.#child.kill();
    await this.#exited;
  }

  /** A process that has ended is noticed by the next message, which does not come. */
  #send(turn: Turn | 'start'): void {
    if (this.#child.connected) this.#child.send(turn, () => undefined);
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
