import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openHome, type Home } from '../home.ts';
import { DEMO_HOSTS, operatorSpec } from './own.ts';

let home: Home;
beforeEach(async () => {
  home = await openHome(mkdtempSync(join(tmpdir(), 'carrel-own-')), { routerPort: 0 });
});
afterEach(() => rmSync(home.path, { recursive: true, force: true }));

test("on one machine tenants may have any host but the demo's", () => {
  const { env } = operatorSpec(home, { root: '.' });

  expect(env).toMatchObject({ CARREL_ALLOWED_HOSTS: '*', CARREL_RESERVED_HOSTS: DEMO_HOSTS.join(',') });
});
