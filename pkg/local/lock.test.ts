import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { holderOf, lock, tryLock } from './lock.ts';
import { startTime } from './processes.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-lock-'));
  path = join(folder, 'up.lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

test('a lock names its living holder until it is released', () => {
  const held = tryLock(path);

  expect(tryLock(path)).toMatchObject({ pid: process.pid });
  if ('release' in held) held.release();
  expect(holderOf(path)).toBeUndefined();
  expect(tryLock(path)).toHaveProperty('release');
});

test.each([
  ['of a process that died', () => `${deadPid()} 12345\n`],
  ['whose pid another process has by now', () => `${process.pid} 1\n`],
  ['that was truncated', () => `${process.pid}`],
  ['that is empty', () => ''],
])('a lock %s is taken over', (_, text) => {
  writeFileSync(path, text());

  expect(tryLock(path)).toHaveProperty('release');
  expect(readFileSync(path, 'utf8')).toBe(`${process.pid} ${startTime(process.pid)}\n`);
  expect(readdirSync(folder)).toEqual(['up.lock']);
});

test('a waiter gets the lock when it is released, and learns once who holds it', async () => {
  const held = tryLock(path);
  const reported: number[] = [];

  const onWait = (pid: number): void => {
    reported.push(pid);
    if ('release' in held) held.release();
  };
  const waiting = lock(path, { timeoutMs: 5_000, onWait });

  await expect(waiting).resolves.toHaveProperty('release');
  expect(reported).toEqual([process.pid]);
});

test('a wait that takes too long names the process that has the lock', async () => {
  tryLock(path);

  await expect(lock(path, { timeoutMs: 10 })).rejects.toThrow(`is held by process ${process.pid}`);
});
