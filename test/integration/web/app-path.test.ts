import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
import { NARROW, watchFocus } from './app-pages.ts';
import { pageOf, row } from './file-pages.ts';

/** The path of a folder that lies deep, of which there is no room for all. */
let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const PHONE = { width: 390, height: 780 };
/** The last two are wider than a phone. */
const NAMES = range(12).map((n) =>
  n < 10 ? `Level ${n + 1}` : `Level ${n + 1} ${'with a name that is long '.repeat(6)}`.trim(),
);

interface Level {
  readonly id: string;
  readonly name: string;
}

/** A person with a folder in a folder, twelve of them, and the page of the last one. */
async function deepest(): Promise<{ page: Page; levels: Level[] }> {
  const person = await tenant.user();
  const levels: Level[] = [];
  for (const name of NAMES) {
    const { body } = await person.api.post('/folders', { name, parent_id: levels.at(-1)?.id ?? null });
    levels.push({ id: body.id, name });
  }
  return { page: await pageOf(browser, tenant, person, `/files/${levels.at(-1)?.id}`), levels };
}

const path = (page: Page): Locator => page.getByRole('navigation', { name: 'Path' });
const between = (page: Page): Locator => path(page).getByRole('button', { name: 'Folders in between' });
/** The links of the path, and where it ends. */
const partsOf = async (page: Page): Promise<string[]> => [
  ...(await path(page).getByRole('link').allTextContents()),
  (await path(page).locator('[aria-current=page]').textContent()) ?? '',
];
const inMenu = async (page: Page): Promise<string[]> => {
  await between(page).click();
  return page.getByRole('menuitem').locator('.c-menu-label').allTextContents();
};
const isAt = (page: Page, name: string): Promise<void> => page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();

test.each([
  ['a phone', PHONE],
  ['a narrow window, as at 400 % zoom,', NARROW],
])('on %s the path of a deep folder is its last two parts and a menu that leads to each folder above', async (_which, size) => {
  const { page, levels } = await deepest();
  await page.setViewportSize(size);
  await waitFor('the path of a phone', async () => (await path(page).getByRole('link').count()) === 1);
  const parts = await partsOf(page);
  await fits(page);
  const above = await inMenu(page);
  const faults = await axeFindings(page);
  await fits(page);
  await page.keyboard.press('Escape');

  expect([parts, above, faults]).toEqual([NAMES.slice(-2), ['My files', ...NAMES.slice(0, 10)], []]);
  for (const { id, name } of levels.slice(0, 10)) {
    await between(page).click();
    await page.getByRole('menuitem', { name, exact: true }).click();
    await isAt(page, name);
    expect(new URL(page.url()).pathname).toBe(`/files/${id}`);
    await page.goBack();
    await isAt(page, NAMES.at(-1) ?? '');
  }
  await between(page).click();
  await page.getByRole('menuitem', { name: 'My files', exact: true }).click();
  await isAt(page, 'Files');
  await row(page, 'Level 1').waitFor();
  expect(new URL(page.url()).pathname).toBe('/');
});

test('the folder above is a link in the path of a phone, whole where it is short; the first folder needs no menu', async () => {
  const { page } = await deepest();
  await page.setViewportSize(PHONE);
  await waitFor('the path of a phone', async () => (await path(page).getByRole('link').count()) === 1);
  await path(page).getByRole('link').first().click();
  await isAt(page, NAMES[10] ?? '');
  const isWhole = await path(page)
    .getByRole('link', { name: 'Level 10' })
    .evaluate((link) => link.lastElementChild?.scrollWidth === link.lastElementChild?.clientWidth);
  await between(page).click();
  await page.getByRole('menuitem', { name: 'Level 1', exact: true }).click();
  await isAt(page, 'Level 1');
  await waitFor('the path of the first folder', async () => (await partsOf(page)).join() === 'My files,Level 1');

  expect([isWhole, await between(page).count()]).toEqual([true, 0]);
});

test('the path of a deep folder is one request', async () => {
  const { page, levels } = await deepest();
  await isAt(page, NAMES.at(-1) ?? '');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.reload();
  await waitFor('the whole path', async () => (await path(page).getByRole('link').count()) === 3);

  const ofOneFolder = asked.filter((address) => /\/folders\/[^/]+(\/path)?$/.test(address));
  expect(ofOneFolder).toEqual([expect.stringMatching(new RegExp(`/${levels.at(-1)?.id}/path$`))]);
});

test('a menu has the keyboard the moment it appears', async () => {
  const { page } = await deepest();
  await waitFor('the whole path', async () => (await path(page).getByRole('link').count()) === 3);
  const hasFocus = await watchFocus(page, '[role=menu]');
  await between(page).click();

  expect(await hasFocus()).toBe(true);
});

test('on a wide screen the path of a deep folder begins at the top, and the keyboard goes through its menu', async () => {
  const { page } = await deepest();
  await waitFor('the whole path', async () => (await path(page).getByRole('link').count()) === 3);
  const parts = await partsOf(page);
  await between(page).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem').first().waitFor();
  await page.keyboard.press('End');
  await waitFor('the last one to have the focus', () => page.evaluate(`document.activeElement.textContent === 'Level 9'`));
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await isAt(page, 'Level 2');

  expect(parts).toEqual(['My files', ...NAMES.slice(-3)]);
});
