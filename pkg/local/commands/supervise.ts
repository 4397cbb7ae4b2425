import { spawn } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { CommandError } from '../../runtime/command-error.ts';
import { readIfThere, writeAtomically } from '../files.ts';
import { existingStateDirectory, paths } from '../state-directory.ts';
import { holderOf, tryLock } from '../lock.ts';
import { lastLine } from '../binaries/run.ts';
import { thisMachine } from '../binaries/resolve.ts';
import { ALL_GROUPS, programsOf, type Group } from '../platform.ts';
import { marks } from '../processes.ts';
import { compileCache } from '../programs/carrel.ts';
import { Supervisor, type ProgramStatus } from '../supervisor.ts';

/** The report of the supervisor to the commands, `run/status.json`; replaced as a whole at each change. */
export interface Report {
  readonly groups: readonly Group[];
  readonly programs: Readonly<Record<string, ProgramStatus>>;
}

const Report = z.object({
  groups: z.array(z.enum(ALL_GROUPS as [Group, ...Group[]])),
  programs: z.record(z.string(), z.custom<ProgramStatus>()),
});

/** Returns the report of the running supervisor, or undefined if none is running. */
export function readReport(stateDirectory: string): Report | undefined {
  if (holderOf(paths(stateDirectory).supervisorLock) === undefined) return undefined;
  try {
    return Report.parse(JSON.parse(readIfThere(paths(stateDirectory).status) ?? ''));
  } catch {
    return undefined; // It has only just started.
  }
}

/**
 * The supervisor as a process: runs the groups of programs until SIGTERM or SIGINT, then ends them and itself.
 * `run/supervisor.pid` is its lock. Throws CommandError if another supervisor holds it, or a binary is unavailable.
 */
export async function supervise(options: { stateDirectory: string; root: string; groups: readonly Group[] }): Promise<void> {
  const { groups, root } = options;
  const held = tryLock(paths(options.stateDirectory).supervisorLock);
  if (!('release' in held)) throw new CommandError(`process ${held.pid} is already running this platform.`);
  const stateDirectory = existingStateDirectory(options.stateDirectory);
  const specs = await programsOf({ stateDirectory, machine: thisMachine(root), groups });
  const report = (programs: Record<string, ProgramStatus>): void => {
    writeAtomically(paths(stateDirectory.path).status, JSON.stringify({ groups, programs } satisfies Report));
  };
  const supervisor = new Supervisor({
    stateDirectory: stateDirectory.path,
    specs,
    clock: systemClock,
    random: systemRandom,
    onChange: report,
  });
  const stop = (): void => {
    void supervisor.stop().then(() => {
      held.release();
      process.exit(0);
    });
  };
  process.stderr.on('error', () => {}); // Writing its log fails on a full disk.
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  supervisor.start();
}

/** Starts the supervisor in the background. `failed` returns the end of its log if it exits on its own. */
export function startSupervisor(options: { stateDirectory: string; root: string; groups: readonly Group[] }): {
  failed: () => string | undefined;
} {
  const log = join(paths(options.stateDirectory).logs, 'supervisor.log');
  const output = openSync(log, 'a', 0o600);
  const words = [join(options.root, 'cmd', 'carrel', 'main.ts'), 'run', 'supervisor', '--groups', options.groups.join(',')];
  let ended = false;
  rmSync(paths(options.stateDirectory).status, { force: true }); // The report of the last supervisor is outdated.
  try {
    const child = spawn(process.execPath, words, {
      stdio: ['ignore', output, output],
      env: { ...process.env, ...compileCache(options.root), ...marks(options.stateDirectory, 'supervisor') },
      detached: true,
    });
    child.once('exit', () => (ended = true));
    child.unref();
  } finally {
    closeSync(output);
  }
  return { failed: () => (ended ? lastLine(readIfThere(log) ?? '') : undefined) };
}
