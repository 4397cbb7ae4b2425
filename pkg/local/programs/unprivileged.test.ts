import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { run } from '../binaries/run.ts';
import { outsideFolder, unprivileged, asServiceUser } from './unprivileged.ts';

const isRoot = process.getuid?.() === 0;

test('a store started by root runs as another user, with a program and data that this user can reach', async () => {
  const stateDirectory = mkdtempSync(join(tmpdir(), 'carrel-run-as-')); // 0700
  const [release, data] = [join(stateDirectory, 'release'), join(stateDirectory, 'data', 's3')];
  mkdirSync(release);
  writeFileSync(join(release, 'store'), '#!/bin/sh\n[ "$1" = --version ] && exit 0\nid -u\n');
  chmodSync(join(release, 'store'), 0o755);

  const {
    prefix,
    program,
    data: dataPath,
    uid,
    gid,
  } = isRoot
    ? await asServiceUser(join(release, 'store'), data, release, 'no namespaces here')
    : await unprivileged(join(release, 'store'), data);
  const who = await run(program, [], { ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) });

  expect(prefix).toEqual([]);
  expect(who.stdout.trim()).not.toBe('0');
  if (isRoot) {
    expect(dataPath).toBe(join(outsideFolder(data), 'data', 's3'));
    expect(statSync(join(outsideFolder(data), 'data')).uid).toBe(uid);
  }
  rmSync(outsideFolder(data), { recursive: true, force: true });
  rmSync(stateDirectory, { recursive: true });
});
