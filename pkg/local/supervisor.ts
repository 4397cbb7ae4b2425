import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { whenAborted } from '../runtime/abort.ts';
import { backOffMs } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { messageOf } from '../runtime/command-error.ts';
import { readIfThere, writeAtomically } from './files.ts';
import { endAll, marks } from './processes.ts';

/** A program that the supervisor keeps running. */
export interface ProgramSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** Programs that must be ready before this one starts. */
  readonly after: readonly string[];
  /** Runs before each start: writes files, and removes obstacles that a crash left. */
  readonly prepare?: () => Promise<void> | void;
  /** The readiness check, repeated until it resolves. Throws while the program is not ready. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /**
   * The liveness check, repeated while the program runs. Throws if the program does not answer. Without it the program counts as
   * alive.
   */
  readonly alive?: (signal: AbortSignal) => Promise<void>;
  /** Runs once the program is ready, before those that wait for it start. */
  readonly afterReady?: () => Promise<void>;
  /** The signal that ends the program; default: SIGTERM. */
  readonly stopSignal?: NodeJS.Signals;
  /** Returns one line for people about a known failure, from the end of the log. */
  readonly explain?: (log: string) => string | undefined;
}

type ProgramState = 'waiting' | 'starting' | 'ready' | 'restarting' | 'stopped';

export interface ProgramStatus {
  readonly state: ProgramState;
  readonly pid?: number;
  readonly restarts: number;
  /** The reason why it is not ready, if known. */
  readonly reason?: string;
}

const RESTART = { baseMs: 200, maxMs: 10_000, jitter: 0.2 };
/** A program that ran this long restarts without back-off. */
const STEADY_MS = 10_000;
const READY_POLL_MS = 50;
const READY_TRY_MS = 5_000;
const STOP_GRACE_MS = 10_000;
const ALIVE_EVERY_MS = 5_000;
/** After this many consecutive failed liveness checks a program is killed and started again. */
const DEAD_AFTER = 3;
const LOG_LIMIT_BYTES = 20 << 20;

/**
 * Starts programs in the order of their `after`, keeps each running, and stops them in the reverse order.
 *
 * Invariants:
 * - A program that ends, or no longer answers, is started again, after a back-off that a steady run resets. A program never runs
 *   twice at once. A failure to write a file of the state directory does not end that.
 * - `run/<name>.pid` names the living process. Output goes straight to `logs/<name>.log`, so a killed supervisor breaks no pipe.
 */
export class Supervisor {
  readonly #stateDirectory: string;
  readonly #specs: readonly ProgramSpec[];
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onChange: (status: Record<string, ProgramStatus>) => void;
  readonly #stopping = new AbortController();
  readonly #status: Record<string, ProgramStatus>;
  readonly #children = new Map<string, ChildProcess>();
  readonly #firstReady = new Map<string, PromiseWithResolvers<void>>();
  readonly #loops = new Map<string, Promise<void>>();

  constructor(options: {
    stateDirectory: string;
    specs: readonly ProgramSpec[];
    clock: Clock;
    random: Random;
    onChange?: (status: Record<string, ProgramStatus>) => void;
  }) {
    this.#stateDirectory = options.stateDirectory;
    this.#specs = options.specs;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#onChange = options.onChange ?? (() => {});
    this.#status = Object.fromEntries(options.specs.map(({ name }) => [name, { state: 'waiting', restarts: 0 }]));
    for (const { name } of options.specs) this.#firstReady.set(name, Promise.withResolvers());
  }

  get status(): Readonly<Record<string, ProgramStatus>> {
    return this.#status;
  }

