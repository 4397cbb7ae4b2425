import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readShards } from './shards.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shards-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function shard(name: string, files: Record<string, string>): void {
  mkdirSync(join(folder, name));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), text);
}

test('shards are sorted by name, hidden directories are ignored, and the worker’s password comes from its address', () => {
  shard('two', { url: 'postgres://o@two:5432/carrel\n', 'tenant-address': 'two-pool:6432' });
  shard('one', {
    url: 'postgres://o@one:5432/carrel',
    'tenant-address': 'one:5432\n',
    'worker-url': 'postgres://carrel_worker:p%40ss@one:5432/carrel',
  });
  shard('..data', {});

  expect(readShards(folder)).toEqual([
    { name: 'one', url: 'postgres://o@one:5432/carrel', tenantAddress: 'one:5432', workerPassword: 'p@ss' },
    { name: 'two', url: 'postgres://o@two:5432/carrel', tenantAddress: 'two-pool:6432', workerPassword: undefined },
  ]);
});

test('missing settings are named', () => {
  expect(() => readShards(join(folder, 'nowhere'))).toThrow(
    'cannot be read. Give it a folder per shard with files url and tenant-address',
  );
  expect(() => readShards(folder)).toThrow('holds no shard');
  shard('one', { url: 'postgres://o@one:5432/carrel' });
  expect(() => readShards(folder)).toThrow('operator: CARREL_SHARDS_DIR: shard one has no file tenant-address');
});
