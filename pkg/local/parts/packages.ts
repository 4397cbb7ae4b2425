import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NotThisWay } from './not-this-way.ts';
import { lastLine, run } from './run.ts';

/** A program that a package of node_modules brings. Throws NotThisWay when it is not there or does not run. */
export async function programInPackage(folder: string, program: string): Promise<string> {
  const path = join(folder, program);
  if (!existsSync(path)) throw new NotThisWay(`node_modules has none for this platform`);
  const { code, output } = await run(path, ['--version'], { timeoutMs: 20_000 });
  if (code !== 0) throw new NotThisWay(`${path} does not run (${lastLine(output)})`);
  return path;
}

/** Installs a Debian package; says so, as it is the one thing that lands outside the clone and the cache. */
export async function installFromDebian(name: string, progress: (line: string) => void, env: NodeJS.ProcessEnv): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    throw new NotThisWay('this is no Debian with root, to install it');
  progress(`installing the Debian package ${name}`);
  const quiet = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } };
  const install = ['install', '-y', '--no-install-recommends', name];
  let outcome = await run('/usr/bin/apt-get', install, quiet);
  if (outcome.code !== 0) {
    await run('/usr/bin/apt-get', ['update'], quiet); // a fresh image has no package lists
    outcome = await run('/usr/bin/apt-get', install, quiet);
  }
  if (outcome.code !== 0) throw new NotThisWay(`apt-get install ${name} failed (${lastLine(outcome.output)})`);
}
