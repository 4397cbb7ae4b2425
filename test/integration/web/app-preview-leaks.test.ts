import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeScratch } from '../../support/backends/backends.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { namesLookedUp } from '../../support/clients/net-log.ts';
import { LEAKS } from '../../support/data/leaks.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { LeakAttempts } from './leak-attempts.ts';

let tenant: TestTenant;
let browser: TestBrowser;
let netLog: string;

beforeAll(async () => {
  netLog = join(await makeScratch(), 'net-log.json');
  // WebRTC does not try this machine's own addresses by default.
  const flags = [`--log-net-log=${netLog}`, '--allow-loopback-in-peer-connection'];
  // The whole browser alone looks names up, and connects, before it needs to.
  const opened = openBrowser('third-party blocked', flags, { isWhole: true });
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), opened]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

test('nothing leaves the frame of a preview, by whichever way a script in it tries to send something', async () => {
  const names = Object.keys(LEAKS);
  const attempts = new LeakAttempts(tenant, browser, names);

  expect(await attempts.make(() => namesLookedUp(netLog))).toEqual({ anywhere: names, preview: [] });
});
