import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf, LocalError, messageOf } from '../errors.ts';
import { lock } from '../lock.ts';
import { NotThisWay } from './not-this-way.ts';

/** A build may take this long on a slow machine; a second run waits for the first one's. */
const BUILD_LIMIT_MS = 45 * 60_000;

/**
 * The program `pattern` (a glob) in `folder`, which `make` fills when it is not there yet.
 *
 * Invariants:
 * - The folder has its name only when it is whole (filled aside, then renamed): a killed build leaves nothing that looks like one.
 * - Of several runs at once one makes it; the others wait and take the result.
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
    if (made === undefined) throw new NotThisWay(`what was fetched has no ${pattern}`);
    return made;
  } finally {
    held.release();
  }
}

async function makeAside(folder: string, make: (folder: string) => Promise<void>): Promise<void> {
  for (const dead of globSync(`${folder}.aside-*`)) rmSync(dead, { recursive: true, force: true });
  const aside = mkdtempSync(`${folder}.aside-`);
  try {
    await make(aside);
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
    renameSync(aside, folder);
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    throw error;
  }
}

function makeWritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new LocalError(
      `the cache ${folder} cannot be made (${codeOf(error) ?? messageOf(error)}). Set XDG_CACHE_HOME to a folder that you can write.`,
    );
  }
}
