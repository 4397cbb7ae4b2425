import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { clean } from './commands/down.ts';
import { makeFolders, openStateDirectory, paths } from './state-directory.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-state-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(...names: string[]): void {
  const file = join(folder, ...names);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, 'theirs');
}

test.each([
  [
    'with folders of the same names as ours',
    [
      ['run', 'pid'],
      ['bin', 'tool'],
      ['data', 'thesis.txt'],
    ],
  ],
  ['with settings of another program', [['settings.json'], ['data', 'thesis.txt']]],
  ['with anything else in it', [['run', 'supervisor.pid'], ['thesis.txt']]],
  ['with a file that has one of our names', [['kubeconfig']]],
])('a folder %s is neither filled nor cleaned', async (_what, files) => {
  for (const names of files) write(...names);

  expect(() => makeFolders(folder)).toThrow(
    `${folder} cannot be a state directory of Carrel (it has other files). Set CARREL_HOME to a new folder`,
  );
  await expect(clean(folder)).rejects.toThrow('so nothing was removed');
  for (const names of files) expect(existsSync(join(folder, ...names))).toBe(true);
});

test.each<[string, () => Promise<unknown> | void]>([
  ['is empty', () => {}],
  ['contains temporary files of the tests', () => write('test', 'run-1', 'x')],
  ['was left incomplete', () => mkdirSync(paths(folder).bin)],
  ['was left during an up', () => (makeFolders(folder), write('run', 'up.lock'), write('bin', 'etcd'))],
  [
    'has settings and files that a person put there',
    async () => (await openStateDirectory(folder, { routerPort: 0 }), write('my-tenant.yaml')),
  ],
  [
    'lost its settings',
    () => {
      makeFolders(folder);
      write('run', 'status.json');
      write('data', 'postgres', 'PG_VERSION');
    },
  ],
])('a state directory that %s is filled and cleaned, and other files stay', async (_what, prepare) => {
  await prepare();

  makeFolders(folder);
  await clean(folder);

  expect(existsSync(folder) ? readdirSync(folder).filter((name) => !['test', 'my-tenant.yaml'].includes(name)) : []).toEqual([]);
});
