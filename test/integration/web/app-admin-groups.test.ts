import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { NARROW, openSignedIn } from './app-pages.ts';

const { tenant, at } = lmsSuite();
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

const administrator = (path = '/admin/groups'): Promise<Page> => openSignedIn(browser, tenant, tenant.administrator, path);
const member = (page: Page, name: string): Locator => page.getByRole('listitem').filter({ hasText: name });
const membersOf = async (id: string): Promise<string[]> =>
  (await tenant.admin.get(`/groups/${id}/members`)).body.data.map(({ user }: { user: { name: string } }) => user.name);

test('an administrator makes a group, adds people, removes one and takes it back', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const page = await administrator();
  await page.getByRole('button', { name: 'Add group' }).click();
  const form = page.getByRole('dialog', { name: 'Add group' });
  await form.getByRole('button', { name: 'Add group' }).click();
  await form.getByText('This is needed.').waitFor();
  await form.getByLabel('Name').fill('History, first year');
  await form.getByRole('button', { name: 'Add group' }).click();
  await page.getByRole('heading', { name: 'History, first year' }).waitFor();
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  for (const { user } of [ada, bob]) {
    await page.getByRole('combobox', { name: 'Add a person' }).fill(user.username);
    await page.getByRole('option', { name: user.username }).click();
    await member(page, user.email).waitFor();
  }
  await page.getByRole('button', { name: `Remove ${ada.user.username}` }).click();
  await member(page, ada.user.email).waitFor({ state: 'detached' });
  const afterRemoval = await membersOf(id);
  await page.getByRole('button', { name: 'Undo' }).click();
  await member(page, ada.user.email).waitFor();

  expect([afterRemoval, (await membersOf(id)).toSorted()]).toEqual([
    [bob.user.username],
    [ada.user.username, bob.user.username].toSorted(),
  ]);
});

test('“Try again” repeats the change of members that failed', async () => {
  const { user } = await tenant.user();
  const { body: group } = await tenant.admin.post('/groups', { name: 'Choir' });
  const page = await administrator(`/admin/groups/${group.id}`);
  await page.route('**/members/*', (route) => route.fulfill({ status: 500, json: {} }));
  await page.getByRole('combobox', { name: 'Add a person' }).fill(user.username);
  await page.getByRole('option', { name: user.username }).click();
  const again = page.getByRole('button', { name: 'Try again' });
  await again.waitFor();
  await page.unroute('**/members/*');
  await again.click();
  await member(page, user.email).waitFor();
  const isOnPicker = await page.getByRole('combobox').evaluate((input) => input.ownerDocument.activeElement === input);

  expect([await again.count(), isOnPicker, await membersOf(group.id)]).toEqual([0, true, [user.username]]);
});

test('a name that another group has is refused at its field, and a group is deleted after a question', async () => {
  await tenant.admin.post('/groups', { name: 'Taken' });
  const { body: group } = await tenant.admin.post('/groups', { name: 'Going', description: 'Summer term' });
  const page = await administrator(`/admin/groups/${group.id}`);
  await page.getByText('Summer term').waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('dialog', { name: 'Edit the group' });
  await form.getByLabel('Name').fill('taken');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('Another group has this name.').waitFor();
  await form.getByLabel('Name').fill('Gone');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Gone' }).waitFor();

  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The group Gone is deleted.').first().waitFor();

  await waitFor('the list of groups', async () => new URL(page.url()).pathname === '/admin/groups');
  expect((await tenant.admin.get(`/groups/${group.id}`)).status).toBe(404);
});

test('a form whose reply was lost takes other content, and makes what it is sent once', async () => {
  const page = await administrator();
  /** The next reply gets lost on its way. */
  let isLosing = true;
  await page.route('**/api/v1/groups', async (route) => {
    if (route.request().method() !== 'POST' || !isLosing) return route.continue();
    isLosing = false;
    await route.fetch();
    await route.abort('connectionfailed');
  });
  await page.getByRole('button', { name: 'Add group' }).click();
  const form = page.getByRole('dialog', { name: 'Add group' });
  await form.getByLabel('Name').fill('Chess');
  await form.getByRole('button', { name: 'Add group' }).click();
  await form.getByText('The service cannot be reached.').waitFor();
  isLosing = true;
  await form.getByLabel('Name').fill('Chess club');
  await form.getByRole('button', { name: 'Add group' }).click();
  await waitFor('the second reply to be lost', () => !isLosing);
  await form.getByText('The service cannot be reached.').waitFor();
  await form.getByRole('button', { name: 'Add group' }).click();
  await page.getByRole('heading', { name: 'Chess club' }).waitFor();

  const { body } = await tenant.admin.get('/groups', { query: { q: 'Chess' } });
  expect(body.data.map(({ name }: { name: string }) => name).toSorted()).toEqual(['Chess', 'Chess club']);
});

test('what a group opens is shown, and the group of a course cannot be changed', async () => {
  const { api } = await launched(tenant, at, { course: { id: 'bio-1', title: 'Botany' } });
  const [course] = (await api.get('/groups', { query: { q: 'Botany' } })).body.data as { id: string }[];
  const page = await administrator();
  await page.getByLabel('Kind').selectOption('Of courses');
  await page.getByRole('link', { name: /Botany/ }).click();
  await page.getByText('The LMS manages this group').waitFor();
  const access = page.getByRole('region', { name: 'What it opens' }).first();
  await access.getByRole('row', { name: /Botany/ }).waitFor();

  expect(new URL(page.url()).pathname).toBe(`/admin/groups/${course?.id}`);
  expect([await page.getByRole('button', { name: 'Edit' }).count(), await page.getByRole('combobox').count()]).toEqual([0, 0]);
});

test('a group that does not exist is said to be gone, and nobody but administrators sees all groups', async () => {
  const { user, password } = await tenant.user();
  const page = await administrator('/admin/groups/7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11');
  await page.getByRole('alert').getByText('This does not exist any more').waitFor();
  const theirs = await openSignedIn(browser, tenant, { email: user.email, password }, '/admin/groups');
  await theirs.getByText('No groups yet').waitFor();

  expect(await theirs.getByRole('button', { name: 'Add group' }).count()).toBe(0);
});

test.each([
  ['the groups', async () => '/admin/groups'],
  [
    'a group',
    async () => {
      const { api, user } = await tenant.user();
      const { body: group } = await tenant.admin.post('/groups', { name: `Group of ${user.username}` });
      await tenant.admin.put(`/groups/${group.id}/members/${user.id}`);
      const { body: folder } = await api.post('/folders', { name: 'Reading list' });
      await api.post(`/folders/${folder.id}/permissions`, { group_id: group.id, permission_level: 'read' });
      return `/admin/groups/${group.id}`;
    },
  ],
])('axe finds nothing on %s in light and dark, and at 400 %% zoom nothing is cut off', async (_what, pathOf) => {
  const page = await administrator(await pathOf());
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('main').locator('.c-skeleton').first().waitFor({ state: 'detached' });
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});