  start(): void {
    for (const spec of this.#specs) this.#loops.set(spec.name, this.#keep(spec));
  }

  /** Resolves when every program, or each of the named ones, was ready once. */
  async whenReady(names: readonly string[] = this.#specs.map(({ name }) => name)): Promise<void> {
    await Promise.all(names.flatMap((name) => this.#firstReady.get(name)?.promise ?? []));
  }

  /** Ends every program, dependents first. Resolves when none is alive. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the supervisor stops'));
    const stopped = new Map<string, Promise<void>>();
    const stopOne = (spec: ProgramSpec): Promise<void> => {
      const running =
        stopped.get(spec.name) ??
        this.#stopAfter(spec, this.#specs.filter((other) => other.after.includes(spec.name)).map(stopOne));
      stopped.set(spec.name, running);
      return running;
    };
    await Promise.all(this.#specs.map(stopOne));
  }

  async #stopAfter(spec: ProgramSpec, dependents: Promise<void>[]): Promise<void> {
    await Promise.all(dependents);
    const pid = this.#children.get(spec.name)?.pid;
    if (pid !== undefined) await endAll([pid], STOP_GRACE_MS, spec.stopSignal);
    await this.#loops.get(spec.name);
  }

  async #keep(spec: ProgramSpec): Promise<void> {
    const stopping = this.#stopping.signal;
    await Promise.race([this.whenReady(spec.after), whenAborted(stopping)]);
    for (let failures = 0; !stopping.aborted;) {
      const started = this.#clock.monotonic();
      const reason = await this.#runOnce(spec);
      if (stopping.aborted) break;
      failures = this.#clock.monotonic() - started > STEADY_MS ? 0 : failures + 1;
      this.#set(spec.name, { state: 'restarting', restarts: (this.#status[spec.name]?.restarts ?? 0) + 1, reason });
      await this.#clock.sleep(failures === 0 ? 0 : backOffMs(RESTART, failures, this.#random), stopping).catch(() => {});
    }
    this.#set(spec.name, { state: 'stopped', restarts: this.#status[spec.name]?.restarts ?? 0 });
  }

  /** Runs the program once; resolves with the reason why it ended. */
  async #runOnce(spec: ProgramSpec): Promise<string> {
    const log = join(this.#stateDirectory, 'logs', `${spec.name}.log`);
    const pidFile = join(this.#stateDirectory, 'run', `${spec.name}.pid`);
    let child: ChildProcess;
    try {
      await spec.prepare?.();
      if (this.#stopping.signal.aborted) return 'stopping';
      child = this.#spawn(spec, log);
    } catch (error) {
      return messageOf(error);
    }
    const ended = endOf(child);
    const over = new AbortController();
    this.#children.set(spec.name, child);
    if (child.pid !== undefined) attempt(() => writeAtomically(pidFile, `${child.pid}\n`, 0o644));
    this.#set(spec.name, {
      ...this.#status[spec.name],
      state: 'starting',
      restarts: this.#status[spec.name]?.restarts ?? 0,
      ...(child.pid === undefined ? {} : { pid: child.pid }),
    });
    const watching = this.#watchReady(spec, over.signal);
    const reason = await ended;
    over.abort(new Error(reason));
    await watching;
    this.#children.delete(spec.name);
    attempt(() => rmSync(pidFile, { force: true }));
    return spec.explain?.(tailOf(log)) ?? reason;
  }

  #spawn(spec: ProgramSpec, log: string): ChildProcess {
    mkdirSync(join(this.#stateDirectory, 'logs'), { recursive: true });
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT_BYTES) renameSync(log, `${log}.1`);
    const output = openSync(log, 'a', 0o600);
    try {
      return spawn(spec.command, spec.args, {
        stdio: ['ignore', output, output],
        env: { ...baseEnvironment(), ...spec.env, ...marks(this.#stateDirectory, spec.name) },
        ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
        ...(spec.uid === undefined ? {} : { uid: spec.uid }),
        ...(spec.gid === undefined ? {} : { gid: spec.gid }),
        detached: true, // Ctrl-C at the terminal must not reach Postgres before its users.
      });
    } finally {
      closeSync(output);
    }
  }

  async #watchReady(spec: ProgramSpec, over: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([over, this.#stopping.signal]);
    while (!signal.aborted) {
      try {
        await spec.ready(AbortSignal.any([signal, AbortSignal.timeout(READY_TRY_MS)]));
        await spec.afterReady?.();
        if (over.aborted) return;
        const { pid, restarts = 0 } = this.#status[spec.name] ?? {};
        this.#set(spec.name, { state: 'ready', restarts, ...(pid === undefined ? {} : { pid }) });
        this.#firstReady.get(spec.name)?.resolve();
        await this.#watchAlive(spec, signal);
        return;
      } catch (error) {
        const status = this.#status[spec.name];
        if (status && status.reason !== messageOf(error) && !signal.aborted)
          this.#set(spec.name, { ...status, reason: messageOf(error) });
        await this.#clock.sleep(READY_POLL_MS, signal).catch(() => {});
      }
    }
  }

  /** Kills a program that does not answer. Resolves when the program has ended or the supervisor stops. */
  async #watchAlive({ name, alive }: ProgramSpec, over: AbortSignal): Promise<void> {
    if (!alive) return;
    for (let failures = 0; !over.aborted;) {
      await this.#clock.sleep(ALIVE_EVERY_MS, over).catch(() => {});
      if (over.aborted) return;
      try {
        await alive(AbortSignal.any([over, AbortSignal.timeout(READY_TRY_MS)]));
        failures = 0;
      } catch {
        failures += 1;
      }
      if (failures >= DEAD_AFTER) this.#children.get(name)?.kill('SIGKILL');
    }
  }

  #set(name: string, status: ProgramStatus): void {
    this.#status[name] = status;
    attempt(() => this.#onChange(this.#status));
  }
}

/** Returns the last 4 KiB. */
const tailOf = (log: string): string => (readIfThere(log) ?? '').slice(-4096);

/** Runs a write that may fail. Status files only report on the programs: a full disk must not end the supervisor. */
function attempt(write: () => void): void {
  try {
    write();
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal === null ? `exited with ${code}` : `ended by ${signal}`));
  });
}

/** Returns the variables of the caller's environment that programs get: no CARREL_*, and none that Postgres or Node reads. */
function baseEnvironment(): Record<string, string> {
  const passedVariables = [
    'PATH',
    'HOME',
    'USER',
    'LANG',
    'TZ',
    'TMPDIR',
    'XDG_CACHE_HOME',
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'http_proxy',
    'https_proxy',
    'no_proxy',
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_FILE',
    'GOGC',
  ];
  return Object.fromEntries(
    passedVariables.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
