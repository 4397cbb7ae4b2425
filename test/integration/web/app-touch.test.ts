import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { openSignedOut, signIn } from './app-pages.ts';
import { add, type Person, row } from './file-pages.ts';

/** The files on a phone: nobody here has a mouse or a keyboard, or points at anything without touching it. */
let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([
    startTenant({ name: 'Biology' }),
    openBrowser('third-party blocked', [], { hasTouch: true }),
  ]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

/** A person with these files, and a phone on which they are signed in. */
async function phoneOf(...paths: string[]): Promise<{ person: Person; page: Page }> {
  const person = await tenant.user();
  await add(person, paths);
  const page = await openSignedOut(browser, tenant);
  await signIn(page, { email: person.user.email, password: person.password });
  await page.getByRole('button', { name: 'Menu', exact: true }).waitFor();
  return { person, page };
}

const selectedOn = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('[aria-selected=true] .files-open')].map((name) => name.textContent)`);
const selected = (page: Page, ...names: string[]): Promise<boolean> =>
  waitFor(`${names.join(', ')} to be selected`, async () => (await selectedOn(page)).join() === names.join());
const touchBox = (page: Page, name: string): Promise<void> => page.getByRole('checkbox', { name: `Select ${name}` }).tap();

test('a touch of a name opens a folder and a file, and the path leads back', async () => {
  const { page } = await phoneOf('Notes/inside.txt', 'plan.txt');
  await row(page, 'Notes').getByRole('link', { name: 'Notes' }).tap();
  const preview = page.getByRole('dialog', { name: 'inside.txt' });
  // A touch that follows the former one too closely is the second of a double one, and is for the folder.
  await waitFor('a preview', async () => {
    if ((await preview.count()) === 0)
      await row(page, 'inside.txt').getByRole('button', { name: 'inside.txt', exact: true }).tap({ timeout: 5_000 });
    await preview.waitFor({ timeout: 2_000 });
    return true;
  });
  await preview.getByText('Notes/inside.txt').waitFor();
  await preview.getByRole('button', { name: 'Close' }).tap();
  await preview.waitFor({ state: 'detached' });
  await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'My files' }).tap();

  await row(page, 'plan.txt').waitFor();
  expect(await selectedOn(page)).toEqual([]);
});

test('a touch of the box of a row selects it beside others, opens nothing, and a second one takes it out', async () => {
  const { page } = await phoneOf('one.txt', 'three.txt', 'two.txt');
  await touchBox(page, 'one.txt');
  await selected(page, 'one.txt');
  await touchBox(page, 'two.txt');
  await selected(page, 'one.txt', 'two.txt');
  await page.getByRole('toolbar', { name: 'Selected files' }).getByText('2 selected').waitFor();
  await touchBox(page, 'one.txt');
  await selected(page, 'two.txt');
  await page.getByRole('toolbar', { name: 'Selected files' }).getByRole('button', { name: 'Clear the selection' }).tap();

  await selected(page);
  expect(await page.getByRole('dialog').count()).toBe(0);
});

test('a touch beside a name selects that row alone, and the three dots of a row show what can be done with it', async () => {
  const { page, person } = await phoneOf('one.txt', 'two.txt');
  await touchBox(page, 'one.txt');
  await row(page, 'two.txt').locator('.files-facts').tap();
  await selected(page, 'two.txt');
  await row(page, 'one.txt').getByRole('button', { name: 'Actions of one.txt' }).tap();
  await page.getByRole('menuitem', { name: 'Rename' }).tap();
  const field = page.getByLabel('New name of one.txt');
  await field.fill('first.txt');
  await field.press('Enter');
  await row(page, 'first.txt').waitFor();

  // The row has its new name before the server does.
  await waitFor('the new name at the server', async () => {
    const { body } = await person.api.get('/files', { query: { sort: 'name' } });
    return body.data.map(({ name }: { name: string }) => name).join() === 'first.txt,two.txt';
  });
});

test('among pictures, a touch of a box selects and a touch of a name opens', async () => {
  const { page } = await phoneOf('one.txt', 'two.txt');
  await page.getByRole('button', { name: 'Pictures', exact: true }).tap();
  await touchBox(page, 'one.txt');
  await selected(page, 'one.txt');
  await row(page, 'two.txt').getByRole('button', { name: 'two.txt', exact: true }).tap();
  await page.getByRole('dialog', { name: 'two.txt' }).waitFor();
  await page.evaluate('localStorage.clear()');

  expect(await selectedOn(page)).toEqual(['one.txt']);
});

test('the menu is behind the three lines, and a touch in it goes to another page and closes it', async () => {
  const { page } = await phoneOf('one.txt');
  await page.getByRole('button', { name: 'Menu', exact: true }).tap();
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await menu.getByRole('link', { name: 'Trash' }).tap();
  await page.getByText('The trash is empty').waitFor();

  await menu.waitFor({ state: 'detached' });
  expect(new URL(page.url()).pathname).toBe('/trash');
});
