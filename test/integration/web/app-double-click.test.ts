import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { pageOf, row } from './file-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

/** A page with a folder, in which there is one other thing. */
async function pageWith(inner: string, isFolder: boolean): Promise<{ page: Page; outer: string }> {
  const person = await tenant.user();
  const { body: outer } = await person.api.post('/folders', { name: 'Outer folder' });
  if (isFolder) await person.api.post('/folders', { name: inner, parent_id: outer.id });
  else await person.api.upload('/files', { name: inner, file: Buffer.from(inner), fields: { folder_id: outer.id } });
  return { page: await pageOf(browser, tenant, person), outer: outer.id };
}

/** Clicks the name of the folder twice at one place; the second click comes when the folder is shown. */
async function doubleClick(page: Page, inner: string): Promise<void> {
  const name = page.getByRole('grid').getByRole('link', { name: 'Outer folder' });
  const box = await name.boundingBox();
  if (!box) throw new Error('it is not on the screen');
  await page.mouse.move(box.x + Math.min(box.width - 3, 60), box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.up();
  await row(page, inner).waitFor();
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
}

const shown = async (page: Page): Promise<unknown> => [
  await page.evaluate('location.pathname'),
  await page.getByRole('dialog').count(),
];

for (const [inner, isFolder] of [
  ['Inner folder', true],
  ['In', true],
  ['inner text.txt', false],
] as const)
  test.each(['List', 'Pictures'])(
    `a double click on the name of a folder opens that alone, not “${inner}” in it: %s`,
    async (view) => {
      const { page, outer } = await pageWith(inner, isFolder);
      await page.getByRole('button', { name: view, exact: true }).click();
      await doubleClick(page, inner);
      const after = await shown(page);
      await page.evaluate('localStorage.clear()');

      expect(after).toEqual([`/files/${outer}`, 0]);
    },
  );

test('a double click beside a name opens its row', async () => {
  const { page, outer } = await pageWith('Inner folder', true);
  await row(page, 'Outer folder').getByRole('gridcell').nth(1).dblclick();
  await row(page, 'Inner folder').waitFor();

  expect(await shown(page)).toEqual([`/files/${outer}`, 0]);
});

test('a double click on the name of a picture’s file opens it once', async () => {
  const { page } = await pageWith('inner text.txt', false);
  await row(page, 'Outer folder').getByRole('link', { name: 'Outer folder' }).click();
  await page.getByRole('button', { name: 'Pictures', exact: true }).click();
  await page.locator('.files-card').getByRole('button', { name: 'inner text.txt', exact: true }).dblclick();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.evaluate('localStorage.clear()');

  expect(await page.getByRole('dialog').count()).toBe(0);
});
