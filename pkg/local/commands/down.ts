import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../../runtime/command-error.ts';
import { isStateDirectory, paths } from '../state-directory.ts';
import { holderOf, lock } from '../lock.ts';
import { endAll, endLeftovers } from '../processes.ts';
import { outsideFolder } from '../programs/unprivileged.ts';

/** Time for the supervisor to stop its programs in order: pods, then the control plane and the stores. */
const SUPERVISOR_GRACE_MS = 60_000;

/** Ends all processes of the platform and keeps its data. Returns false if none was running. */
export async function down(stateDirectory: string): Promise<boolean> {
  if (!existsSync(paths(stateDirectory).run)) return false;
  const held = await lock(paths(stateDirectory).upLock, { timeoutMs: SUPERVISOR_GRACE_MS });
  try {
    return await endPlatform(stateDirectory);
  } finally {
    held.release();
  }
}

/** Does the work of `down` for a caller who holds the state directory's lock. */
export async function endPlatform(stateDirectory: string): Promise<boolean> {
  const supervisor = holderOf(paths(stateDirectory).supervisorLock);
  if (supervisor !== undefined) await endAll([supervisor], SUPERVISOR_GRACE_MS);
  const left = await endLeftovers(stateDirectory);
  return supervisor !== undefined || left.length > 0;
}

/**
 * Ends the platform, then deletes the data. Deletes only a state directory of Carrel, so that a wrong CARREL_HOME does no harm.
 */
export async function clean(stateDirectory: string): Promise<void> {
  if (!existsSync(stateDirectory)) return;
  const known = paths(stateDirectory);
  if (!isStateDirectory(stateDirectory)) {
    throw new CommandError(`${stateDirectory} is not a state directory of Carrel, so nothing was removed. Check CARREL_HOME.`);
  }
  await down(stateDirectory);
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
    known.sampleData,
    known.settings,
  ]) {
    rmSync(path, { recursive: true, force: true });
  }
  for (const store of ['postgres', 's3']) rmSync(outsideFolder(join(known.data, store)), { recursive: true, force: true });
  if (readdirSync(stateDirectory).length === 0) rmdirSync(stateDirectory);
}
