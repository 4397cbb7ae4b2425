import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readShardFolders } from './shard-folders.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shards-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function shard(name: string, files: Record<string, string>): void {
  mkdirSync(join(folder, name));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), text);
}

const wrong = (what: string): Error => new Error(what);

test('shards are sorted by name, without hidden folders and line ends; a missing or empty file has no value', () => {
  shard('two', { url: 'postgres://o@two:5432/carrel\n', 'tenant-address': 'two-pool:6432', 'worker-url': '\n' });
  shard('one', { url: 'postgres://o@one:5432/carrel', 'worker-url': 'postgres://w@one:5432/carrel\r\n' });
  shard('..data', {});

  expect(readShardFolders(folder, ['url'], wrong)).toEqual([
    { name: 'one', url: 'postgres://o@one:5432/carrel', workerUrl: 'postgres://w@one:5432/carrel', tenantAddress: undefined },
    { name: 'two', url: 'postgres://o@two:5432/carrel', workerUrl: undefined, tenantAddress: 'two-pool:6432' },
  ]);
});

test('an error names a missing field, and a field that is not needed may be missing', () => {
  const nowhere = join(folder, 'nowhere');
  expect(() => readShardFolders(nowhere, [], wrong)).toThrow(`${nowhere} cannot be read`);
  expect(() => readShardFolders(folder, [], wrong)).toThrow(`${folder} holds no shard`);
  shard('one', { url: 'postgres://o@one:5432/carrel', 'worker-url': 'one:port' });
  expect(() => readShardFolders(folder, ['url', 'tenantAddress'], wrong)).toThrow('shard one has no file tenant-address');
  shard('two', { url: 'two' });
  expect(() => readShardFolders(folder, ['url'], wrong)).toThrow('shard two has no address in its file url');
  expect(() => readShardFolders(folder, ['workerUrl'], wrong)).toThrow('shard two has no address in its file worker-url');
  expect(readShardFolders(folder, [], wrong)).toHaveLength(2);
});
