import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Frame, Page } from 'playwright-core';
import { makeScratch } from '../../support/backends/backends.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { namesLookedUp } from '../../support/clients/net-log.ts';
import { LEAKS, LEAVING } from '../../support/data/leaks.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { openSignedIn } from './app-pages.ts';

/** A server that remembers who asked it: by which host names, and by what other than HTTP. */
class Listener {
  /** The names of the ways by which something has arrived. */
  readonly heard = new Set<string>();
  connections = 0;
  readonly #server = createServer(({ headers }, reply) => {
    this.heard.add((headers.host ?? '').split('.')[0] ?? '');
    reply.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>x</title><body>');
  });

  async start(): Promise<void> {
    this.#server.on('connection', () => (this.connections += 1));
    this.#server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
      if (code?.startsWith('HPE_')) this.heard.add('webrtc'); // STUN, which is no HTTP
      socket.destroy();
    });
    await new Promise<void>((listens) => this.#server.listen(0, '127.0.0.1', listens));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

type Who = 'frame' | 'page';

let tenant: TestTenant;
let browser: TestBrowser;
let netLog: string;
const listeners: Readonly<Record<Who, Listener>> = { frame: new Listener(), page: new Listener() };

beforeAll(async () => {
  netLog = join(await makeScratch(), 'net-log.json');
  await Promise.all([listeners.frame.start(), listeners.page.start()]);
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked', { netLog })]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
  listeners.frame.stop();
  listeners.page.stop();
  await rm(netLog, { force: true });
});

/** Names below `localhost` are looked up in the browser, and are this machine. */
const hostOf = (name: string, who: Who): string => `${name}.${who}.localhost`;

const attack = (frame: Frame | Page, name: string, who: Who): Promise<unknown> =>
  frame.evaluate(`(() => {
    const address = 'http://${hostOf(name, who)}:${listeners[who].port}/';
    try { ${LEAKS[name]} } catch { /* refused */ }
  })()`);

const isPreview = (frame: Frame): boolean => /\/preview-frame(#.*)?$/.test(frame.url());

/** The frame of a preview once its file is on the screen. */
async function frameOf(page: Page): Promise<Frame> {
  await page.locator('iframe:not(.preview-frame-waiting)').waitFor();
  return waitFor('the frame', () => page.frames().find(isPreview));
}

async function openPreview(): Promise<Page> {
  const { api, user, password } = await tenant.user();
  await api.upload('/files', { name: 'a.md', type: 'text/markdown', file: Buffer.from('text') });
  const page = await openSignedIn(browser, tenant, { email: user.email, password });
  await page.getByRole('button', { name: 'a.md', exact: true }).click();
  return page;
}

/** Of these there is nothing but a line in the browser's network log. */
const SILENT = new Set(['lookup', 'preconnect', 'transport']);

test('nothing leaves the frame, by whichever way a script in it tries to send something', async () => {
  const names = Object.keys(LEAKS);
  const preview = await openPreview();
  for (const name of names) {
    await attack(await frameOf(preview), name, 'frame');
    if (!LEAVING.has(name)) continue;
    await waitFor(`the frame to be refused another address by ${name}`, () => !preview.frames().some(isPreview));
    await preview.reload();
  }
  // The same ways from a page that nothing holds back. They begin later, so what left the frame has arrived by then.
  const { heard, port } = listeners.page;
  for (const name of names) {
    const free = await browser.page();
    await free.goto(`http://127.0.0.1:${port}/`);
    await attack(free, name, 'page').catch(() => undefined); // what leaves the page ends its script
    if (SILENT.has(name)) continue; // its page stays open, so that nothing ends before it is logged
    await waitFor(`${name} to arrive from a page`, () => heard.has(name));
    await free.close();
  }
  await browser.close();
  const lookedUp = await namesLookedUp(netLog);

  const left = (who: Who): string[] => names.filter((name) => lookedUp.has(hostOf(name, who)) || listeners[who].heard.has(name));
  expect({ page: left('page'), frame: left('frame') }).toEqual({ page: names, frame: [] });
  expect(listeners.frame.connections).toBe(0);
}, 300_000);
