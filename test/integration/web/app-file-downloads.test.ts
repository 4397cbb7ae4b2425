import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { exported, unzipped } from '../../support/clients/exports.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { range, waitFor } from '../../support/wait.ts';
import { pageOf, personWith, row, select, toolbar } from './file-pages.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

/** Returns what the browser saves after an action, and under which name. */
async function saved(page: Page, act: () => Promise<void>): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

test('one file is saved as it is, a folder as its archive, and several as one archive with the name of their list', async () => {
  const { page } = await personWith(browser, tenant, 'Term 1/a.txt', 'Term 1/b.txt', 'Week 2/c.txt', 'plan.txt');
  await select(page, 'plan.txt');
  const file = await saved(page, () => toolbar(page, 'Download').click());
  await select(page, 'Term 1');
  const folder = await saved(page, () => toolbar(page, 'Download').click());
  await select(page, 'plan.txt', ['Shift']);
  const several = await saved(page, () => toolbar(page, 'Download').click());
  await page.getByText('“Files.zip” is ready').first().waitFor();
  const again = await saved(page, () => page.getByRole('button', { name: 'Download again' }).click());
  await row(page, 'Term 1').getByRole('link', { name: 'Term 1' }).click();
  await select(page, 'a.txt');
  await select(page, 'b.txt', ['Shift']);
  await row(page, 'b.txt').getByRole('button', { name: 'Actions of b.txt' }).click();
  const inFolder = await saved(page, () => page.getByRole('menuitem', { name: 'Download' }).click());

  expect([file.name, file.bytes.toString()]).toEqual(['plan.txt', 'plan.txt']);
  expect([folder.name, Object.keys(unzipped(folder.bytes)).sort()]).toEqual([
    'Term 1.zip',
    ['Term 1/', 'Term 1/a.txt', 'Term 1/b.txt'],
  ]);
  expect([several.name, unzipped(several.bytes)]).toEqual([
    'Files.zip',
    {
      'Term 1/': null,
      'Term 1/a.txt': 'Term 1/a.txt',
      'Term 1/b.txt': 'Term 1/b.txt',
      'Week 2/': null,
      'Week 2/c.txt': 'Week 2/c.txt',
      'plan.txt': 'plan.txt',
    },
  ]);
  expect(Buffer.compare(again.bytes, several.bytes)).toBe(0);
  expect([inFolder.name, Object.keys(unzipped(inFolder.bytes)).sort()]).toEqual(['Term 1.zip', ['a.txt', 'b.txt']]);
});

test('an archive that is canceled is not saved', async () => {
  const { page, person } = await personWith(browser, tenant, 'a.txt', 'b.txt');
  await select(page, 'a.txt');
  await select(page, 'b.txt', ['Shift']);
  // An archive of two small files would be ready before somebody can cancel it.
  await worker.end('SIGTERM');
  try {
    await toolbar(page, 'Download').click();
    await page.getByText('Packing 2 items …').waitFor();
    await waitFor('the job', async () => (await person.api.get('/jobs')).body.data.length === 1);
    await page.locator('.files-batch').getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Canceled; nothing is downloaded').first().waitFor();
  } finally {
    await worker.start();
  }

  const { body } = await person.api.get('/jobs');
  expect(body.data.map(({ kind, state }: { kind: string; state: string }) => [kind, state])).toEqual([['export', 'canceled']]);
  expect(await page.locator('.files-batch').count()).toBe(0);
});

test('whoever has as many archives as one person may learns what to do', async () => {
  const { page, person } = await personWith(browser, tenant, 'a.txt', 'b.txt');
  const { body } = await person.api.get('/files');
  const items = body.data.map(({ id }: { id: string }) => ({ type: 'file', id }));
  for (const _ of range(10)) await exported(person.api, { items });
  await select(page, 'a.txt');
  await select(page, 'b.txt', ['Shift']);
  await toolbar(page, 'Download').click();

  await page
    .getByText(/^You have as many archives or jobs as one person may\./)
    .first()
    .waitFor();
});

test('an earlier version is saved from the details, with what it held', async () => {
  const person = await tenant.user();
  for (const content of ['first', 'second'])
    await person.api.upload('/files', { name: 'plan.txt', file: Buffer.from(content), fields: { on_conflict: 'replace' } });
  const page = await pageOf(browser, tenant, person);
  await select(page, 'plan.txt');
  await page.keyboard.press('Alt+Enter');
  await page.getByRole('tab', { name: 'Versions' }).click();
  const buttons = page.getByRole('tabpanel').getByRole('button', { name: 'Download' });
  await buttons.nth(1).waitFor();
  const former = await saved(page, () => buttons.nth(1).click());
  const current = await saved(page, () => buttons.nth(0).click());

  expect([former.name, former.bytes.toString(), current.bytes.toString()]).toEqual(['plan.txt', 'first', 'second']);
});
