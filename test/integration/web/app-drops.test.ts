import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { drop, dragOver } from '../../support/clients/files-page.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { openSignedIn, openSignedOut, signIn } from './app-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;
let scratch: string;

beforeAll(async () => {
  [browser, scratch] = await Promise.all([openBrowser('third-party blocked'), mkdtemp(join(tmpdir(), 'carrel-drops-'))]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await rm(scratch, { recursive: true, force: true });
});

type Person = Awaited<ReturnType<typeof tenant.user>>;

const credentials = ({ user, password }: Person) => ({ email: user.email, password });
const row = (page: Page, name: string): Locator => page.getByRole('row', { name: new RegExp(name) });
const add = async ({ api }: Person, name: string, fields = {}): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.from(name), fields })).body.id;
const rootOf = async ({ api }: Person): Promise<string[]> => {
  const { body } = await api.get('/folders/root/children');
  return body.data.map(({ name }: { name: string }) => name);
};

/** A file of the disk, by its path. */
async function onDisk(name: string): Promise<string> {
  await writeFile(join(scratch, name), name);
  return join(scratch, name);
}

const devtoolsOf = (page: Page) => page.context().newCDPSession(page);
const dropFile = async (page: Page, name: string): Promise<void> =>
  drop({ devtools: await devtoolsOf(page) }, await onDisk(name));
/** The uploads are loaded after the first view. */
const canUpload = (page: Page): Promise<void> => page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
const uploaded = (page: Page): Promise<void> =>
  page.getByRole('region', { name: 'Uploads' }).getByText('1 file uploaded').first().waitFor();

async function centreOf(element: Locator): Promise<{ readonly x: number; readonly y: number }> {
  const { x, y, width, height } = (await element.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  return { x: x + width / 2, y: y + height / 2 };
}

test('after a file of the list was moved by dragging it, files of the desktop are still uploaded', async () => {
  const person = await tenant.user();
  await add(person, 'moved.txt');
  await person.api.post('/folders', { name: 'There' });
  const page = await openSignedIn(browser, tenant, credentials(person), '/files');
  await row(page, 'moved.txt').dragTo(row(page, 'There'));
  await row(page, 'moved.txt').waitFor({ state: 'detached' });
  await page.getByText('1 item moved').first().waitFor();

  await dropFile(page, 'desktop.txt');
  await uploaded(page);

  expect(await rootOf(person)).toEqual(['There', 'desktop.txt']);
  await page.close();
});

test('a file is moved by dropping it on a folder of the path that the pointer has just entered', async () => {
  const person = await tenant.user();
  const { body: folder } = await person.api.post('/folders', { name: 'There' });
  await add(person, 'inside.txt', { folder_id: folder.id });
  const page = await openSignedIn(browser, tenant, credentials(person), `/files/${folder.id}`);
  await row(page, 'inside.txt').hover();
  const { x, y } = await centreOf(page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'My files' }));
  await page.mouse.down();
  await page.mouse.move(x, y);
  await page.mouse.up();
  await row(page, 'inside.txt').waitFor({ state: 'detached' });
  await page.getByText('1 item moved').first().waitFor();

  expect(await rootOf(person)).toEqual(['There', 'inside.txt']);
  await page.close();
});

test('files of the desktop that are held over the path go to the folder that is shown, and light up no other', async () => {
  const person = await tenant.user();
  const { body: folder } = await person.api.post('/folders', { name: 'There' });
  const page = await openSignedIn(browser, tenant, credentials(person), `/files/${folder.id}`);
  await canUpload(page);
  const at = await centreOf(page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'My files' }));
  const devtools = await devtoolsOf(page);
  const path = await onDisk('here.txt');
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'dragOver'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, ...at, data });
  await page.getByText('Drop to upload to There').waitFor();
  const lit = await page.locator('[data-over]').count();
  await devtools.send('Input.dispatchDragEvent', { type: 'drop', ...at, data });
  await uploaded(page);

  const { body } = await person.api.get(`/folders/${folder.id}/children`);
  expect([lit, body.data.map(({ name }: { name: string }) => name)]).toEqual([0, ['here.txt']]);
  await page.close();
});

test('after somebody has signed out and in again, dropped files are uploaded', async () => {
  const person = await tenant.user();
  const page = await openSignedIn(browser, tenant, credentials(person), '/files');
  await canUpload(page);
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signIn(page, credentials(person));
  await canUpload(page);

  const held = await dragOver({ devtools: await devtoolsOf(page) }, await onDisk('again.txt'));
  await page.getByText('Drop to upload to').waitFor();
  await held();
  await uploaded(page);

  expect(await rootOf(person)).toEqual(['again.txt']);
  await page.close();
});

test('files that are dropped while nobody is signed in are not uploaded as whoever signs in next', async () => {
  const person = await tenant.user();
  const page = await openSignedOut(browser, tenant, '/files');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await dropFile(page, 'early.txt');
  await signIn(page, credentials(person));
  await canUpload(page);

  const held = await dragOver({ devtools: await devtoolsOf(page) }, await onDisk('later.txt'));
  await page.getByText('Drop to upload to').waitFor();
  await held();
  await uploaded(page);

  expect(await rootOf(person)).toEqual(['later.txt']);
  await page.close();
});
