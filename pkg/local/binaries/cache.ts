import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf, CommandError, messageOf } from '../../runtime/command-error.ts';
import { lock } from '../lock.ts';
import { SourceUnavailable } from './source-unavailable.ts';

/** The longest build on a slow machine; a second run waits this long for the first. */
const BUILD_LIMIT_MS = 45 * 60_000;

/**
 * Returns the path of the program that `pattern` (a glob) matches in `folder`. `make` fills the folder if it is missing.
 *
 * Invariants:
 * - The folder gets its name when it is complete (filled under another name, then renamed): a killed build leaves no incomplete
 *   folder.
 * - Of several concurrent runs one fills it; the others wait and use the result.
 */
export async function cached(
  folder: string,
  pattern: string,
  make: (folder: string) => Promise<void>,
  onWait: (pid: number) => void = () => {},
): Promise<string> {
  const there = (): string | undefined => globSync(join(folder, pattern))[0];
  const early = there();
  if (early !== undefined) return early;
  makeWritable(dirname(folder));
  const held = await lock(`${folder}.lock`, { timeoutMs: BUILD_LIMIT_MS, onWait });
  try {
    const meanwhile = there();
    if (meanwhile !== undefined) return meanwhile;
    await makeAside(folder, make);
    const made = there();
    if (made === undefined) throw new SourceUnavailable(`the download contains no ${pattern}`);
    return made;
  } finally {
    held.release();
  }
}

async function makeAside(folder: string, make: (folder: string) => Promise<void>): Promise<void> {
  for (const dead of globSync(`${folder}.aside-*`)) rmSync(dead, { recursive: true, force: true });
  const temporary = mkdtempSync(`${folder}.aside-`);
  try {
    await make(temporary);
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
}

function makeWritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new CommandError(
      `cannot create the cache folder ${folder} (${codeOf(error) ?? messageOf(error)}). Set XDG_CACHE_HOME to a writable folder.`,
    );
  }
}
