import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Cookies, openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';

/** The browser lane rests on this: what the browsers of `openBrowser` really do with cookies in a frame of another site. */
let server: Server;
let port: number;
const browsers: Partial<Record<Cookies, TestBrowser>> = {};

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
  for (const cookies of ['third-party blocked', 'all blocked'] as const) browsers[cookies] = await openBrowser(cookies);
});

afterAll(async () => {
  for (const browser of Object.values(browsers)) await browser.close();
  server.closeAllConnections();
  server.close();
});

async function sentIn(cookies: Cookies, where: 'frame' | 'window'): Promise<string | null> {
  const page = await browsers[cookies]!.page();
  await page.goto(where === 'frame' ? `http://lms.localhost:${port}/frame` : `http://tool.localhost:${port}/set`);
  const shown = where === 'frame' ? page.frameLocator('iframe') : page;
  return shown.locator('p').textContent();
}

test('with third-party cookies blocked, a frame of another site keeps a partitioned cookie and no other', async () => {
  expect(await sentIn('third-party blocked', 'frame')).toBe('parted=1');
});

test('with third-party cookies blocked, a window of its own keeps both', async () => {
  expect((await sentIn('third-party blocked', 'window'))?.split('; ').sort()).toEqual(['parted=1', 'plain=1']);
});

test('with all cookies blocked, no cookie is stored', async () => {
  expect([await sentIn('all blocked', 'frame'), await sentIn('all blocked', 'window')]).toEqual(['none', 'none']);
});
