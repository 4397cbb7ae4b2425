import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { add, namesOn, personWith, row, select } from './file-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

/** Waits for two looks at the list, which come every 4 s: the page has shown what it found at the first before it asks again. */
async function looked(page: Page): Promise<void> {
  for (let looks = 0; looks < 2; looks += 1) await page.waitForResponse(/\/folders\/root\/children\?/);
}

/** A page on which two of four files are being deleted, while the server has begun with none of them. */
async function deleting() {
  const { page, person } = await personWith(browser, tenant, 'four.txt', 'one.txt', 'three.txt', 'two.txt');
  const answer = Promise.withResolvers<{ readonly isRefused: boolean }>();
  await page.route('**/api/v1/batch', async (route) => {
    const { isRefused } = await answer.promise;
    if (isRefused) await route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'busy' } } });
    else await route.continue();
  });
  await select(page, 'one.txt');
  await select(page, 'three.txt', ['Shift']);
  await page.keyboard.press('Delete');
  await row(page, 'one.txt').waitFor({ state: 'detached' });
  return { page, person, answer: answer.resolve };
}

test('rows that are being deleted stay away from looks at the list, which shows what others add', async () => {
  const { page, person, answer } = await deleting();
  await looked(page);
  const still = await namesOn(page);
  await add(person, ['a new one.txt']);
  await row(page, 'a new one.txt').waitFor();
  const withNew = await namesOn(page);
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
  await page.locator('[aria-sort=descending]').waitFor();
  await row(page, 'two.txt').waitFor();
  const sorted = await namesOn(page);
  answer({ isRefused: false });
  await page.getByText('2 items moved to the trash').first().waitFor();

  expect([still, withNew, sorted]).toEqual([
    ['four.txt', 'two.txt'],
    ['a new one.txt', 'four.txt', 'two.txt'],
    ['two.txt', 'four.txt', 'a new one.txt'],
  ]);
  expect(await namesOn(page)).toEqual(['two.txt', 'four.txt', 'a new one.txt']);
});

test('rows whose deletion the server refuses come back', async () => {
  const { page, answer } = await deleting();
  answer({ isRefused: true });
  await row(page, 'one.txt').waitFor();

  expect(await namesOn(page)).toEqual(['four.txt', 'one.txt', 'three.txt', 'two.txt']);
});
