import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openStateDirectory, type StateDirectory } from '../state-directory.ts';
import { DEMO_HOSTS, HELPERS_HOST, operatorSpec } from './carrel.ts';

let stateDirectory: StateDirectory;
beforeEach(async () => {
  stateDirectory = await openStateDirectory(mkdtempSync(join(tmpdir(), 'carrel-own-')), { routerPort: 0 });
});
afterEach(() => rmSync(stateDirectory.path, { recursive: true, force: true }));

test("on one machine tenants may have any host except the demo's and the helpers'", () => {
  const { env } = operatorSpec(stateDirectory, { root: '.' });

  expect(env).toMatchObject({ CARREL_ALLOWED_HOSTS: '*', CARREL_RESERVED_HOSTS: [...DEMO_HOSTS, HELPERS_HOST].join(',') });
});
