import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { range, waitFor } from '../../support/wait.ts';
import { NARROW } from './app-pages.ts';
import { add, namesOn, pageOf, type Person, row, toolbar } from './file-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

interface Item {
  readonly id: string;
  readonly name: string;
}

/** All files of a person, by name. */
const filesOf = async ({ api }: Person): Promise<Map<string, Item>> =>
  new Map((await api.get('/files', { query: { limit: 200 } })).body.data.map((file: Item) => [file.name, file]));

/** Makes a tag and puts it on these files. */
async function tag(person: Person, name: string, ...files: string[]): Promise<Item> {
  const { body } = await person.api.post('/tags', { name });
  const all = await filesOf(person);
  for (const file of files) await person.api.put(`/files/${all.get(file)?.id}/tags/${body.id}`);
  return body;
}

const filter = (page: Page, label: string): Locator =>
  page.getByRole('group', { name: 'Filters' }).getByLabel(label, { exact: true });
const shows = (page: Page, ...names: string[]): Promise<unknown> =>
  waitFor(`${names.join(', ')} alone`, async () => (await namesOn(page)).join() === names.join());
const wayToFilters = (page: Page): Locator => page.getByRole('main').getByRole('link', { name: 'Filter', exact: true });
const heading = (page: Page): Promise<string | null> => page.getByRole('heading', { level: 1 }).textContent();

test('from a folder, Filter shows what is in it and below, and narrows it without words; Back returns there', async () => {
  const person = await tenant.user();
  await add(person, ['Field course/map.png', 'Field course/notes.txt', 'other.txt']);
  const page = await pageOf(browser, tenant, person);
  await row(page, 'Field course').getByRole('link', { name: 'Field course' }).click();
  await row(page, 'notes.txt').waitFor();

  await wayToFilters(page).click();
  await waitFor('what is in the folder', async () => (await namesOn(page)).toSorted().join() === 'map.png,notes.txt');
  const name = await heading(page);
  await filter(page, 'Kind').selectOption('Text');
  await shows(page, 'notes.txt');
  await filter(page, 'Where').selectOption('Everywhere');
  await shows(page, 'other.txt', 'notes.txt');
  await page.goBack();
  await row(page, 'map.png').waitFor();

  expect(name).toBe('Filtered files');
});

test('from Recent, by keyboard alone, Filter says what to do before anything is chosen, and asks for nothing', async () => {
  const person = await tenant.user();
  await add(person, ['a.txt']);
  const page = await pageOf(browser, tenant, person, '/recent');
  await row(page, 'a.txt').waitFor();
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/api/v1/search')) asked.push(request.url());
  });

  await wayToFilters(page).focus();
  await page.keyboard.press('Enter');
  await waitFor('the tab to be named so', async () => (await page.title()).startsWith('Filtered files – '));
  await page.getByText('Choose a filter').waitFor();
  const before = [...asked];
  const faults = await axeFindings(page);
  await filter(page, 'Kind').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await shows(page, 'a.txt');
  await waitFor('the count to be said', async () =>
    (await page.getByRole('status').allTextContents()).some((said) => said.trim() === '1 item'),
  );
  const kind = await filter(page, 'Kind').locator('option:checked').textContent();

  expect([before, faults, kind]).toEqual([[], [], 'Text']);
});

test('a tag in the details leads to all files with it, on a wide screen and on a phone, where the details make way', async () => {
  const person = await tenant.user();
  await add(person, ['one.txt', 'two.txt', 'three.txt', 'Folder/four.txt']);
  await tag(person, 'Exam', 'one.txt', 'four.txt');
  for (const viewport of [{ width: 1400, height: 900 }, NARROW]) {
    const page = await pageOf(browser, tenant, person);
    await page.setViewportSize(viewport);
    await page.getByRole('button', { name: 'Actions of one.txt' }).click();
    await page.getByRole('menuitem', { name: 'Details' }).click();
    await page.getByRole('region', { name: 'Tags' }).getByRole('link', { name: 'Exam' }).click();
    await waitFor('both tagged files', async () => (await namesOn(page)).toSorted().join() === 'four.txt,one.txt');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    expect(await filter(page, 'Tag').locator('option:checked').textContent()).toBe('Exam');
    await page.close();
  }
});

