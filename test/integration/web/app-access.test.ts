import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { type Person, pageOf, select } from './file-pages.ts';

/**
 * Who has access, and who gets it. Some lists of that are longer than a page of the API: the pages ask for 200 at once, and get
 * fewer here.
 */
let tenant: TestTenant;
let browser: TestBrowser;
let owner: Person;
/** Everybody who has access to plan.txt, in the order of the API. */
let everybody: readonly string[];

/** People of the group, which has the grant. The owner comes to them. */
const MEMBERS = 22;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
  owner = await tenant.user();
  const { body: file } = await owner.api.upload('/files', { name: 'plan.txt', file: Buffer.from('plan') });
  const { body: group } = await tenant.admin.post('/groups', { name: 'First year' });
  await tenant.admin.put(`/groups/${group.id}/members/${owner.user.id}`);
  for (let number = 1; number <= MEMBERS; number += 1) {
    const { user } = await tenant.user();
    await tenant.admin.put(`/groups/${group.id}/members/${user.id}`);
    const { status } = await owner.api.post(`/files/${file.id}/permissions`, { user_id: user.id, permission_level: 'write' });
    if (status !== 201) throw new Error(`the grant was refused: ${status}`);
  }
  await owner.api.post(`/files/${file.id}/permissions`, { group_id: group.id, permission_level: 'read' });
  const { body } = await owner.api.get(`/files/${file.id}/access`, { query: { limit: 200 } });
  everybody = body.data.map(({ user }: { user: { name: string } }) => user.name);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

/** Makes each page of who has access this short. `hold`: what a page that follows waits for. */
async function shorten(page: Page, limit: number, hold = Promise.resolve()): Promise<void> {
  await page.route(/\/files\/[^/]+\/(?:access|permissions)\?/, async (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', String(limit));
    if (url.searchParams.has('cursor')) await hold;
    await route.continue({ url: url.href });
  });
}

const names = (list: Locator, selector: string): Promise<string[]> => list.locator(selector).allTextContents();

test('the tab of who has access says how many are loaded, and goes on to the last as somebody scrolls', async () => {
  expect(everybody.length).toBe(MEMBERS + 1);
  const page = await pageOf(browser, tenant, owner);
  const { promise: hold, resolve: release } = Promise.withResolvers<void>();
  await shorten(page, 10, hold);
  await select(page, 'plan.txt');
  await page.keyboard.press('Alt+Enter');
  await page.getByRole('tab', { name: 'Access' }).click();
  const panel = page.getByRole('tabpanel');
  await panel.getByText('10 people are loaded, more follow').waitFor();
  const first = await names(panel, '.files-person-name');
  release();

  await waitFor('everybody to be listed', async () => {
    await panel.getByRole('listitem').last().scrollIntoViewIfNeeded();
    return (await panel.getByRole('listitem').count()) === everybody.length;
  });
  const all = await names(panel, '.files-person-name');
  await panel.getByText('more follow').waitFor({ state: 'detached' });

  expect(first).toEqual(everybody.slice(0, 10));
  expect(all).toEqual(everybody);
});

test('a page of who has access that fails leaves those before it, and is loaded by "Try again"', async () => {
  const page = await pageOf(browser, tenant, owner);
  await shorten(page, 20);
  let isSpoilt = true;
  await page.route(/\/access\?.*cursor=/, (route) => (isSpoilt ? route.abort('connectionfailed') : route.fallback()));
  await select(page, 'plan.txt');
  await page.keyboard.press('Alt+Enter');
  await page.getByRole('tab', { name: 'Access' }).click();
  const panel = page.getByRole('tabpanel');
  await panel.getByRole('listitem').last().scrollIntoViewIfNeeded();
  const again = panel.getByRole('button', { name: 'Try again' });
  await again.waitFor();
  const before = await panel.getByRole('listitem').count();
  isSpoilt = false;
  await again.click();

  await waitFor('everybody to be listed', async () => (await panel.getByRole('listitem').count()) === everybody.length);
  expect(before).toBe(20);
});

test('the dialog that shares lists more when it is asked to, also after a change, and says when that is all', async () => {
  const page = await pageOf(browser, tenant, owner);
  await shorten(page, 4);
  await page.getByRole('button', { name: 'Actions of plan.txt' }).click();
  await page.getByRole('menuitem', { name: 'Share …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Share “plan.txt”' });
  const levels = dialog.getByRole('listitem').getByRole('combobox', { name: /may do$/ });
  const more = dialog.getByRole('status').filter({ hasText: 'loaded, more follow' });
  await more.waitFor();
  const first = await levels.count();
  await dialog.getByRole('button', { name: 'Show more' }).click();
  const all = dialog.getByRole('status').filter({ hasText: `${MEMBERS + 2} entries, that is all` });
  await all.waitFor();
  await waitFor('the focus to be on what says so', () => all.evaluate((text) => text.ownerDocument.activeElement === text));
  const last = everybody.filter((name) => name !== owner.user.username).at(-1) ?? '';
  await dialog.getByLabel(`What ${last} may do`).selectOption('May share');
  await dialog.getByText(`The access of ${last} is changed.`).waitFor();

  await waitFor('all to be listed still', async () => (await levels.count()) === MEMBERS + 1);
  await all.waitFor();
  expect(first).toBeLessThan(MEMBERS);
});

/** Presses Enter as soon as the search for people says what it has found. */
const ENTER_ONCE_FOUND = `{
  const search = document.querySelector('.share-search');
  const said = search.querySelector('[role=status]');
  new MutationObserver((_, observer) => {
    if (said.textContent === '') return;
    observer.disconnect();
    search.querySelector('input').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  }).observe(said, { subtree: true, childList: true, characterData: true });
}`;

test('Enter gives access to nobody who was found for the beginning of what is typed, however soon it is pressed', async () => {
  const [admin, adler, berg] = [await tenant.user({ roles: ['admin'] }), await tenant.user(), await tenant.user()];
  await tenant.admin.patch(`/users/${adler.user.id}`, { display_name: 'Robin Adler' });
  await tenant.admin.patch(`/users/${berg.user.id}`, { display_name: 'Robin Berg' });
  const { body: file } = await admin.api.upload('/files', { name: 'notes.txt', file: Buffer.from('notes') });
  const page = await pageOf(browser, tenant, admin);
  await page.getByRole('button', { name: 'Actions of notes.txt' }).click();
  await page.getByRole('menuitem', { name: 'Share …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Share “notes.txt”' });
  const field = dialog.getByRole('combobox', { name: 'Name, group or e-mail address' });
  await field.fill('Robin');
  await dialog.getByText('2 found', { exact: true }).waitFor();
  await page.evaluate(ENTER_ONCE_FOUND);
  await field.fill('Robin Berg');
  const grants = await waitFor('somebody to get access', async () => {
    const { data } = (await admin.api.get(`/files/${file.id}/permissions`)).body;
    return data.length > 0 && data;
  });

  expect(grants.map(({ user_id }: { user_id: string }) => user_id)).toEqual([berg.user.id]);
});
