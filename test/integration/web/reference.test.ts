import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const REFERENCE = '/api/v1/reference';

interface Shown {
  readonly page: Page;
  /** What the page's policy refused, and errors of its scripts. */
  readonly faults: string[];
}

/** The reference in a browser without a session. */
async function reference(hash = ''): Promise<Shown> {
  const page = await browser.page();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) faults.push(message.text());
  });
  await page.context().clearCookies();
  await page.goto(`${tenant.url}${REFERENCE}${hash}`);
  return { page, faults };
}

/** The reference in a browser in which somebody has signed in on the tenant's pages. */
async function signedIn(hash = ''): Promise<Shown & { readonly username: string }> {
  const { user, password } = await tenant.user();
  const shown = await reference();
  const { page } = shown;
  await page.goto(tenant.url);
  await page.getByLabel('E-mail address').fill(user.email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await page.goto(`${tenant.url}${REFERENCE}${hash}`);
  if (hash !== '') await page.getByText(`Requests are sent as ${user.username}.`).waitFor();
  return { ...shown, username: user.username };
}

/** Waits for a reply with this status. The page also lists statuses that may come. */
const answered = (of: Locator, status: string): Promise<void> =>
  of.getByRole('region', { name: 'Reply', exact: true }).getByText(status, { exact: true }).waitFor();
const operation = (page: Page, id: string): Locator => page.locator(`details#${id}`);

test('a person who is signed in tries an operation and sees the reply', async () => {
  const { page, faults, username } = await signedIn('#getWelcome');
  const me = operation(page, 'getWelcome');
  await me.getByRole('button', { name: 'Send GET' }).click();
  await answered(me, '200');
  const body = JSON.parse((await me.getByRole('region', { name: 'Body of the reply' }).textContent()) ?? '');

  expect([body.user.username, body.tenant.display_name, faults]).toEqual([username, 'Biology', []]);
});

test('a request has what was entered: a JSON body, a parameter of the path, and a refusal shows the API’s sentence', async () => {
  const { page } = await signedIn('#createFolder');
  const create = operation(page, 'createFolder');
  await create.getByLabel('Body (JSON)').fill('{"name":"Field trips"}');
  await create.getByRole('button', { name: 'Send POST' }).click();
  await answered(create, '201');
  const made = JSON.parse((await create.getByRole('region', { name: 'Body of the reply' }).textContent()) ?? '');

  await page.goto(`${tenant.url}${REFERENCE}#getFolder`);
  const get = operation(page, 'getFolder');
  await get.getByLabel('id (path, required)').fill(made.id);
  await get.getByRole('button', { name: 'Send GET' }).click();
  await answered(get, '200');
  expect(await get.getByRole('region', { name: 'Body of the reply' }).textContent()).toContain('Field trips');

  await get.getByLabel('id (path, required)').fill('no-folder');
  await get.getByRole('button', { name: 'Send GET' }).click();
  await answered(get, '400');
  expect(await get.getByRole('region', { name: 'Body of the reply' }).textContent()).toContain('validation_failed');
});

test('a request that is sent before the session is known waits for it, and is sent in its name', async () => {
  const { page, username } = await signedIn('#getCurrentUser');
  let release = (): void => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/api/v1/auth/refresh', async (route) => {
    await isReleased;
    await route.continue();
  });
  await page.reload();
  const me = operation(page, 'getCurrentUser');
  await me.getByText('Looking for your session …').waitFor();
  await me.getByRole('button', { name: 'Send GET' }).click();
  release();
  await answered(me, '200');

  const body = JSON.parse((await me.getByRole('region', { name: 'Body of the reply' }).textContent()) ?? '');
  expect(body.username).toBe(username);
});

test('on a narrow screen the form of a file fits', async () => {
  const { page } = await reference('#uploadFile');
  await page.setViewportSize({ width: 320, height: 640 });
  await operation(page, 'uploadFile').locator('input[type=file]').first().scrollIntoViewIfNeeded();

  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
});

test('a file is uploaded and its bytes are saved, by the forms alone', async () => {
  const { page } = await signedIn('#uploadFile');
  const upload = operation(page, 'uploadFile');
  await upload
    .getByLabel('file (form, required)')
    .setInputFiles({ name: 'a.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2]) });
  await upload.getByRole('button', { name: 'Send POST' }).click();
  await answered(upload, '201');
  const { id } = JSON.parse((await upload.getByRole('region', { name: 'Body of the reply' }).textContent()) ?? '');

  await page.goto(`${tenant.url}${REFERENCE}#downloadFile`);
  const download = operation(page, 'downloadFile');
  // As an id is pasted from a text.
  await download.getByLabel('id (path, required)').fill(` ${id} `);
  await download.getByRole('button', { name: 'Send GET' }).click();
  const saving = page.waitForEvent('download');
  await download.getByRole('link', { name: 'Save the body' }).click();
  const file = await saving;

  expect(file.suggestedFilename()).toBe('a.bin');
  expect([...(await readFile(await file.path()))]).toEqual([0, 1, 2]);
});

test('without a session the page says so, and sends requests without a token', async () => {
  const { page, faults } = await reference('#getCurrentUser');
  const me = operation(page, 'getCurrentUser');
  await me.getByText('Nobody is signed in').waitFor();
  await me.getByRole('button', { name: 'Send GET' }).click();
  await answered(me, '401');

  expect(await me.getByRole('link', { name: 'Sign in' }).getAttribute('href')).toBe('/sign-in');
  expect(faults).toEqual([]);
});

test('each table has a name: a screen reader lists tables by it', async () => {
  const { page } = await reference('#listFolders');
  const list = operation(page, 'listFolders');
  await list
    .getByRole('table', { name: 'Parameters' })
    .getByRole('row', { name: /^limit query/ })
    .waitFor();
  await list
    .getByRole('table', { name: 'Errors' })
    .getByRole('row', { name: /unauthenticated/ })
    .waitFor();

  expect(await page.locator('table').count()).toBeGreaterThan(100);
  expect(await page.locator('table:not([aria-label="Parameters"], [aria-label="Errors"])').count()).toBe(0);
});

test('an operation opens, is filled in and is sent by the keyboard alone', async () => {
  const { page } = await signedIn();
  await operation(page, 'listFolders').locator('> summary').focus();
  await page.keyboard.press('Enter');
  const list = operation(page, 'listFolders');
  await list.getByRole('button', { name: 'Send GET' }).waitFor();
  await list.getByLabel('limit (query)').focus();
  await page.keyboard.type('1');
  await page.keyboard.press('Enter');

  await answered(list, '200');
});
