import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { pageOf } from './file-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

/** Uploads files of 60 bytes. */
async function choose(page: Page, ...names: string[]): Promise<void> {
  await page.evaluate('window.showOpenFilePicker = undefined');
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('menuitem', { name: 'Upload files' }).click(),
  ]);
  await chooser.setFiles(names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(60, 'a') })));
}

const used = (page: Page): Promise<string | null> => page.locator('.shell-side .navigation-quota').textContent();
const isUsed = (page: Page, bytes: string): Promise<boolean> =>
  waitFor(`${bytes} to be used`, async () => (await used(page))?.includes(`${bytes} of 100 bytes used`));
const isFull = (page: Page): Promise<void> =>
  page.getByRole('region', { name: 'Uploads' }).getByText('The storage is full.').waitFor();

test('while a full storage holds uploads back, the page shows how much is used by those that arrived', async () => {
  const page = await pageOf(browser, tenant, await tenant.user({ storage_quota: 100 }));
  await isUsed(page, '0 bytes');
  await choose(page, 'a.txt', 'b.txt', 'c.txt');
  await isFull(page);

  await isUsed(page, '60 bytes');
});

test('if none arrived since others have filled the storage, the page shows that too', async () => {
  const person = await tenant.user({ storage_quota: 100 });
  const page = await pageOf(browser, tenant, person);
  await isUsed(page, '0 bytes');
  await person.api.upload('/files', { name: 'elsewhere.txt', file: Buffer.alloc(90, 'a') });
  await choose(page, 'a.txt');
  await isFull(page);

  await isUsed(page, '90 bytes');
  expect((await person.api.get('/files')).body.data).toHaveLength(1);
});
