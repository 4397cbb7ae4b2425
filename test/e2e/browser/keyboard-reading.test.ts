import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { Keyboard } from '../../support/clients/keyboard.ts';
import { textPdf } from '../../support/data/pdfs.ts';
import { greyPng } from '../../support/data/small-media.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { type Credentials, firstAdministrator, openAs } from './app.ts';
import { folderShown } from './by-keyboard.ts';

/** What people look for and read without a mouse: what a search finds, a PDF, and the API reference. */
const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
let administrator: Credentials;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([
    demoTenant(where, { limits: { requestsPerUserPerMinute: 2_000 } }),
    openBrowser('third-party blocked'),
  ]);
  administrator = await firstAdministrator(where, tenant);
}, 180_000);

afterAll(() => browser?.close());

async function atHome(): Promise<[Page, Keyboard]> {
  const page = await openAs(browser, tenant, administrator);
  await page.getByRole('navigation', { name: 'Path' }).waitFor();
  return [page, new Keyboard(page)];
}

/** Says whether keys go to an element, in whichever frame. */
const hasFocus = (element: Locator): Promise<boolean> =>
  element.evaluate((one) => one.ownerDocument.activeElement === one && one.ownerDocument.hasFocus());
const holdsFocus = (element: Locator): Promise<boolean> =>
  element.evaluate((one) => one.contains(one.ownerDocument.activeElement));

test('by keyboard alone somebody narrows a search by kind and owner, opens what it finds, and widens it again', async () => {
  await tenant.admin.upload('/files', { name: 'moss.png', type: 'image/png', file: greyPng(40, 30) });
  await tenant.admin.upload('/files', { name: 'moss.txt', type: 'text/plain', file: Buffer.from('Moss.') });
  const [page, keyboard] = await atHome();
  const row = (name: string): Locator => page.getByRole('row', { name });
  const filter = (name: string): Locator => page.getByRole('combobox', { name, exact: true });
  const narrowedTo = (name: string, value: string | null): Promise<unknown> =>
    waitFor(`${name} in the address`, () => new URL(page.url()).searchParams.get(name) === value);
  await keyboard.press('/');
  await keyboard.isAt('Search files');
  await keyboard.type('moss');
  await narrowedTo('q', 'moss');
  await row('moss.txt').waitFor();
  await row('moss.png').waitFor();

  await keyboard.tabTo(/^Kind/);
  await keyboard.pick(filter('Kind'), 'image/*');
  await narrowedTo('kind', 'image/*');
  await row('moss.txt').waitFor({ state: 'detached' });
  await row('moss.png').waitFor();
  await keyboard.isAt(/^Kind/);
  await keyboard.held('choosing a kind');
  await keyboard.tabTo(/^Owner/);
  await keyboard.pick(filter('Owner'), 'me');
  await narrowedTo('owner', 'me');
  await row('moss.png').waitFor();
  await keyboard.isAt(/^Owner/);
  await keyboard.tabTo('moss.png');
  await keyboard.press('Enter');
  const preview = page.getByRole('dialog', { name: 'moss.png' });
  await preview.getByRole('img', { name: 'moss.png' }).waitFor();
  await keyboard.press('Escape');
  await preview.waitFor({ state: 'detached' });
  await keyboard.isAt('moss.png');

  await keyboard.tabTo(/^Kind/, 'Shift+Tab');
  await keyboard.pick(filter('Kind'), '');
  await narrowedTo('kind', null);
  await row('moss.txt').waitFor();
  await keyboard.isAt(/^Kind/);

  expect(new URL(page.url()).searchParams.get('q')).toBe('moss');
});

test('by keyboard alone somebody reads a PDF, finds a word in it, and goes on to the next file', async () => {
  const book = await textPdf('The teacher reads a book.', 3);
  book.getPage(2).drawText('Mitochondria are the power house of the cell.', { x: 60, y: 200, size: 14 });
  const files = { 'book.pdf': Buffer.from(await book.save()), 'notes.txt': 'After the book.' };
  const [page, keyboard] = await folderShown({ tenant, browser, administrator }, 'Readings', files);
  const content = page.frameLocator('iframe');
  await keyboard.tabTo('book.pdf');
  await keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'book.pdf' }).waitFor();
  await content.getByText('The teacher reads a book.').first().waitFor();
  await waitFor('the pages to have the focus', () => hasFocus(content.getByRole('main')));

  const field = content.getByRole('textbox', { name: 'Find in this file' });
  await keyboard.press('Control+f');
  await waitFor('the field to have the focus', () => hasFocus(field));
  await keyboard.type('MITOCHONDRIA');
  await content.getByRole('status').filter({ hasText: '1 of 1' }).waitFor();
  await keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  await waitFor('the pages to have the focus again', () => hasFocus(content.getByRole('main')));

  await keyboard.press('ArrowRight');
  const next = page.getByRole('dialog', { name: 'notes.txt' });
  await next.getByText('After the book.').waitFor();
  await waitFor('the focus in the preview', () => holdsFocus(next));
  await keyboard.press('Escape');
  await next.waitFor({ state: 'detached' });
  await keyboard.held('closing the preview');

  expect(await page.getByRole('dialog').count()).toBe(0);
});

test('by keyboard alone somebody goes to the API reference, opens an operation, and sends its request', async () => {
  const [page, keyboard] = await atHome();
  await keyboard.tabTo(/^Account/);
  await keyboard.press('Enter');
  await keyboard.choose('API reference');
  await page.getByRole('heading', { name: 'Carrel API', level: 1 }).waitFor();
  await keyboard.use('users');
  await keyboard.tabTo(/^get \/me /i);
  await keyboard.press('Enter');
  const operation = page.locator('details#getWelcome');
  await operation.getByText(/^Requests are sent as /).waitFor();
  await keyboard.isAt(/^get \/me /i);
  await keyboard.use('Send GET');
  await operation.getByRole('region', { name: 'Reply', exact: true }).getByText('200', { exact: true }).waitFor();
  await keyboard.held('sending a request');
  await keyboard.tabTo('Body of the reply');

  const body = JSON.parse((await operation.getByRole('region', { name: 'Body of the reply' }).textContent()) ?? '');
  expect(body.user.email).toBe(administrator.email);
});
