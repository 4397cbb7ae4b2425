import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { signal as send } from '../processes.ts';

/** A start of a container's process, with everything it needs. */
export interface Launch {
  readonly command: readonly string[];
  readonly environment: Record<string, string>;
  readonly cwd: string;
}

export interface End {
  /** The code that a shell reports: 128 + the signal's number; 128 if the process did not start. */
  readonly code: number;
  readonly signal: number | null;
  /** The reason why it did not start. */
  readonly error?: string;
}

const POLL_MS = 20;

/**
 * A container's process, in a process group of its own, so that its children end with it. Its output goes straight to the file.
 */
export class ContainerProcess {
  readonly pid: number | undefined;
  readonly ended: Promise<End>;
  readonly #over = new AbortController();

  constructor({ command: [program = '', ...args], environment, cwd }: Launch, logFile: string) {
    mkdirSync(dirname(logFile), { recursive: true });
    const output = openSync(logFile, 'a', 0o600);
    try {
      const child = spawn(program, args, { cwd, env: environment, stdio: ['ignore', output, output], detached: true });
      this.pid = child.pid;
      this.ended = endOf(child).then((end) => {
        this.#over.abort();
        this.#killGroup();
        return end;
      });
    } finally {
      closeSync(output);
    }
  }

  /** Aborted once it has ended. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /**
   * Ends the process as a kubelet does. It runs `preStop` to its end, sends SIGTERM, and sends SIGKILL to the group when the
   * grace period, preStop included, is over. It reads `graceMs` repeatedly, since a pod's grace period may be shortened
   * meanwhile.
   */
  async end(clock: Clock, graceMs: () => number, preStop: () => Promise<void>): Promise<void> {
    const began = clock.monotonic();
    const isSpent = (): boolean => clock.monotonic() - began >= graceMs();
    const hookOver = new AbortController();
    void preStop().finally(() => hookOver.abort());
    while (!hookOver.signal.aborted && !isSpent() && !this.over.aborted) await clock.sleep(POLL_MS);
    if (this.pid !== undefined && !this.over.aborted) send(this.pid, 'SIGTERM');
    while (!this.over.aborted && !isSpent()) await clock.sleep(POLL_MS);
    if (!this.over.aborted) this.#killGroup();
  }

  #killGroup(): void {
    if (this.pid !== undefined) send(-this.pid, 'SIGKILL');
  }
}

/** Runs a command beside the container, for a probe or a hook. Resolves with its exit code. */
export async function execBeside(launch: Launch, [program = '', ...args]: readonly string[], timeoutMs: number): Promise<number> {
  const options = { cwd: launch.cwd, env: launch.environment, stdio: 'ignore' as const, timeout: timeoutMs };
  return (await endOf(spawn(program === 'node' ? process.execPath : program, args, options))).code;
}

function endOf(child: ChildProcess): Promise<End> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: 128, signal: null, error: error.message }));
    child.once('exit', (code, name) => {
      const signal = name === null ? null : constants.signals[name];
      resolve({ code: code ?? 128 + (signal ?? 0), signal });
    });
  });
}
