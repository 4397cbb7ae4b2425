import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { SETTINGS } from '../../support/clients/grading.ts';
import { gradingSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { openSignedIn } from './app-pages.ts';

const { grading } = gradingSuite(SETTINGS);
let browser: TestBrowser;
let webhook: string;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
  const { tenant, receiver } = grading;
  const wanted = { url: receiver.url, events: ['file.deleted'], description: 'Pager' };
  webhook = (await tenant.admin.post('/webhooks', wanted)).body.id;
  await tenant.admin.post(`/webhooks/${webhook}/test`, {});
  await waitFor('the delivery', async () => {
    const { body } = await tenant.admin.get(`/webhooks/${webhook}/deliveries`);
    return body.data[0]?.status === 'delivered';
  });
}, 300_000);

afterAll(() => browser?.close());

const DAY_MS = 86_400_000;

/** Delivers the events since yesterday again, and returns the page of that job. */
async function replayed(which: string): Promise<Page> {
  const page = await openSignedIn(browser, grading.tenant, grading.tenant.administrator, `/admin/webhooks/${webhook}`);
  await page.getByRole('button', { name: 'Deliver again …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Deliver events again' });
  await dialog.getByRole('radio', { name: which }).check();
  await dialog.getByLabel('From').fill(new Date(Date.now() - DAY_MS).toISOString().slice(0, 16));
  await dialog.getByRole('button', { name: 'Deliver again' }).click();
  await page.getByRole('heading', { name: 'Deliver events again', level: 1 }).waitFor();
  return page;
}

test('the job of events that are delivered again says how many they are, and leads back to the webhook', async () => {
  const page = await replayed('What arrived');
  await page.getByText('1 event will be sent again').waitFor();
  await page.getByRole('link', { name: 'Open webhook' }).click();
  await page.getByRole('heading', { name: 'Pager', level: 1 }).waitFor();

  expect(new URL(page.url()).pathname).toBe(`/admin/webhooks/${webhook}`);
});

test('where nothing had failed to arrive, the job says so and that what waits is tried anyway', async () => {
  const page = await replayed('What did not arrive');
  await page
    .getByText('There was no such delivery in that time. Deliveries that still wait are tried again without your help.')
    .waitFor();

  expect(await page.getByRole('link', { name: 'Open webhook' }).count()).toBe(1);
});
