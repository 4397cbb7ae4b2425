import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';

/** The browser lane rests on this: what the browsers of `openBrowser` really do with cookies in a frame of another site. */
let server: Server;
let port: number;
const BOTH = ['the headless shell', 'the whole browser'] as const;
type Which = (typeof BOTH)[number] | 'without cookies';
const browsers: Partial<Record<Which, TestBrowser>> = {};

beforeAll(async () => {
  server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    if (request.url === '/frame') return response.end(`<iframe name="tool" src="http://tool.localhost:${port}/set"></iframe>`);
    if (request.url === '/set') {
      const cookies = ['plain=1; Secure; SameSite=None', 'parted=1; Secure; SameSite=None; Partitioned'];
      return response.writeHead(302, { location: '/sent', 'set-cookie': cookies }).end();
    }
    return response.end(`<p>${request.headers.cookie ?? 'none'}</p>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  browsers['the headless shell'] = await openBrowser('third-party blocked');
  browsers['the whole browser'] = await openBrowser('third-party blocked', [], { isWhole: true });
  browsers['without cookies'] = await openBrowser('all blocked');
});

afterAll(async () => {
  for (const browser of Object.values(browsers)) await browser.close();
  server.closeAllConnections();
  server.close();
});

async function sentIn(which: Which, where: 'frame' | 'window'): Promise<string | null> {
  const page = await browsers[which]!.page();
  await page.goto(where === 'frame' ? `http://lms.localhost:${port}/frame` : `http://tool.localhost:${port}/set`);
  const shown = where === 'frame' ? page.frameLocator('iframe') : page;
  return shown.locator('p').textContent();
}

test.each(BOTH)('%s: in a frame of another site, a partitioned cookie is kept and no other', async (which) => {
  expect(await sentIn(which, 'frame')).toBe('parted=1');
});

test.each(BOTH)('%s: in a window of its own, both are kept', async (which) => {
  expect((await sentIn(which, 'window'))?.split('; ').sort()).toEqual(['parted=1', 'plain=1']);
});

test('with all cookies blocked, no cookie is stored', async () => {
  expect([await sentIn('without cookies', 'frame'), await sentIn('without cookies', 'window')]).toEqual(['none', 'none']);
});
