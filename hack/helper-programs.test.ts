import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-apt-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

/** Returns the output with these programs alone on the PATH. */
const output = (): string =>
  spawnSync(process.execPath, ['hack/helper-programs.ts'], { encoding: 'utf8', env: { PATH: folder } }).stdout;
const isRoot = process.getuid?.() === 0;

test('with all programs there, nothing is done or said', () => {
  for (const name of ['qpdf', 'gs', 'apertium', 'apt-get']) program(name, `echo "$@" >> ${folder}/calls`);

  expect(output()).toBe('');
  expect(existsSync(join(folder, 'calls'))).toBe(false);
});

test('root on Debian gets what is missing; everybody else reads how to get it', () => {
  program('qpdf', '');
  program('apt-get', `echo "$@" >> ${folder}/calls`);

  expect(output()).toBe(
    isRoot
      ? 'installed for the helpers: ghostscript, apertium-eng-spa\n'
      : 'helpers do without gs, apertium (to have them: apt-get install ghostscript apertium-eng-spa)\n',
  );
  const calls = existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n') : [];
  expect(calls.map((call) => call.includes('--download-only'))).toEqual(isRoot ? [true, false] : []);
});

test('packages that cannot be had are no failure', () => {
  program('apt-get', 'exit 100');

  expect(output()).toBe(
    'helpers do without qpdf, gs, apertium (to have them: apt-get install qpdf ghostscript apertium-eng-spa)\n',
  );
});
