import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { range, waitFor } from '../../support/wait.ts';
import { namesOn, pageOf, pathsOf, type Person, personWith, row, select, toolbar } from './file-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

/** A file of this name that somebody shares with another. */
async function share(from: Person, to: Person, name: string): Promise<void> {
  const { body } = await from.api.upload('/files', { name, file: Buffer.from(name) });
  await from.api.post(`/files/${body.id}/permissions`, { user_id: to.user.id, permission_level: 'read' });
}

const owner = (page: Page): Locator => page.getByLabel('Owner', { exact: true });
const shownOf = (page: Page, ...names: string[]): Promise<boolean> =>
  waitFor(`${names.join(', ')} alone`, async () => (await namesOn(page)).toSorted().join() === names.join());

test('a search is limited to the files of one person: of those found, or found by name or address', async () => {
  const [reader, ada, bob] = [await tenant.user(), await tenant.user(), await tenant.user()];
  await share(ada, reader, 'cells of ada.txt');
  await share(bob, reader, 'cells of bob.txt');
  await reader.api.upload('/files', { name: 'cells of mine.txt', file: Buffer.from('a') });
  const page = await pageOf(browser, tenant, reader, '/search?q=cells');
  await shownOf(page, 'cells of ada.txt', 'cells of bob.txt', 'cells of mine.txt');

  await owner(page).selectOption({ label: ada.user.username });
  await shownOf(page, 'cells of ada.txt');
  await page.getByRole('button', { name: 'Files of another person' }).click();
  const dialog = page.getByRole('dialog', { name: 'Whose files?' });
  const field = dialog.getByRole('combobox', { name: 'Find a person' });
  await waitFor('the field to have the focus', () => field.evaluate((input) => input.ownerDocument.activeElement === input));
  const faults = await axeFindings(page);
  await page.keyboard.type(bob.user.email);
  await dialog.getByRole('option', { name: bob.user.username }).waitFor();
  // Enter takes what was found for the whole text, not for its beginning.
  await dialog.getByText('1 found', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await shownOf(page, 'cells of bob.txt');
  await page.reload();
  await shownOf(page, 'cells of bob.txt');
  const chosen = await owner(page).locator('option:checked').textContent();

  expect([chosen, faults]).toEqual([bob.user.username, []]);
});

test('whoever may not look for people limits a search to the owners of what was found', async () => {
  const [ada, viewer] = [await tenant.user(), await tenant.user({ roles: ['viewer'] })];
  await share(ada, viewer, 'cells.txt');
  const page = await pageOf(browser, tenant, viewer, '/search?q=cells');
  await shownOf(page, 'cells.txt');

  expect(await owner(page).locator('option').allTextContents()).toEqual(['Any', 'Me', ada.user.username]);
  expect(await page.getByRole('button', { name: 'Files of another person' }).count()).toBe(0);
});

test('the dialog that moves finds a folder wherever it is, and shows the way to it', async () => {
  const { page, person } = await personWith(browser, tenant, 'one.txt', 'Archive/');
  const archive = (await person.api.get('/folders')).body.data[0].id;
  const { body: term } = await person.api.post('/folders', { name: 'Term', parent_id: archive });
  await person.api.post('/folders', { name: 'Cell biology', parent_id: term.id });
  await select(page, 'one.txt');
  await toolbar(page, 'Move …').click();
  const dialog = page.getByRole('dialog', { name: 'Move 1 item' });
  const search = dialog.getByRole('searchbox', { name: 'Search all folders' });
  await search.fill('nothing has this name');
  await dialog.getByText('No folder has this name.').waitFor();
  await search.fill('biology');
  await dialog.getByRole('button', { name: 'Cell biology' }).waitFor();
  const hit = await dialog.locator('mark').textContent();
  const faults = await axeFindings(page);
  await dialog.getByRole('button', { name: 'Cell biology' }).click();
  await dialog.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Term' }).waitFor();
  await dialog.getByRole('button', { name: 'Move here' }).click();
  await page.getByText('1 item moved').first().waitFor();

  expect([hit, faults, await pathsOf(person)]).toEqual(['biology', [], ['/Archive/Term/Cell biology/one.txt']]);
});

test('while the dialog that moves shows what was found, nothing goes to the folder that was open before', async () => {
  const { page, person } = await personWith(browser, tenant, 'Archive/one.txt', 'Biology/');
  await row(page, 'Archive').getByRole('link', { name: 'Archive' }).click();
  await select(page, 'one.txt');
  await toolbar(page, 'Move …').click();
  const dialog = page.getByRole('dialog', { name: 'Move 1 item' });
  const search = dialog.getByRole('searchbox', { name: 'Search all folders' });
  const buttons = [dialog.getByRole('button', { name: 'Move here' }), dialog.getByRole('button', { name: 'New folder' })];
  const areDisabled = (): Promise<boolean[]> => Promise.all(buttons.map((button) => button.isDisabled()));
  await dialog.getByRole('button', { name: 'Biology' }).waitFor();
  const before = await areDisabled();
  await search.fill('biol');
  const typed = await areDisabled();
  await dialog.getByRole('status').getByText('1 folder found. Open the one that you mean', { exact: true }).waitFor();
  const found = await areDisabled();
  await search.fill('');
  await waitFor('the buttons', async () => (await areDisabled()).join() === 'false,false');
  await search.fill('biol');
  await dialog.locator('mark').waitFor();
  await dialog.getByRole('button', { name: 'Biology' }).click();
  await dialog.getByRole('button', { name: 'Move here' }).click();
  await page.getByText('1 item moved').first().waitFor();

  expect([before, typed, found]).toEqual([
    [false, false],
    [true, true],
    [true, true],
  ]);
  expect(await pathsOf(person)).toEqual(['/Biology/one.txt']);
});

test('of 420 folders the dialog holds those near the screen alone, and reaches the last one', async () => {
  const { page, person } = await personWith(browser, tenant, 'Inbox/one.txt');
  await row(page, 'Inbox').getByRole('link', { name: 'Inbox' }).click();
  await row(page, 'one.txt').waitFor();
  const names = range(420).map((n) => `folder ${n + 1}`);
  for (let from = 0; from < names.length; from += 30)
    await Promise.all(names.slice(from, from + 30).map((name) => person.api.post('/folders', { name })));
  await select(page, 'one.txt');
  await toolbar(page, 'Move …').click();
  const dialog = page.getByRole('dialog', { name: 'Move 1 item' });
  await dialog.getByRole('button', { name: 'folder 1', exact: true }).waitFor();
  const last = dialog.getByRole('button', { name: 'folder 420', exact: true });
  const list = dialog.locator('.files-folders');
  await waitFor('the last folder', async () => {
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    return (await last.count()) === 1;
  });
  const held = await dialog.locator('.files-folders li').count();
  await last.focus();
  await page.keyboard.press('ArrowUp');
  await waitFor('the folder before it to have the focus', () =>
    page.evaluate(`document.activeElement.textContent === 'folder 419'`),
  );

  expect(held).toBeLessThan(100);
});

test('lists that are refused for too many requests come after the time that the service says', async () => {
  const { page } = await personWith(browser, tenant, 'one.txt', 'There/');
  const refused: string[] = [];
  /** Refuses the first request of this address. */
  const refuseOnce = (address: RegExp) =>
    page.route(address, (route) => {
      const { pathname } = new URL(route.request().url());
      if (refused.includes(pathname)) return route.continue();
      refused.push(pathname);
      const body = { error: 'rate_limit_exceeded', message: 'Too many requests.', request_id: 'r-1', retry_after: 1 };
      return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: body });
    });
  await refuseOnce(/\/api\/v1\/folders\?/);
  await refuseOnce(/\/api\/v1\/files\/[^/]+\/(?:access|permissions)\?/);
  await refuseOnce(/\/api\/v1\/grantees\?/);
  await select(page, 'one.txt');
  await toolbar(page, 'Move …').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'There' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await row(page, 'one.txt').getByRole('button', { name: 'Actions of one.txt' }).click();
  await page.getByRole('menuitem', { name: 'Share …' }).click();
  await dialog.getByText('Owns this').waitFor();
  await dialog.getByRole('combobox', { name: 'Name, group or e-mail address' }).fill('nobody');
  await dialog
    .getByText(/^Nobody|^You find/)
    .first()
    .waitFor();

  const lists = new Set(refused.map((path) => path.split('/').at(-1)));
  expect(lists).toEqual(new Set(['access', 'folders', 'grantees', 'permissions']));
  expect(await page.getByRole('alert').count()).toBe(0);
});
