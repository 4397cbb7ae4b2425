import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
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

/** The first view can do without these scripts. */
const LATE = ['unsent-question', 'uploads', 'helpers-menu'];

/** Which of them a page asks for from now on. */
function lateOn(page: Page): Set<string> {
  const asked = new Set<string>();
  page.on('request', (request) => {
    const part = LATE.find((name) => request.url().includes(`/assets/${name}-`) && request.url().endsWith('.js'));
    if (part) asked.add(part);
  });
  return asked;
}

const allAsked = (late: Set<string>): Promise<boolean> => waitFor('the late parts', () => late.size === LATE.length);

/** Holds the answers to an address until `answer` is called. */
async function held(page: Page, address: string): Promise<{ readonly answer: () => void; readonly asked: Promise<void> }> {
  const [answer, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(address, async (route) => {
    asked.resolve();
    await answer.promise;
    await route.continue();
  });
  return { answer: answer.resolve, asked: asked.promise };
}

/** A page of a person with one file. */
async function pageWithFile(): Promise<Page> {
  const { user, api, password } = await tenant.user();
  await api.upload('/files', { name: 'one.txt', file: Buffer.from('one') });
  return openSignedIn(browser, tenant, { email: user.email, password }, '/files');
}

test('what the first view does not need is asked for once the list of files is there', async () => {
  const page = await pageWithFile();
  const list = await held(page, '**/api/v1/folders/root/children?*');
  const late = lateOn(page);
  await page.reload();
  await list.asked;
  // The page is shown, and all that it asks for at once is asked for.
  await page.getByRole('button', { name: 'New folder' }).waitFor();
  await page.evaluate('new Promise((resume) => requestAnimationFrame(() => setTimeout(resume)))');
  const before = [...late];
  list.answer();
  await page.getByRole('row', { name: /one\.txt/ }).waitFor();
  await allAsked(late);

  expect(before).toEqual([]);
  await page.close();
});

test('what somebody enters while the list is on its way is not lost without a question', async () => {
  const page = await pageWithFile();
  const list = await held(page, '**/api/v1/folders/root/children?*');
  const late = lateOn(page);
  await page.reload();
  await list.asked;
  await page.getByRole('button', { name: 'New folder' }).click();
  await page.getByLabel('Name of the folder').pressSequentially('Field trips');
  await allAsked(late);
  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Discard what you entered?' }).waitFor();
  list.answer();
  await page.close();
});

test.each([
  ['a folder that there is not', '/files/00000000-0000-4000-8000-000000000000', 'There is no such folder'],
  ['an address that no page has', '/admin/nothing/here', 'There is no such page'],
  ['an address that is mistyped', '/Files', 'There is no such page'],
  ['a page without files', '/jobs', 'Jobs'],
])('%s holds back nothing of the rest', async (_, path, heading) => {
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/jobs');
  const late = lateOn(page);
  await page.goto(`${tenant.url}${path}`);
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  await allAsked(late);
  await page.close();
});

test('a list of files that cannot be loaded holds back nothing of the rest', async () => {
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/jobs');
  const late = lateOn(page);
  await page.route('**/api/v1/folders/root/children?*', (route) => route.fulfill({ status: 500, json: {} }));
  await page.goto(`${tenant.url}/files`);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await allAsked(late);
  await page.close();
});

test('a page of somebody who is not signed in holds back nothing of the rest', async () => {
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/jobs');
  await page.context().clearCookies();
  const late = lateOn(page);
  await page.goto(`${tenant.url}/files`);
  await page.getByLabel('E-mail address').waitFor();
  await allAsked(late);
  await page.close();
});

test('a file is shared and looked at before the late parts have come', async () => {
  const page = await pageWithFile();
  const late = await Promise.all(LATE.map((part) => held(page, `**/assets/${part}-*.js`)));
  const [share, preview] = [await held(page, '**/assets/share-dialog-*.js'), await held(page, '**/assets/preview-dialog-*.js')];
  await page.reload();
  await page.getByRole('button', { name: 'Actions of one.txt' }).click();
  await page.getByRole('menuitem', { name: 'Share …' }).click();
  await share.asked;
  share.answer();
  await page.getByRole('dialog', { name: 'Share “one.txt”' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'one.txt', exact: true }).click();
  await preview.asked;
  preview.answer();
  await page.getByRole('dialog', { name: 'one.txt' }).waitFor();
  const isEarly = (await page.getByRole('button', { name: 'Upload', exact: true }).count()) === 0;
  for (const { answer } of late) answer();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();

  expect(isEarly).toBe(true);
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
