import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
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

const administrator = (path: string): Promise<Page> => openSignedIn(browser, tenant, tenant.administrator, path);
const act = async (page: Page, action: string): Promise<void> => {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: action }).click();
};
const shown = async (id: string) => (await tenant.admin.get(`/users/${id}`)).body;

test('an administrator finds a person by role and state, and changes name and quota on their page', async () => {
  const { user } = await tenant.user({ roles: ['viewer'] });
  const page = await administrator('/admin/people');
  await page.getByLabel('Role').selectOption('Viewer');
  await page.getByLabel('State').selectOption('Active');
  await page.getByRole('link', { name: user.username }).click();
  await page.getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('dialog', { name: `Edit ${user.username}` });
  await form.getByLabel('Name that others see (optional)').fill('Barbara Liskov');
  await form.getByLabel('Storage they may use').fill('much');
  await form.getByRole('button', { name: 'Save' }).click();
  const refusal = form.getByText('Enter a number such as 1000 or 2.5, without separators of thousands.');
  await refusal.waitFor();
  await form.getByLabel('Storage they may use').fill('1');
  await refusal.waitFor({ state: 'detached' });
  await form.getByLabel('Storage they may use').fill('1,000');
  await form.getByRole('button', { name: 'Save' }).click();
  await refusal.waitFor();
  await form.getByLabel('Storage they may use').fill('2.5');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Barbara Liskov' }).waitFor();
  await page.getByText('of 2.5 GB').first().waitFor();

  expect(await shown(user.id)).toMatchObject({
    display_name: 'Barbara Liskov',
    storage_quota: 2.5 * 1024 ** 3,
    roles: ['viewer'],
  });
});

test('Save closes the form of a person in which nothing is changed', async () => {
  const { user } = await tenant.user();
  const page = await administrator(`/admin/people/${user.id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('dialog', { name: `Edit ${user.username}` });
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });

  expect((await shown(user.id)).etag).toBe(user.etag);
});

test('people are sorted by what they store', async () => {
  for (const [at, bytes] of [10, 5_000, 200].entries()) {
    const { api } = await tenant.user({ email: `hoards-${at}@example.org` });
    await api.upload('/files', { name: 'a', file: Buffer.alloc(bytes) });
  }
  const page = await administrator('/admin/people');
  await page.getByRole('searchbox').fill('hoards-');
  await page.getByLabel('Order').selectOption('Most storage first');

  await waitFor('the three, the one who stores most first', async () => {
    const rows = await page.getByRole('row').filter({ hasText: 'hoards-' }).allInnerTexts();
    return rows.map((text) => /hoards-(\d)/.exec(text)?.[1]).join() === '1,2,0';
  });
  expect(await page.getByRole('row').nth(1).innerText()).toContain('4.88 kB');
});

test('a person is signed out everywhere, and kept out while deactivated', async () => {
  const { user, api } = await tenant.user();
  const page = await administrator(`/admin/people/${user.id}`);
  await act(page, 'Sign out everywhere');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByText(`${user.username} is signed out everywhere.`).first().waitFor();
  const status = (await api.get('/me')).status;
  await act(page, 'Deactivate');
  await page.getByText('Inactive', { exact: true }).waitFor();

  expect([status, (await shown(user.id)).is_active]).toEqual([401, false]);
});

test('whoever deletes a person says what happens to their files: somebody else gets them, or they go', async () => {
  const [leaver, heir, other] = [await tenant.user(), await tenant.user(), await tenant.user()];
  for (const { api } of [leaver, other]) await api.upload('/files', { name: 'thesis.pdf', file: Buffer.from('thesis') });
  const page = await administrator(`/admin/people/${leaver.user.id}`);
  await act(page, 'Delete');
  const dialog = page.getByRole('alertdialog', { name: `Delete ${leaver.user.username}?` });
  await dialog.getByText('They have 1 file').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText('Choose who gets the files.').waitFor();
  await dialog.getByRole('combobox').fill(heir.user.username);
  await page.getByRole('option', { name: heir.user.username }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText(`${leaver.user.username} is deleted.`).first().waitFor();

  await page.getByRole('searchbox').fill(other.user.username);
  const actions = page.getByRole('button', { name: /^Actions for/ });
  await waitFor('one person to be found', async () => (await actions.count()) === 1);
  await actions.click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByLabel('Delete them for ever').check();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Nobody found.').waitFor({ state: 'attached' });

  const { data } = (await heir.api.get('/files')).body;
  expect(data.map(({ name }: { name: string }) => name)).toEqual(['thesis.pdf']);
  expect((await tenant.admin.get(`/users/${other.user.id}`)).status).toBe(404);
});

test('files that come after they were counted are decided about before their owner is deleted', async () => {
  const [leaver, heir] = [await tenant.user(), await tenant.user()];
  const page = await administrator(`/admin/people/${leaver.user.id}`);
  await act(page, 'Delete');
  const dialog = page.getByRole('alertdialog', { name: `Delete ${leaver.user.username}?` });
  await dialog.getByText('They have no files.').waitFor();
  await leaver.api.upload('/files', { name: 'late.txt', file: Buffer.from('late') });
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('alert').getByText('More files have come').waitFor();
  await dialog.getByText('They have 1 file').waitFor();
  const kept = (await tenant.admin.get(`/users/${leaver.user.id}`)).status;

  await dialog.getByRole('combobox').fill(heir.user.username);
  await page.getByRole('option', { name: heir.user.username }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText(`${leaver.user.username} is deleted.`).first().waitFor();

  const { data } = (await heir.api.get('/files')).body;
  expect([kept, data.map(({ name }: { name: string }) => name)]).toEqual([200, ['late.txt']]);
});

test('nobody deletes or deactivates themselves, and the page of a person shows groups and last actions', async () => {
  const { api, user } = await tenant.user();
  await api.post('/folders', { name: 'Herbarium' });
  const { body: group } = await tenant.admin.post('/groups', { name: 'Botany' });
  await tenant.admin.put(`/groups/${group.id}/members/${user.id}`);
  const { body: me } = await tenant.admin.get('/users/me');
  const page = await administrator(`/admin/people/${me.id}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { disabled: true }).first().waitFor();
  const disabled = await page.getByRole('menuitem', { disabled: true }).allTextContents();
  await page.goto(`${tenant.url}/admin/people/${user.id}`);
  await page.getByRole('link', { name: 'Botany' }).waitFor();
  await page.getByText('Made a folder').waitFor();
  await page.getByRole('link', { name: 'Everything in the audit log' }).click();
  await waitFor(
    'the log of this person',
    async () => (await page.getByRole('combobox', { name: 'Who' }).inputValue()) === user.username,
  );

  expect(disabled).toEqual(['Deactivate', 'Delete']);
});

test('axe finds nothing on a person and their dialogs in light and dark, and at 400 % zoom nothing is cut off', async () => {
  const { user, api } = await tenant.user();
  await api.upload('/files', { name: 'a.txt', file: Buffer.from('a') });
  const page = await administrator(`/admin/people/${user.id}`);
  await page.getByText('of 10 GB').first().waitFor();
  const found: string[] = [];
  const look = async (): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      found.push(...(await axeFindings(page)));
    }
  };
  await look();
  await page.setViewportSize(NARROW);
  await fits(page);
  await act(page, 'Edit');
  await look();
  await page.keyboard.press('Escape');
  await act(page, 'Delete');
  await page.getByText('What happens to their files?').waitFor();
  await look();

  expect(found).toEqual([]);
});
