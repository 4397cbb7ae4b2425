import { dirname, join } from 'node:path';
import { resolveBinary, thisMachine } from '../pkg/local/binaries/resolve.ts';
import { run, type Outcome } from '../pkg/local/binaries/run.ts';

const ROOT = dirname(import.meta.dirname);
export const CHART = join(ROOT, 'charts', 'carrel');

/** Helm 4, and Helm 3.18, with which many installations still work. */
export type HelmVersion = 'helm' | 'helm3';

/** Helm without the user's own configuration, caches and plug-ins; `folder` is for what it stores. */
export async function helm(
  args: readonly string[],
  options: { folder: string; env?: NodeJS.ProcessEnv; version?: HelmVersion },
): Promise<Outcome> {
  const { folder, env = {}, version = 'helm' } = options;
  const program = await resolveBinary(version, thisMachine(ROOT));
  return run(program, args, {
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      HELM_CACHE_HOME: folder,
      HELM_CONFIG_HOME: folder,
      HELM_DATA_HOME: folder,
      ...env,
    },
    timeoutMs: 60_000,
  });
}
