import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, CommandError } from '../runtime/command-error.ts';
import { readIfThere } from './files.ts';
import { isAlive, startTime } from './processes.ts';

/**
 * A lock between processes: a file that names its holder.
 *
 * Invariants:
 * - The file appears complete or not at all (written under another name and linked), so no reader sees half of it.
 * - If a holder has died, the next process that asks gets the lock, even if another process has its pid by then.
 */
export interface Lock {
  release(): void;
}

interface Holder {
  readonly pid: number;
  readonly started: string;
}

/** Takes the lock, or returns its holder. */
export function tryLock(path: string): Lock | Holder {
  mkdirSync(dirname(path), { recursive: true });
  const me = `${process.pid} ${startTime(process.pid)}\n`;
  for (;;) {
    if (linkNew(path, me)) return { release: () => readIfThere(path) === me && rmSync(path, { force: true }) };
    const text = readIfThere(path);
    if (text === undefined) continue;
    const holder = parseHolder(text);
    if (holder && lives(holder)) return holder;
    takeAway(path, text);
  }
}

/** Waits for the lock; calls `onWait` once, with the holder's pid. Throws CommandError if it is still held after `timeoutMs`. */
export async function lock(path: string, options: { timeoutMs: number; onWait?: (pid: number) => void }): Promise<Lock> {
  const deadline = performance.now() + options.timeoutMs;
  let isReported = false;
  for (;;) {
    const result = tryLock(path);
    if ('release' in result) return result;
    if (!isReported) options.onWait?.(result.pid);
    isReported = true;
    if (performance.now() > deadline)
      throw new CommandError(`${path} is held by process ${result.pid}. Wait for it, or end it: kill ${result.pid}`);
    await sleep(100);
  }
}

/** Returns the pid of the living holder, if there is one. */
export function holderOf(path: string): number | undefined {
  const text = readIfThere(path);
  const holder = text === undefined ? undefined : parseHolder(text);
  return holder && lives(holder) ? holder.pid : undefined;
}

function parseHolder(text: string): Holder | undefined {
  const match = /^(\d+) (.*)\n$/.exec(text);
  return match ? { pid: Number(match[1]), started: match[2] ?? '' } : undefined;
}

const lives = ({ pid, started }: Holder): boolean => isAlive(pid) && startTime(pid) === started;

function linkNew(path: string, text: string): boolean {
  const temporary = `${path}.${randomUUID()}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Removes a dead holder's file. Two processes may try at once: if the slower one moved a fresh lock by mistake, it restores it.
 */
function takeAway(path: string, dead: string): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  try {
    if (readIfThere(aside) !== dead) linkSync(aside, path);
  } finally {
    rmSync(aside, { force: true });
  }
}
