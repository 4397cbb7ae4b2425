/**
 * Installs programs that the helper services use where they are there (docs/helper-services.md): only as root on Debian, and only
 * when they are downloaded within a minute. Without them libraries and a dictionary do the work. `make up` runs it; it never
 * fails.
 */
import { spawnSync } from 'node:child_process';

const PACKAGES = { qpdf: 'qpdf', gs: 'ghostscript', apertium: 'apertium-eng-spa' } as const;
const DOWNLOAD_MS = 60_000;

const isThere = (program: string): boolean => spawnSync('/bin/sh', ['-c', `command -v ${program}`]).status === 0;
const aptGet = (timeout: number | undefined, ...args: string[]): boolean =>
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...args], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    ...(timeout !== undefined && { timeout }),
  }).status === 0;

const missing = Object.entries(PACKAGES).filter(([program]) => !isThere(program));
if (missing.length > 0) {
  const packages = missing.map(([, name]) => name);
  const mayInstall = process.getuid?.() === 0 && isThere('apt-get');
  // A download can be broken off; an installation cannot.
  const isInstalled = mayInstall && aptGet(DOWNLOAD_MS, '--download-only', ...packages) && aptGet(undefined, ...packages);
  process.stdout.write(
    isInstalled
      ? `installed for the helpers: ${packages.join(', ')}\n`
      : `helpers do without ${missing.map(([program]) => program).join(', ')} ` +
          `(to have them: apt-get install ${packages.join(' ')})\n`,
  );
}