test('words narrow what is filtered; without them again, the filters stay, also after a reload', async () => {
  const person = await tenant.user();
  await add(person, ['cells.txt', 'plan.txt', 'cells.png']);
  const page = await pageOf(browser, tenant, person, '/search?kind=text%2F*');
  await shows(page, 'plan.txt', 'cells.txt');

  const field = page.getByRole('searchbox', { name: 'Search files' });
  await field.fill('cells');
  await shows(page, 'cells.txt');
  const withWords = await heading(page);
  await page.getByRole('button', { name: 'Clear the search' }).click();
  await shows(page, 'plan.txt', 'cells.txt');
  await page.reload();
  await shows(page, 'plan.txt', 'cells.txt');

  expect([withWords, await heading(page), new URL(page.url()).search]).toEqual([
    'Results for “cells”',
    'Filtered files',
    '?kind=text%2F*',
  ]);
});

test('whoever opened a search by its address and empties it stays there, and reads what to choose', async () => {
  const person = await tenant.user();
  await add(person, ['cells.txt']);
  const page = await pageOf(browser, tenant, person, '/search?q=cells');
  await shows(page, 'cells.txt');

  await page.getByRole('button', { name: 'Clear the search' }).click();
  await page.getByText('Choose a filter').waitFor();

  expect(new URL(page.url()).pathname).toBe('/search');
});

test('all that a tag finds is selected at once, beyond the first page, and goes to the trash together', async () => {
  const person = await tenant.user();
  const names = range(60).map((n) => `file ${n}.txt`);
  await add(person, [...names, 'stays.txt']);
  const { id } = await tag(person, 'Old', ...names);
  const page = await pageOf(browser, tenant, person, `/search?tag=${id}`);
  await row(page, 'file 59.txt').waitFor();

  await page.getByRole('checkbox', { name: 'Select all' }).click();
  await toolbar(page, 'Delete').click();
  await page.getByText('60 items moved to the trash').first().waitFor();
  await page.getByText('Nothing was found').first().waitFor();

  expect([...(await filesOf(person)).keys()]).toEqual(['stays.txt']);
});

test('a filter that is chosen before the search for new words has begun stays chosen', async () => {
  const person = await tenant.user();
  await add(person, ['cells.txt', 'cells.png', 'other.txt']);
  const page = await pageOf(browser, tenant, person, '/search?kind=image%2F*');
  await shows(page, 'cells.png');
  // The pause before a search begins is as long as the test needs to choose.
  await page.evaluate('{ const later = setTimeout; setTimeout = (run, ms) => later(run, ms === 250 ? 3_000 : ms); }');
  await page.getByRole('searchbox', { name: 'Search files' }).fill('cells');
  await filter(page, 'Kind').selectOption('Text');
  await shows(page, 'cells.txt');

  expect(new URL(page.url()).search).toBe('?kind=text%2F*&q=cells');
});

test('the address of a tag that is gone says so, and finds nothing', async () => {
  const person = await tenant.user();
  await add(person, ['a.txt']);
  const { id } = await tag(person, 'Exam', 'a.txt');
  await person.api.delete(`/tags/${id}`);
  const page = await pageOf(browser, tenant, person, `/search?tag=${id}`);
  await page.getByText('Nothing was found').first().waitFor();
  // The filter comes with the tags, which are asked for at the same time.
  await filter(page, 'Tag').waitFor();
  const options = await filter(page, 'Tag').locator('option').allTextContents();

  await filter(page, 'Tag').selectOption('Any');
  await page.getByText('Choose a filter').waitFor();
  expect(options).toEqual(['Any', 'Unknown tag']);
});

test('in German too the filters are found, and say what to do', async () => {
  const person = await tenant.user();
  const page = await pageOf(browser, tenant, person);
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click();
  await page.getByRole('main').getByRole('link', { name: 'Filtern', exact: true }).click();
  await page.getByText('Wählen Sie einen Filter').waitFor();
  await waitFor('the tab to be named so', async () => (await page.title()).startsWith('Gefilterte Dateien – '));
  const name = await heading(page);
  await page.evaluate('localStorage.clear()');

  expect(name).toBe('Gefilterte Dateien');
});

test.each([
  ['before anything is chosen', '/search', async (page: Page) => page.getByText('Choose a filter').waitFor()],
  ['with what it found', '/search?kind=text%2F*', async (page: Page) => row(page, 'a.txt').waitFor()],
])(
  'axe finds nothing on the filters %s, in light and dark, and at 400 %% zoom nothing is cut off',
  async (_when, path, reach) => {
    const person = await tenant.user();
    await add(person, ['a.txt', 'A name that is so long that no phone can show it whole in one line.txt']);
    await tag(person, 'A tag with a name that is long too', 'a.txt');
    const page = await pageOf(browser, tenant, person, path);
    await reach(page);

    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      found.push(...(await axeFindings(page)));
    }
    await page.setViewportSize(NARROW);
    await fits(page);

    expect(found).toEqual([]);
  },
);
