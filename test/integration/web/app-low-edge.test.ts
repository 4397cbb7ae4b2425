import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { range } from '../../support/wait.ts';
import { pageOf, type Person, row, select } from './file-pages.ts';

/** What lies over the pages of files: the bar of a selection, and toasts. Neither hides the buttons of another. */
const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;
let person: Person;
/** Ids of folders by the number of rows in them. */
const folders = new Map<number, string>();

beforeAll(async () => {
  [browser, person] = await Promise.all([openBrowser('third-party blocked'), tenant.user()]);
  for (const rows of [1, 5, 8, 10, 13, 15, 40]) {
    const { body } = await person.api.post('/folders', { name: `of ${rows}` });
    folders.set(rows, body.id);
    await Promise.all(range(rows).map((n) => person.api.post('/folders', { name: `row ${n + 1}.`, parent_id: body.id })));
  }
}, 180_000);

afterAll(() => browser?.close());

/** Returns the names of buttons within it of which the middle is not on the screen, or under something else. */
const coveredIn = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)} + ' button')].filter((button) => {
    const { left, top, width, height } = button.getBoundingClientRect();
    return !button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  }).map((button) => button.getAttribute('aria-label') ?? button.textContent)`);

/** How far the bar of the selection is above the lower edge of the window. */
const aboveEdge = (page: Page): Promise<number> =>
  page.evaluate(`innerHeight - document.querySelector('.files-selection').getBoundingClientRect().bottom`);

const NOBODY_COVERS = { bar: [], toast: [], edge: 16 };

test.each([
  ...[1, 5, 8, 10, 40].map((rows) => ({ rows, width: 390, height: 844 })),
  ...[1, 10, 13, 15, 40].map((rows) => ({ rows, width: 1440, height: 900 })),
  ...[1, 5, 40].map((rows) => ({ rows, width: 320, height: 640 })),
])('a toast covers no button of the bar of $rows rows at $width × $height', async ({ rows, width, height }) => {
  const page = await pageOf(browser, tenant, person, `/files/${folders.get(rows)}`);
  await page.setViewportSize({ width, height });
  await row(page, 'row 1\\.').waitFor();
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await select(page, 'row 1\\.');
  await page.keyboard.press('ControlOrMeta+c');
  await page.getByText('1 item copied: paste it in a folder').first().waitFor();
  // It stays while it is looked at.
  await page.locator('.c-toast').hover();
  const look = async () => ({
    bar: await coveredIn(page, '.files-selection'),
    toast: await coveredIn(page, '.c-toast'),
    edge: Math.round(await aboveEdge(page)),
  });
  const first = await look();
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  const last = await look();

  expect([first, last]).toEqual([NOBODY_COVERS, NOBODY_COVERS]);
  // Neither does the bar itself hide the last row from whoever scrolls to it.
  const [end, bar] = await page.evaluate<[number, number]>(`[
    [...document.querySelectorAll('[role=row]')].at(-1).getBoundingClientRect().bottom,
    document.querySelector('.files-selection').getBoundingClientRect().top,
  ]`);
  expect(end).toBeLessThanOrEqual(bar);
});

test('beside open details the bar stays in the middle of the page, between its edges', async () => {
  const page = await pageOf(browser, tenant, person, `/files/${folders.get(8)}`);
  await page.setViewportSize({ width: 1440, height: 900 });
  await select(page, 'row 1\\.');
  await page.keyboard.press('Alt+Enter');
  await page.getByRole('complementary', { name: 'row 1.' }).waitFor();

  const [bar, main] = await page.evaluate<{ left: number; right: number }[]>(
    `['.files-selection', '.shell-main'].map((one) => document.querySelector(one).getBoundingClientRect().toJSON())`,
  );
  expect([await coveredIn(page, '.files-selection'), await aboveEdge(page)]).toEqual([[], 16]);
  const [before, after] = [(bar?.left ?? 0) - (main?.left ?? 0), (main?.right ?? 0) - (bar?.right ?? 0)];
  expect([before > 0, Math.abs(before - after) < 3]).toEqual([true, true]);
});

test('on a phone a toast covers neither the title of the details nor the button that closes them', async () => {
  const { id } = (await person.api.upload('/files', { name: 'plan.txt', file: Buffer.from('a') })).body;
  await person.api.put(`/files/${id}/metadata/term`, { value: 'spring' });
  const page = await pageOf(browser, tenant, person);
  await page.setViewportSize({ width: 390, height: 844 });
  await select(page, 'plan.txt');
  await page.keyboard.press('Alt+Enter');
  const details = page.getByRole('dialog', { name: 'plan.txt' });
  await details.getByRole('button', { name: 'Remove the attribute term' }).click();
  await details.getByText('The attribute term is removed').first().waitFor();
  await details.locator('.c-toast').hover();

  const above = await page.evaluate(`document.querySelector('dialog .c-toast').getBoundingClientRect().top > innerHeight / 2`);
  expect([above, await coveredIn(page, '.c-drawer .c-toast')]).toEqual([true, []]);
  await details.evaluate('document.querySelector("dialog").scrollTo(0, 0)');
  await details.getByRole('button', { name: 'Close the details' }).click({ timeout: 5_000 });
  await details.waitFor({ state: 'detached' });
});

test('the heading row of a list goes under the header when the end of the list is scrolled away', async () => {
  const page = await pageOf(browser, tenant, person, `/files/${folders.get(5)}`);
  await row(page, 'row 1\\.').waitFor();
  await page.evaluate(`document.querySelector('.files-view').style.paddingBlockEnd = '200vh'`);
  await page.evaluate(`scrollBy(0, document.querySelector('[role=grid]').getBoundingClientRect().bottom - 60)`);

  const [header, heading] = await page.evaluate<{ top: number; bottom: number }[]>(
    `['.header', '.c-grid-head'].map((one) => document.querySelector(one).getBoundingClientRect().toJSON())`,
  );
  expect(heading?.top).toBeLessThan((header?.bottom ?? 0) - 20);
  expect(await page.evaluate(`document.elementFromPoint(innerWidth / 2, 28).closest('.header') !== null`)).toBe(true);
});
