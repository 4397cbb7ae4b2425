import { dirname, join } from 'node:path';
import { resolveBinary, thisMachine } from '../pkg/local/binaries/resolve.ts';
import { run, type Outcome } from '../pkg/local/binaries/run.ts';

const ROOT = dirname(import.meta.dirname);
export const CHART = join(ROOT, 'charts', 'carrel');

/** Helm without the user's own configuration, caches and plug-ins; `home` is a folder for what it stores. */
export async function helm(args: readonly string[], options: { home: string; env?: NodeJS.ProcessEnv }): Promise<Outcome> {
  const { home, env = {} } = options;
  const program = await resolveBinary('helm', thisMachine(ROOT));
  return run(program, args, {
    env: { PATH: process.env['PATH'], HOME: home, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home, ...env },
    timeoutMs: 60_000,
  });
}
