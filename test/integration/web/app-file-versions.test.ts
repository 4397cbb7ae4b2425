import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { type Person, pageOf, select } from './file-pages.ts';

/** Versions of a file, of which there are more than a page of the API has. The panel asks for 200 at once: here it gets fewer. */
let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const VERSIONS = 12;
const PAGE = 5;

async function personWithVersions(): Promise<Person> {
  const person = await tenant.user();
  for (let number = 1; number <= VERSIONS; number += 1) {
    const file = Buffer.from(`version ${number}`);
    const { status } = await person.api.upload('/files', { name: 'plan.txt', file, fields: { on_conflict: 'replace' } });
    if (status >= 300) throw new Error(`version ${number} was refused: ${status}`);
  }
  return person;
}

/** Makes each page of versions short. `hold`: what a page that follows waits for. */
async function shorten(page: Page, hold: Promise<void>): Promise<void> {
  await page.route(/\/files\/[^/]+\/versions\?/, async (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', String(PAGE));
    if (url.searchParams.has('cursor')) await hold;
    await route.continue({ url: url.href });
  });
}

test('the versions of a file go on to the first as somebody scrolls, and that is restored', async () => {
  const person = await personWithVersions();
  const page = await pageOf(browser, tenant, person);
  const { promise: hold, resolve: release } = Promise.withResolvers<void>();
  await shorten(page, hold);
  await select(page, 'plan.txt');
  await page.keyboard.press('Alt+Enter');
  await page.getByRole('tab', { name: 'Versions' }).click();
  const panel = page.getByRole('tabpanel');
  const rows = panel.getByRole('listitem');
  await panel.getByText('5 versions are loaded, more follow').waitFor();
  const newest = await rows.first().innerText();
  release();
  await waitFor('all versions to be listed', async () => {
    await rows.last().scrollIntoViewIfNeeded();
    return (await rows.count()) === VERSIONS;
  });
  await panel.getByText('more follow').waitFor({ state: 'detached' });
  const numbers = (await rows.locator('.files-version-head > span:first-child').allInnerTexts()).map((text) =>
    text.replace('Version ', ''),
  );
  await rows.last().getByRole('button', { name: 'Restore' }).click();
  await panel.getByText(`Version ${VERSIONS + 1}`).waitFor();

  expect(newest).toMatch(/^Version 12\s+Current/);
  expect(numbers).toEqual(Array.from({ length: VERSIONS }, (_, at) => String(VERSIONS - at)));
  const { body } = await person.api.get('/files');
  expect(body.data[0].size).toBe(Buffer.byteLength('version 1'));
});
