import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
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

const administrator = (path = '/admin/audit'): Promise<Page> => openSignedIn(browser, tenant, tenant.administrator, path);
const entry = (page: Page, text: string): Locator => page.getByRole('listitem').filter({ hasText: text });

test('an administrator finds what a person did to a file, by filters that the address keeps', async () => {
  const { api, user } = await tenant.user();
  const { body: file } = await api.upload('/files', { name: 'thesis.pdf', file: Buffer.from('thesis') });
  await api.patch(`/files/${file.id}`, { name: 'essay.pdf' });
  const page = await administrator();
  await page.getByRole('combobox', { name: 'Who' }).fill(user.username);
  await page.getByRole('option', { name: user.username }).click();
  await page.getByLabel('What').selectOption('Changed a file');
  await entry(page, 'essay.pdf').locator('summary').click();
  const changes = await entry(page, 'essay.pdf').getByRole('row', { name: 'name' }).textContent();
  await page.reload();
  await entry(page, 'essay.pdf').locator('summary').click();
  await page.getByRole('button', { name: 'Everything about essay.pdf' }).click();
  await entry(page, 'Uploaded a file').waitFor();

  expect([changes, await page.getByRole('main').locator('summary').count()]).toEqual(['namethesis.pdfessay.pdf', 2]);
});

test('the filter of a person is used by the keyboard alone, and removed', async () => {
  const { user } = await tenant.user();
  const page = await administrator();
  const who = page.getByRole('combobox', { name: 'Who' });
  await who.focus();
  await page.keyboard.type(user.username);
  await waitFor('the person alone to be found', async () => (await page.getByRole('listbox').getByRole('option').count()) === 1);
  await page.keyboard.press('Enter');
  await waitFor('the person in the field', async () => (await who.inputValue()) === user.username);
  await waitFor('the address', async () => new URL(page.url()).searchParams.get('who') === user.id);
  await page.getByRole('button', { name: 'Remove all filters' }).click();

  await waitFor('no filter in the address', () => new URL(page.url()).search === '');
  await waitFor('the field to be empty', async () => (await who.inputValue()) === '');
});

test('a day without entries says so', async () => {
  const page = await administrator('/admin/audit?when=dates&from=2001-01-01&to=2001-01-02');

  await page.getByText('No entry matches').waitFor();
  expect([await page.getByLabel('From').inputValue(), await page.getByLabel('To', { exact: true }).inputValue()]).toEqual([
    '2001-01-01',
    '2001-01-02',
  ]);
});

test('all entries that match are exported, not only those on the screen', async () => {
  const { api, user } = await tenant.user();
  for (const n of range(60)) await api.post('/folders', { name: `folder ${n}` });
  const page = await administrator(`/admin/audit?who=${user.id}&what=folder.create`);
  await page.getByRole('button', { name: 'Export' }).click();
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: /CSV/ }).click()]);
  const lines = (await readFile(await saved.path(), 'utf8')).trimEnd().split('\r\n');

  expect([saved.suggestedFilename(), lines.length]).toEqual([expect.stringMatching(/^audit-\d{4}-\d{2}-\d{2}\.csv$/), 61]);
  // Excel reads a table as UTF-8 by this mark.
  expect(lines[0]).toMatch(/^\uFEFFat,/);
  expect(lines[1]).toContain(',folder.create,folder,');
});

test('a person who is no administrator sees that they may not see the log', async () => {
  const { user, password } = await tenant.user();
  const page = await openSignedIn(browser, tenant, { email: user.email, password }, '/admin/audit');

  await page.locator('.problem-note').getByText('forbidden').waitFor();
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
});

test('axe finds nothing on the log in light and dark, and at 400 % zoom nothing is cut off', async () => {
  const page = await administrator();
  await page.locator('summary').first().click();
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});
