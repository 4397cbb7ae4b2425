import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openStateDirectory, type StateDirectory } from '../state-directory.ts';
import { pkiPaths, writeCredentials } from './controlplane.ts';

let stateDirectory: StateDirectory;
beforeEach(async () => {
  stateDirectory = await openStateDirectory(mkdtempSync(join(tmpdir(), 'carrel-pki-')), { routerPort: 0 });
});
afterEach(() => rmSync(stateDirectory.path, { recursive: true, force: true }));

const authorityAt = (time: string): X509Certificate => {
  writeCredentials(stateDirectory, new Date(time));
  return new X509Certificate(readFileSync(pkiPaths(stateDirectory.path).authority.certificate));
};

test('the authority stays the same across starts', () => {
  const first = authorityAt('2026-01-01T00:00:00Z');

  expect(authorityAt('2027-01-01T00:00:00Z').serialNumber).toBe(first.serialNumber);
});

test('an authority from a clock that was ahead, or that expires soon, is replaced', () => {
  const ahead = authorityAt('2030-01-01T00:00:00Z');
  const right = authorityAt('2026-01-01T00:00:00Z');
  const late = authorityAt('2035-12-30T00:00:00Z');

  expect(right.serialNumber).not.toBe(ahead.serialNumber);
  expect(right.validFromDate.getTime()).toBeLessThan(Date.parse('2026-01-01T00:00:00Z'));
  expect(late.serialNumber).not.toBe(right.serialNumber);
});
