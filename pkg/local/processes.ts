import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../runtime/command-error.ts';
import { readIfThere } from './files.ts';

/**
 * A process of a state directory. Each has `CARREL_HOME` (the absolute folder) and `CARREL_PROGRAM` (its name) in its
 * environment, so that leftovers of a killed supervisor or node are found and ended. Both are required, since people may export
 * CARREL_HOME.
 */
interface PlatformProcess extends MarkedProcess {
  /** `etcd`, `operator`, …; `supervisor`; `container` for processes of the process node. */
  readonly program: string;
}

/** A process with variables `CARREL_…` in its environment; `environment` holds only those. */
export interface MarkedProcess {
  readonly pid: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** Returns the environment variables that mark a process of the state directory. */
export const marks = (stateDirectory: string, program: string): Record<string, string> => ({
  CARREL_HOME: stateDirectory,
  CARREL_PROGRAM: program,
});

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat !== undefined && stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

/**
 * Returns when the process started, in the kernel's own unit. Together with the pid it identifies a process uniquely, since pids
 * are reused.
 */
export function startTime(pid: number): string {
  if (process.platform === 'linux') {
    const stat = readIfThere(`/proc/${pid}/stat`);
    return stat === undefined ? '' : (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '');
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '';
  }
}

/** Returns all living processes with the state directory's marks, except this one. */
export const processesOf = (stateDirectory: string): PlatformProcess[] =>
  markedProcesses().flatMap(({ pid, environment }) => {
    const program = environment['CARREL_PROGRAM'];
    return program !== undefined && environment['CARREL_HOME'] === stateDirectory ? [{ pid, program, environment }] : [];
  });

/** Returns all living processes with a variable `CARREL_…` in their environment, except this one. */
export function markedProcesses(): MarkedProcess[] {
  const all = process.platform === 'linux' ? fromProc() : fromPs();
  return all.filter(({ pid }) => pid !== process.pid && isAlive(pid));
}

function fromProc(): MarkedProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return marked(Number(name), readFileSync(`/proc/${name}/environ`, 'utf8').split('\0'));
    } catch {
      return []; // It ended meanwhile, or belongs to another user.
    }
  });
}

function fromPs(): MarkedProcess[] {
  const text = execFileSync('ps', ['axeww', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 64 << 20 });
  return text.split('\n').flatMap((line) => marked(Number.parseInt(line, 10), line.trim().split(' ')));
}

function marked(pid: number, words: string[]): MarkedProcess[] {
  const variables = words.flatMap((word): [string, string][] => {
    const at = word.indexOf('=');
    return word.startsWith('CARREL_') && at > 0 ? [[word.slice(0, at), word.slice(at + 1)]] : [];
  });
  return variables.length === 0 ? [] : [{ pid, environment: Object.fromEntries(variables) }];
}

/** Sends the signal; returns false if the process no longer exists. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    throw error;
  }
}

/** Ends processes: the signal first (default: SIGTERM), SIGKILL after `graceMs`. Resolves when all have ended. */
export async function endAll(pids: readonly number[], graceMs: number, name: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  let living = pids.filter((pid) => signal(pid, name));
  const deadline = performance.now() + graceMs;
  let killed = false;
  while ((living = living.filter(isAlive)).length > 0) {
    if (!killed && performance.now() > deadline) {
      for (const pid of living) signal(pid, 'SIGKILL');
      killed = true;
    }
    await sleep(20);
  }
}

/** Ends the processes that an earlier supervisor of this state directory left; parents first, so that they start no more. */
export async function endLeftovers(stateDirectory: string, graceMs = 8_000): Promise<PlatformProcess[]> {
  const left = processesOf(stateDirectory);
  const supervisors = left.filter(({ program }) => program === 'supervisor' || program === 'node').map(({ pid }) => pid);
  await endAll(supervisors, graceMs, 'SIGKILL');
  const others = processesOf(stateDirectory);
  // Postgres reads SIGTERM as "wait for the clients"; SIGINT ends it now, cleanly.
  const postgres = others.filter(({ program }) => program === 'postgres').map(({ pid }) => pid);
  await Promise.all([
    endAll(postgres, graceMs, 'SIGINT'),
    endAll(
      others.filter(({ program }) => program !== 'postgres').map(({ pid }) => pid),
      graceMs,
    ),
  ]);
  return left;
}
