import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { drop, dragOver } from '../../support/clients/files-page.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

test('a page asks for its script and its texts before it knows who is signed in', async () => {
  await (await openSignedIn(browser, tenant, tenant.administrator, '/jobs')).close();
  const page = await browser.page();
  await page.setExtraHTTPHeaders({ 'accept-language': 'de' });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const answer = Promise.withResolvers<void>();
  await page.route('**/api/v1/auth/refresh', async (route) => {
    await answer.promise;
    await route.continue();
  });

  await page.goto(`${tenant.url}/jobs`);
  for (const file of [/\/jobs-page-/, /\/german-/]) await waitFor(String(file), () => asked.some((path) => file.test(path)));
  const isAnswered = asked.includes('/api/v1/me');
  answer.resolve();
  await page.getByRole('heading', { name: 'Aufträge', level: 1 }).waitFor();

  expect(isAnswered).toBe(false);
  await page.close();
});

test('files that are dropped before the page can upload are uploaded once it can', async () => {
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/files');
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route('**/assets/uploads-*.js', async (route) => {
    asked.resolve();
    await answer.promise;
    await route.continue();
  });
  await page.reload();
  await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor();
  await asked.promise;
  const scratch = await mkdtemp(join(tmpdir(), 'carrel-loading-'));
  await writeFile(join(scratch, 'early.txt'), 'early');
  await drop({ devtools: await page.context().newCDPSession(page) }, join(scratch, 'early.txt'));
  answer.resolve();
  await page.getByRole('region', { name: 'Uploads' }).getByText('1 file uploaded').first().waitFor();

  const { data } = (await tenant.admin.get('/files')).body;
  expect(data.map(({ name }: { name: string }) => name)).toEqual(['early.txt']);
  await page.close();
  await rm(scratch, { recursive: true });
});

test('files that are dropped on an element that the pointer has just entered are uploaded', async () => {
  const { user, api, password } = await tenant.user();
  const page = await openSignedIn(browser, tenant, { email: user.email, password }, '/files');
  await page.getByText('Drop files here').waitFor();
  const { x = 0, y = 0 } = (await page.getByRole('link', { name: 'Trash' }).boundingBox()) ?? {};
  const scratch = await mkdtemp(join(tmpdir(), 'carrel-loading-'));
  await writeFile(join(scratch, 'fast.txt'), 'fast');
  const dropAt = await dragOver({ devtools: await page.context().newCDPSession(page) }, join(scratch, 'fast.txt'));
  await dropAt({ x: x + 5, y: y + 5 });
  await page.getByRole('region', { name: 'Uploads' }).getByText('1 file uploaded').first().waitFor();

  const { data } = (await api.get('/files')).body;
  expect(data.map(({ name }: { name: string }) => name)).toEqual(['fast.txt']);
  await page.close();
  await rm(scratch, { recursive: true });
});

test('a page whose script cannot be loaded says so, and its button loads the new build', async () => {
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/files');
  await page.route('**/assets/jobs-page-*.js', (route) => route.abort());

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Jobs' }).click();
  const retry = page.getByRole('button', { name: 'Try again' });
  await retry.waitFor();
  await page.unroute('**/assets/jobs-page-*.js');
  await retry.click();

  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  await page.close();
});

test('a page whose uploads cannot be loaded says so, and its button loads the new build', async () => {
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/files');
  await page.route('**/assets/uploads-*.js', (route) => route.abort());
  await page.reload();
  await page.getByText('Load it again.').first().waitFor();
  await page.unroute('**/assets/uploads-*.js');
  await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Try again' }).click();

  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  await page.close();
});
