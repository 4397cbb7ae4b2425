import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { NARROW, openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const administrator = (): Promise<Page> => openSignedIn(browser, tenant, tenant.administrator, '/admin/usage');

test('an administrator sees who stores what, of which type and since when, as plots and as tables', async () => {
  const { api, user } = await tenant.user({ storage_quota: 4_096 });
  await api.upload('/files', { name: 'a.txt', file: Buffer.alloc(1_024, 'a') });
  await api.upload('/files', { name: 'b.csv', file: Buffer.alloc(3_000, 'b') });
  await tenant.db.query(
    `INSERT INTO request_counts (hour, succeeded, refused, failed)
     SELECT date_trunc('day', now(), 'UTC') - days * interval '1 day', 1200 + days, 30, 4 FROM unnest($1::int[]) AS days`,
    [[0, 2]],
  );
  const page = await administrator();
  const people = page.getByRole('table', { name: 'Who stores most' });
  const own = await people.getByRole('row', { name: user.username }).textContent();
  const text = await page.getByRole('table', { name: 'By type' }).getByRole('row', { name: 'Text' }).textContent();
  await page.getByText('Show as a table').first().click();
  const month = await page
    .getByRole('region', { name: /by month/ })
    .getByRole('row')
    .last()
    .textContent();

  const requests = page.getByRole('figure', { name: 'Requests in the last 30 days' });
  const drawing = requests.getByRole('img');
  await drawing.waitFor();
  const bars = await drawing.locator('.c-plot-bar').count();
  await requests.getByText('Show as a table').click();
  const lastDays = (await requests.getByRole('row').all()).slice(-3);
  const rows = await Promise.all(lastDays.map((row) => row.getByRole('cell').allTextContents()));

  expect([bars, rows]).toEqual([
    90,
    [
      ['1,202', '30', '4'],
      ['0', '0', '0'],
      ['1,200', '30', '4'],
    ],
  ]);
  expect([own, text]).toEqual([`${user.username}3.93 kB98%`, 'Text1 kB1 file']);
  expect(month).toMatch(/3\.93 kB$/);
});

test('axe finds nothing on the usage in light and dark, and at 400 % zoom nothing is cut off', async () => {
  const page = await administrator();
  await page.getByRole('table', { name: 'Who stores most' }).waitFor();
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});
