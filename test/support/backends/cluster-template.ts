import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Machine } from '../../../pkg/local/binaries/resolve.ts';
import { programsOf } from '../../../pkg/local/platform.ts';
import { openStateDirectory, paths, type StateDirectory } from '../../../pkg/local/state-directory.ts';

/**
 * A PostgreSQL cluster as initdb leaves it. A copy costs a fifth of the CPU of another initdb; plain data, handed to jest's
 * workers.
 */
export interface ClusterTemplate {
  readonly data: string;
  readonly superuserPassword: string;
}

const dataOf = (stateDirectory: string): string => join(paths(stateDirectory).data, 'postgres');

/**
 * Creates one in a new state directory. Undefined where Postgres keeps its data outside of it, since a copy would not be the
 * service user's.
 */
export async function makeClusterTemplate(path: string, machine: Machine): Promise<ClusterTemplate | undefined> {
  const stateDirectory = await openStateDirectory(path, { routerPort: 0 });
  const programs = await programsOf({ stateDirectory, machine, groups: ['stores'], durable: false });
  await programs.find(({ name }) => name === 'postgres')?.prepare?.();
  const data = dataOf(path);
  return existsSync(data) ? { data, superuserPassword: stateDirectory.settings.secrets.postgresSuperuser } : undefined;
}

/** Gives a new state directory a copy of the cluster. */
export async function withCluster(
  stateDirectory: StateDirectory,
  template: ClusterTemplate | undefined,
): Promise<StateDirectory> {
  if (!template) return stateDirectory;
  const data = dataOf(stateDirectory.path);
  await promisify(execFile)('cp', ['-a', template.data, dirname(data)]);
  const { settings } = stateDirectory;
  return {
    ...stateDirectory,
    settings: { ...settings, secrets: { ...settings.secrets, postgresSuperuser: template.superuserPassword } },
  };
}
