import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LocalError } from '../errors.ts';
import { isHome, paths } from '../home.ts';
import { holderOf, lock } from '../lock.ts';
import { endAll, endLeftovers } from '../processes.ts';
import { outsideFolder } from '../programs/unprivileged.ts';

/** The supervisor ends its programs one after the other: pods, then the control plane and the stores. */
const SUPERVISOR_GRACE_MS = 60_000;

/** Ends everything that runs in this home; the data stay. False when nothing ran. */
export async function down(home: string): Promise<boolean> {
  if (!existsSync(paths(home).run)) return false;
  const held = await lock(paths(home).upLock, { timeoutMs: SUPERVISOR_GRACE_MS });
  try {
    return await endPlatform(home);
  } finally {
    held.release();
  }
}

/** As `down`, by one who holds the home's lock. */
export async function endPlatform(home: string): Promise<boolean> {
  const supervisor = holderOf(paths(home).supervisorLock);
  if (supervisor !== undefined) await endAll([supervisor], SUPERVISOR_GRACE_MS);
  const left = await endLeftovers(home);
  return supervisor !== undefined || left.length > 0;
}

/** `down`, then forgets the data. Removes only what is ours, so that a wrong CARREL_HOME costs nothing. */
export async function clean(home: string): Promise<void> {
  if (!existsSync(home)) return;
  const known = paths(home);
  if (!isHome(home)) {
    throw new LocalError(`${home} does not look like a home of Carrel, so nothing was removed. Look at CARREL_HOME.`);
  }
  await down(home);
  for (const path of [
    known.bin,
    known.logs,
    known.data,
    known.pki,
    known.shards,
    known.pods,
    known.kubeconfig,
    known.run,
    known.samples,
    known.samplesHere,
    known.settings,
  ]) {
    rmSync(path, { recursive: true, force: true });
  }
  for (const store of ['postgres', 's3']) rmSync(outsideFolder(join(known.data, store)), { recursive: true, force: true });
  if (readdirSync(home).length === 0) rmdirSync(home);
}
