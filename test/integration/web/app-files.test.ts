import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { range, waitFor } from '../../support/wait.ts';
import { isTypedInto } from './app-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

type Person = Awaited<ReturnType<typeof tenant.user>>;

/** A person with these files (`folder/name` in a folder), and a page on which they are signed in. */
async function personWith(...paths: string[]): Promise<{ person: Person; page: Page }> {
  const person = await tenant.user();
  await add(person, paths);
  return { person, page: await pageOf(person) };
}

async function add({ api }: Person, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const [folder, name] = path.includes('/') ? path.split('/') : [undefined, path];
    const made = folder && (await api.post('/folders', { name: folder, on_conflict: 'reuse' })).body;
    if (name) await api.upload('/files', { name, file: Buffer.from(name), fields: made ? { folder_id: made.id } : {} });
  }
}

async function pageOf({ user, password }: Person, path = '/'): Promise<Page> {
  const page = await browser.page();
  await page.context().clearCookies();
  await page.goto(`${tenant.url}${path}`);
  await page.getByLabel('E-mail address').fill(user.email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  return page;
}

const row = (page: Page, name: string): Locator => page.getByRole('row', { name: new RegExp(name) });
/** The cell of a name, beside the name itself: a click there selects. */
const select = (page: Page, name: string, modifiers: ('Shift' | 'ControlOrMeta')[] = []): Promise<void> =>
  row(page, name)
    .getByRole('gridcell')
    .last()
    .click({ modifiers, position: { x: 2, y: 2 } });
const namesOn = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('[role=rowheader] .files-open')].map((name) => name.textContent)`);

test('folders come first, a heading sorts, and Enter goes into a folder and Back out of it', async () => {
  const { page } = await personWith('file10', 'file2', 'B/inside', 'A/');
  await row(page, 'file10').waitFor();
  const byName = await namesOn(page);
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
  await waitFor('the opposite order', async () => (await namesOn(page))[0] === 'B');
  const reversed = await namesOn(page);
  await select(page, 'B');
  await page.keyboard.press('Enter');
  await row(page, 'inside').waitFor();
  await page.goBack();
  await row(page, 'file10').waitFor();

  expect([byName, reversed]).toEqual([
    ['A', 'B', 'file2', 'file10'],
    ['B', 'A', 'file10', 'file2'],
  ]);
});

test('a file is renamed in its place by keyboard, and a name that is taken is said there', async () => {
  const { page } = await personWith('essay.txt', 'other.txt');
  await select(page, 'essay.txt');
  await page.keyboard.press('F2');
  await page.keyboard.type('thesis');
  await page.keyboard.press('Enter');
  await waitFor('the focus to return to the new name', () =>
    page.evaluate(`document.activeElement.textContent === 'thesis.txt'`),
  );

  await page.keyboard.press('F2');
  await page.keyboard.type('other');
  await page.keyboard.press('Enter');
  await page.getByText('The name is taken in this folder').first().waitFor();
  await page.keyboard.press('Escape');

  await waitFor('both names', async () => (await namesOn(page)).join() === 'other.txt,thesis.txt');
});

test('a name that somebody types stays a field while others change the folder', async () => {
  const { page, person } = await personWith('mine.txt', 'zebra.txt');
  await select(page, 'mine.txt');
  await page.keyboard.press('F2');
  await page.keyboard.type('half a na');
  await add(person, ['a new one.txt']);
  const { body } = await person.api.get('/files', { query: { q: 'zebra' } });
  await person.api.patch(`/files/${body.data[0].id}`, { name: 'aardvark.txt' });
  await page.waitForResponse((reply) => reply.url().includes('/children') && reply.status() === 200);

  await page.keyboard.type('me');
  await page.keyboard.press('Enter');

  await waitFor('the names of all', async () => (await namesOn(page)).join() === 'a new one.txt,aardvark.txt,half a name.txt');
});

test('several files go to the trash, come back by Undo, and leave for ever from there', async () => {
  const { page, person } = await personWith('a.txt', 'b.txt', 'c.txt');
  await select(page, 'a.txt');
  await select(page, 'b.txt', ['Shift']);
  await page.keyboard.press('Delete');
  await page.getByText('2 items moved to the trash').first().waitFor();
  const left = await namesOn(page);
  await page.getByRole('button', { name: 'Undo' }).click();
  await row(page, 'b.txt').waitFor();

  await select(page, 'c.txt');
  await page.keyboard.press('Delete');
  await page.getByText('1 item moved to the trash').first().waitFor();
  await page.getByRole('link', { name: 'Trash' }).click();
  await select(page, 'c.txt');
  await page.getByRole('toolbar').getByRole('button', { name: 'Delete for ever' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete for ever' }).click();
  await page.getByText('The trash is empty').waitFor();

  const { body } = await person.api.get('/files', { query: { sort: 'name' } });
  expect([left, body.data.map(({ name }: { name: string }) => name)]).toEqual([['c.txt'], ['a.txt', 'b.txt']]);
});

test('files are moved by cut and paste, by a dialog, and by dragging them onto a folder', async () => {
  const { page, person } = await personWith('one.txt', 'two.txt', 'three.txt', 'There/');
  await select(page, 'one.txt');
  await page.keyboard.press('ControlOrMeta+x');
  await select(page, 'There');
  await page.keyboard.press('Enter');
  await page.getByText('This folder is empty').waitFor();
  await page.keyboard.press('ControlOrMeta+v');
  await row(page, 'one.txt').waitFor();

  await page.goBack();
  await select(page, 'two.txt');
  await page.getByRole('toolbar').getByRole('button', { name: 'Move …' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'There' }).click();
  await page.getByText('There are no folders in here.').waitFor();
  await page.getByRole('button', { name: 'Move here' }).click();
  await row(page, 'two.txt').waitFor({ state: 'detached' });

  await row(page, 'three.txt').dragTo(row(page, 'There'));
  await row(page, 'three.txt').waitFor({ state: 'detached' });

  await waitFor('the third file to be there', async () => {
    const { body } = await person.api.get('/search', { query: { q: 'txt' } });
    return body.data.every(({ path }: { path: string }) => path.startsWith('/There/'));
  });
});

test('another language changes the words of a list, and leaves what is selected', async () => {
  const { page } = await personWith('a.txt', 'b.txt');
  await select(page, 'b.txt');
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click();
  await page.getByRole('columnheader', { name: 'Geändert' }).waitFor();
  const selected = await page.getByRole('row', { selected: true }).getByRole('rowheader').textContent();
  await page.evaluate('localStorage.clear()');

  expect(selected).toBe('b.txt');
});

test('in the search, Ctrl+V pastes text as anywhere else, and no file that was copied', async () => {
  const { page, person } = await personWith('one.txt');
  await select(page, 'one.txt');
  await page.keyboard.press('ControlOrMeta+c');
  await page.getByText('1 item copied').first().waitFor();
  const search = page.getByRole('searchbox', { name: 'Search files' });
  await search.fill('one');
  await search.press('ControlOrMeta+a');
  await search.press('ControlOrMeta+c');
  await search.press('End');

  await search.press('ControlOrMeta+v');

  await waitFor('the text to be there', async () => (await search.inputValue()) === 'oneone');
  await page.getByText('Nothing was found').first().waitFor();
  const { body } = await person.api.get('/files', { query: { sort: 'name' } });
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['one.txt']);
});

test('two people in one folder see each other’s changes within some seconds, without a reload', async () => {
  const { page, person } = await personWith('first.txt');
  await row(page, 'first.txt').waitFor();

  await add(person, ['second.txt']);

  await row(page, 'second.txt').waitFor({ timeout: 30_000 });
  expect(await namesOn(page)).toEqual(['first.txt', 'second.txt']);
});

test('of 450 files the last one is reached by End, and all are selected by one key', async () => {
  const person = await tenant.user();
  const names = range(450).map((n) => `file ${n + 1}.txt`);
  for (let from = 0; from < names.length; from += 30)
    await Promise.all(names.slice(from, from + 30).map((n) => add(person, [n])));
  const page = await pageOf(person);
  await select(page, 'file 1.txt');
  const countLine = (): Promise<string | null> => page.locator('.files-count').textContent();
  const before = await countLine();
  await page.getByRole('button', { name: 'Pictures', exact: true }).click();
  await page.locator('.files-card').first().waitFor();
  const cards = await page.locator('.files-card').count();
  await page.getByRole('button', { name: 'List', exact: true }).click();
  await select(page, 'file 1.txt');

  await page.keyboard.press('End');
  await row(page, 'file 450.txt').waitFor();
  await waitFor('the last file to have the focus', () => page.evaluate(`document.activeElement.textContent === 'file 450.txt'`));
  const rendered = await page.locator('.c-grid-body > tr').count();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await page.getByText('450 items moved to the trash').first().waitFor();

  expect([before, rendered < 60, cards < 200]).toEqual(['200 items are loaded, more follow', true, true]);
  await page.getByText('This folder is empty').waitFor();
});

test('the keyboard goes through pictures in two directions, finds one by letters, selects, and opens', async () => {
  const { page } = await personWith('Atlas/inside.txt', ...range(12).map((n) => `file ${n + 10}.txt`), 'zebra.txt');
  await page.getByRole('button', { name: 'Pictures', exact: true }).click();
  await row(page, 'zebra.txt').waitFor();
  const focused = (): Promise<string> => page.evaluate(`document.activeElement.querySelector('.files-open')?.textContent`);
  const press = async (key: string, name: string): Promise<void> => {
    await page.keyboard.press(key);
    await waitFor(`${name} to have the focus after ${key}`, async () => (await focused()) === name);
  };
  const columns = await page.evaluate<number>(
    `getComputedStyle(document.querySelector('.files-cards')).gridTemplateColumns.split(' ').length`,
  );
  await page.getByRole('gridcell').first().focus();
  await press('ArrowRight', 'file 10.txt');
  await press('ArrowRight', 'file 11.txt');
  await press('ArrowLeft', 'file 10.txt');
  await press('Home', 'Atlas');
  await press('ArrowDown', `file ${columns + 9}.txt`);
  await press('ArrowUp', 'Atlas');
  await press('End', 'zebra.txt');
  await press('Home', 'Atlas');
  await press('ArrowRight', 'file 10.txt');
  await page.keyboard.press(' ');
  await page.keyboard.press('Shift+ArrowRight');
  await page.getByRole('toolbar').getByText('2 selected').waitFor();
  const selected = await page.locator('[role=row][aria-selected=true]').count();
  await page.keyboard.press('Escape');
  await page.getByRole('toolbar').waitFor({ state: 'detached' });
  await press('z', 'zebra.txt');
  await press('Home', 'Atlas');
  await page.keyboard.press('Enter');
  await row(page, 'inside.txt').waitFor();
  await page.evaluate('localStorage.clear()');

  expect(selected).toBe(2);
});

test('a batch whose progress cannot be read for a moment is followed to its end', async () => {
  const { page } = await personWith('gone.txt');
  let lost = 0;
  await page.route('**/api/v1/jobs/*', (route) => {
    lost += 1;
    return lost === 1 ? route.abort() : route.continue();
  });
  await select(page, 'gone.txt');
  await page.keyboard.press('Delete');
  await page.getByText('1 item moved to the trash').first().waitFor();

  expect(lost).toBeGreaterThan(1);
});

test('what somebody has gone to outside of the pictures keeps the focus when the folder changes', async () => {
  const { page, person } = await personWith('first.txt');
  await page.getByRole('button', { name: 'Pictures', exact: true }).click();
  await page.getByRole('gridcell').first().focus();
  // As when the window loses the focus: it goes to nothing in particular.
  await page.evaluate('document.activeElement.blur()');
  await page.getByRole('button', { name: 'New folder' }).focus();
  await add(person, ['second.txt']);
  await row(page, 'second.txt').waitFor();
  const focused = await page.evaluate('document.activeElement.textContent');
  await page.evaluate('localStorage.clear()');

  expect(focused).toBe('New folder');
});

test('a search shows its hits as one types, narrows by filters, and survives a reload', async () => {
  const { page } = await personWith('Notes/report on cells.txt', 'cells.png', 'other.txt');
  await page.getByRole('searchbox', { name: 'Search files' }).waitFor();
  await page.keyboard.press('/');
  // Slower than the pause after which a search begins: the page of the search opens after the first letter.
  await page.keyboard.type('cells', { delay: 300 });
  await row(page, 'report on cells').waitFor();
  // The rows of the word's beginning are there before those of the word.
  await waitFor('the whole word to be marked in both names', async () => {
    const hits = await page.evaluate<string[]>(`[...document.querySelectorAll('mark')].map((hit) => hit.textContent)`);
    return hits.join() === 'cells,cells';
  });
  await page.getByLabel('Kind').selectOption('Text');
  await row(page, 'cells.png').waitFor({ state: 'detached' });
  await page.reload();
  await row(page, 'report on cells').waitFor();

  expect(await namesOn(page)).toEqual(['report on cells.txt']);
});

test('the button that clears the search leaves the focus in its field', async () => {
  const { page } = await personWith('one.txt', 'two.txt');
  const field = page.getByRole('searchbox', { name: 'Search files' });
  await field.fill('one');
  await page.getByRole('heading', { name: 'Results for “one”' }).waitFor();
  await page.getByRole('button', { name: 'Clear the search' }).click();
  await row(page, 'two.txt').waitFor();

  expect([await field.inputValue(), await isTypedInto(field)]).toEqual(['', true]);
});

test.each([
  ['is no id', 'nothing'],
  ['no folder has', '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11'],
])('an address that %s says once that there is no such folder, and leads to the files', async (_what, id) => {
  const person = await tenant.user();
  await add(person, ['one.txt']);
  const page = await pageOf(person, `/files/${id}`);
  await page.getByRole('heading', { name: 'There is no such folder' }).waitFor();
  const alerts = await page.getByRole('alert').count();
  await waitFor('the tab to be named so', async () => (await page.title()).startsWith('There is no such folder – '));
  await page.getByRole('link', { name: 'Go to your files' }).click();

  await row(page, 'one.txt').waitFor();
  expect(alerts).toBe(0);
});

test('the details of a file show its versions, and a former one becomes the current one', async () => {
  const { page, person } = await personWith('plan.txt');
  await person.api.upload('/files', { name: 'plan.txt', file: Buffer.from('new'), fields: { on_conflict: 'replace' } });
  await page.reload();
  await select(page, 'plan.txt');
  await page.keyboard.press('Alt+Enter');
  await page.getByRole('tab', { name: 'Versions' }).click();
  await page.getByRole('tabpanel').getByRole('button', { name: 'Restore' }).click();

  await page.getByText('Version 3').waitFor();
  await page.getByRole('tab', { name: 'Access' }).click();
  await page.getByRole('tabpanel').getByText('May share').waitFor();
  await page.getByRole('tabpanel').getByRole('button', { name: 'Share …' }).click();
  await page.getByRole('dialog', { name: 'Share “plan.txt”' }).waitFor();
});

/** CSS pixels: 1280 at 400 % zoom (WCAG 2.2, 1.4.10). */
const NARROW = { width: 320, height: 640 };

test.each([
  ['a list with something selected', '/', async (page: Page) => select(page, 'a.txt')],
  ['the pictures', '/', async (page: Page) => page.getByRole('button', { name: 'Pictures', exact: true }).click()],
  ['the menu of a file', '/', async (page: Page) => row(page, 'a.txt').getByRole('button', { name: 'Actions of a.txt' }).click()],
  ['the files of the trash', '/trash', async (page: Page) => page.getByText('The trash is empty').waitFor()],
  ['what others share', '/shared', async (page: Page) => page.getByText('Nobody has shared').waitFor()],
  ['recent files', '/recent', async (page: Page) => row(page, 'a.txt').waitFor()],
  ['a search', '/search?q=txt', async (page: Page) => row(page, 'a.txt').waitFor()],
  ['the components', '/design', async (page: Page) => page.getByRole('heading', { name: 'Components' }).waitFor()],
])('axe finds nothing on %s in light and dark, and at 400 %% zoom nothing is cut off', async (_what, path, reach) => {
  const person = await tenant.user();
  await add(person, ['Folder/inside.txt', 'a.txt', 'A name that is so long that no phone can show it whole in one line.pdf']);
  const page = await pageOf(person, path);
  await reach(page);

  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  // A phone has other columns, which come a moment later.
  await fits(page);

  // A button without its text on the screen still has a name.
  found.push(...(await axeFindings(page)));

  await page.evaluate('localStorage.clear()');
  expect(found).toEqual([]);
});
