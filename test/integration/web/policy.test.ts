import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';

let tenant: TestTenant;
let browser: TestBrowser;
/** Addresses of a script and a style that somebody uploaded; neither asks for a token. */
let script: string;
let style: string;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant(), openBrowser('third-party blocked')]);
  script = await addressOf('evil.js', 'text/javascript', 'window.ran = true;');
  style = await addressOf('evil.css', 'text/css', 'body { opacity: 0.5; }');
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

async function addressOf(name: string, type: string, content: string): Promise<string> {
  const { body: file } = await tenant.admin.upload('/files', { name, type, file: Buffer.from(content) });
  const { body: link } = await tenant.admin.post(`/files/${file.id}/share`, {});
  return `${tenant.apiUrl}/s/${link.token}/download`;
}

test.each([
  ['the app', async () => '/'],
  ['a link', async () => new URL(script).pathname.replace('/api/v1', '').replace('/download', '')],
  ['the API reference', async () => '/api/v1/reference'],
])('markup that got into the page of %s runs no file that somebody uploaded, and takes no style of one', async (_page, path) => {
  const page = await browser.page();
  await page.goto(`${tenant.url}${await path()}`);
  await page.locator('h1').first().waitFor();

  const ended = await page.evaluate<string[]>(`Promise.all([
    Object.assign(document.createElement('script'), { src: ${JSON.stringify(script)} }),
    Object.assign(document.createElement('link'), { rel: 'stylesheet', href: ${JSON.stringify(style)} }),
  ].map((element) => new Promise((end) => {
    element.addEventListener('load', () => end('loaded'));
    element.addEventListener('error', () => end('refused'));
    document.head.append(element);
  })))`);

  expect([ended, await page.evaluate('[window.ran ?? false, getComputedStyle(document.body).opacity]')]).toEqual([
    ['refused', 'refused'],
    [false, '1'],
  ]);
});
