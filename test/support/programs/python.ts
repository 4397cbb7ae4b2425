import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { ROOT } from '../backends/backends.ts';

/**
 * The folder of the programs of a virtual environment with what `hack/<name>/requirements.txt` pins, in the cache folder, named
 * for what it holds. Made where it is not there: that takes python3 (3.11 or newer) with venv, and PyPI. Throws where it cannot
 * be made.
 */
export function pythonEnvironment(name: string): string {
  const requirements = join(ROOT, 'hack', name, 'requirements.txt');
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(thisMachine(ROOT).cache, `${name}-${version}`);
  const [programs, complete] = [join(folder, 'bin'), join(folder, 'complete')];
  if (existsSync(complete)) return programs;
  process.stderr.write(`installing what hack/${name} pins\n`);
  rmSync(folder, { recursive: true, force: true });
  const pip = ['install', '--quiet', '--disable-pip-version-check', '--require-hashes', '-r', requirements];
  const run = (program: string, given: readonly string[]): boolean =>
    spawnSync(program, given, { stdio: 'inherit' }).status === 0;
  if (!run('python3', ['-m', 'venv', folder]) || !run(join(programs, 'pip'), pip))
    throw new Error(
      `hack/${name}/requirements.txt could not be installed. It takes python3 (3.11 or newer) with venv, and PyPI.`,
    );
  writeFileSync(complete, '');
  return programs;
}
