import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SourceUnavailable } from './source-unavailable.ts';
import { lastLine, run } from './run.ts';

/** Returns the path of a program in an npm package. Throws SourceUnavailable if it is missing or does not run. */
export async function programInPackage(folder: string, program: string): Promise<string> {
  const path = join(folder, program);
  if (!existsSync(path)) throw new SourceUnavailable(`node_modules has no package for this platform`);
  const { code, output } = await run(path, ['--version'], { timeoutMs: 20_000 });
  if (code !== 0) throw new SourceUnavailable(`${path} does not run (${lastLine(output)})`);
  return path;
}

/** Installs a Debian package and reports it. Nothing else is written outside the checkout and the cache. */
export async function installFromDebian(name: string, progress: (line: string) => void, env: NodeJS.ProcessEnv): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    throw new SourceUnavailable('installing it requires Debian and root');
  progress(`installing the Debian package ${name}`);
  const quiet = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } };
  const install = ['install', '-y', '--no-install-recommends', name];
  let outcome = await run('/usr/bin/apt-get', install, quiet);
  if (outcome.code !== 0) {
    await run('/usr/bin/apt-get', ['update'], quiet); // A fresh image has no package lists.
    outcome = await run('/usr/bin/apt-get', install, quiet);
  }
  if (outcome.code !== 0) throw new SourceUnavailable(`apt-get install ${name} failed (${lastLine(outcome.output)})`);
}
