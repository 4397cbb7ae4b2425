import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const PASSWORD = 'a password of a link';
const UNREACHABLE = 'The service cannot be reached.';

/** A link of a folder that has a folder `Weeks` and these files; its page is open. */
async function openFolder(names: readonly string[], terms: object = {}) {
  const { api } = await tenant.user();
  const { body: folder } = await api.post('/folders', { name: 'Course' });
  const { body: weeks } = await api.post('/folders', { name: 'Weeks', parent_id: folder.id });
  const put = (name: string, folder_id: string = folder.id) =>
    api.upload('/files', { name, file: Buffer.from(name), fields: { folder_id } });
  await Promise.all([...names.map((name) => put(name)), put('week 1.txt', weeks.id)]);
  const { body: link } = await api.post(`/folders/${folder.id}/share`, terms);
  const page = await browser.page();
  await page.context().clearCookies();
  await page.addInitScript('delete window.showOpenFilePicker');
  await page.goto(link.url);
  await page.getByRole('button', { name: 'Weeks' }).waitFor();
  return { page, put };
}

/** Does something while there is no connection. */
async function offline(page: Page, act: () => Promise<void>): Promise<void> {
  await page.context().setOffline(true);
  try {
    await act();
  } finally {
    await page.context().setOffline(false);
  }
}

const isSaid = (page: Page): Promise<void> => page.getByRole('alert').getByText(UNREACHABLE).waitFor();
const noNotes = (page: Page): Promise<boolean> =>
  waitFor('the note to go', async () => (await page.getByText(UNREACHABLE).count()) === 0);

test('a folder of a link that is opened without a connection lists its files once there is one', async () => {
  const { page } = await openFolder(['plan.txt']);
  await offline(page, async () => {
    await page.getByRole('button', { name: 'Weeks' }).click();
    await isSaid(page);
  });

  await page.getByRole('link', { name: 'week 1.txt' }).waitFor();
  await noNotes(page);
  await page.close();
});

test('a long list of a link goes on where it stopped for want of a connection', async () => {
  const names = range(230).map((at) => `${String(at).padStart(3, '0')}.txt`);
  const { page } = await openFolder(names);
  await page.getByText('200 items are loaded, more follow').waitFor();
  await offline(page, async () => {
    await page.keyboard.press('End');
    await isSaid(page);
  });

  await page.getByText('231 items', { exact: true }).waitFor();
  await noNotes(page);
  await page.close();
});

test('what a download says of the connection goes when there is one', async () => {
  const { page } = await openFolder(['plan.txt']);
  await offline(page, async () => {
    await page.getByRole('link', { name: 'plan.txt' }).click();
    await isSaid(page);
  });

  await noNotes(page);
  await page.close();
});

test('the list below uploads is read again from its beginning when the connection was lost at their end', async () => {
  const { page } = await openFolder(
    range(210).map((at) => `old ${String(at).padStart(3, '0')}.txt`),
    { mode: 'both' },
  );
  await page.getByRole('button', { name: 'Send files' }).click();
  await page.getByLabel('Your name').fill('Grace');
  await page.route('**/children?*', (route) => route.abort());
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Choose files' }).click(),
  ]);
  await chooser.setFiles({ name: 'essay.txt', mimeType: 'text/plain', buffer: Buffer.from('essay') });
  await page.getByText('1 file sent', { exact: true }).waitFor();
  await isSaid(page);
  await page.unroute('**/children?*');
  await offline(page, () => Promise.resolve());

  await page.getByRole('link', { name: 'essay.txt' }).waitFor();
  await noNotes(page);
  expect(await page.getByText('200 items are loaded, more follow').count()).toBe(1);
  await page.close();
});

/** The page of a link with a password, and the password. */
async function openLocked() {
  const { api } = await tenant.user();
  const { body: file } = await api.upload('/files', { name: 'plan.txt', file: Buffer.from('plan') });
  const { body: link } = await api.post(`/files/${file.id}/share`, { password: PASSWORD });
  const page = await browser.page();
  await page.context().clearCookies();
  await page.goto(link.url);
  await page.getByRole('button', { name: 'Show password' }).waitFor();
  return { page, url: link.url as string };
}

test('what the form of the password says of the connection goes when there is one, and the password stays', async () => {
  const { page } = await openLocked();
  await offline(page, async () => {
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await isSaid(page);
  });
  await noNotes(page);

  expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe(PASSWORD);
  await page.close();
});

test('a link that could not be asked for when its page was opened is shown once there is a connection', async () => {
  const { page } = await openLocked();
  // As from a server that has not put it into the document.
  await page.route('**/s/*', async (route) => {
    const reply = await route.fetch();
    await route.fulfill({ response: reply, body: (await reply.text()).replace('id="given"', '') });
  });
  await page.route('**/api/v1/s/*', (route) => route.abort());
  await page.reload();
  await isSaid(page);
  await page.unroute('**/api/v1/s/*');
  await offline(page, () => Promise.resolve());

  await page.getByRole('heading', { name: 'This link has a password' }).waitFor();
  await page.close();
});
