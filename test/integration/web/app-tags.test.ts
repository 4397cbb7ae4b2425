import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { NARROW } from './app-pages.ts';
import { add, pageOf, type Person, row, select, toolbar } from './file-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

interface Tag {
  readonly id: string;
  readonly name: string;
  readonly color: string | null;
}

/** Makes a tag and puts it on these files. */
async function tag({ api }: Person, body: { name: string; color?: string }, ...files: string[]): Promise<Tag> {
  const { body: made } = await api.post('/tags', body);
  const all = (await api.get('/files', { query: { limit: 200 } })).body.data as Tag[];
  for (const { id, name } of all) if (files.includes(name)) await api.put(`/files/${id}/tags/${made.id}`);
  return made;
}

const tagsOf = async ({ api }: Person): Promise<Tag[]> => (await api.get('/tags', { query: { sort: 'name' } })).body.data;
const taggedWith = async ({ api }: Person, name: string): Promise<string[]> =>
  (await api.get('/files', { query: { tag: name } })).body.data.map((file: Tag) => file.name).toSorted();

/** Opens the list of one's tags from the filters. */
async function openTags(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Change tags' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your tags' });
  await dialog.getByRole('list').waitFor();
  return dialog;
}
const optionsOf = (page: Page): Promise<string[]> =>
  page.getByRole('group', { name: 'Filters' }).getByLabel('Tag', { exact: true }).locator('option').allTextContents();

test('a tag is taken from all selected files that have it; Undo gives it back to those, and to no others', async () => {
  const person = await tenant.user();
  await add(person, ['one.txt', 'two.txt', 'three.txt']);
  await tag(person, { name: 'Exam' }, 'one.txt', 'three.txt');
  await tag(person, { name: 'Unused' });
  const page = await pageOf(browser, tenant, person);
  await select(page, 'one.txt');
  await page.keyboard.press('ControlOrMeta+a');

  await toolbar(page, 'Remove a tag').click();
  const dialog = page.getByRole('dialog', { name: 'Remove a tag' });
  await dialog.getByRole('button', { name: 'Exam' }).waitFor();
  const unused = await dialog.getByRole('button', { name: 'Unused' }).count();
  const faults = await axeFindings(page);
  await dialog.getByRole('button', { name: 'Exam' }).click();
  await page.getByText('Tag removed from 2 files').first().waitFor();
  const removed = await taggedWith(person, 'Exam');
  await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click();
  await waitFor('the tag to be back', async () => (await taggedWith(person, 'Exam')).length === 2);

  expect([unused, faults, removed, await taggedWith(person, 'Exam')]).toEqual([0, [], [], ['one.txt', 'three.txt']]);
});

test('where no selected file has the tag, the page says so and nothing runs', async () => {
  const person = await tenant.user();
  await add(person, ['one.txt', 'two.txt', 'three.txt']);
  await tag(person, { name: 'Exam' }, 'three.txt');
  const page = await pageOf(browser, tenant, person);
  await select(page, 'one.txt');
  await select(page, 'two.txt', ['ControlOrMeta']);

  await toolbar(page, 'Remove a tag').click();
  await page.getByRole('dialog').getByLabel('Tag', { exact: true }).fill('exam');
  await page.keyboard.press('Enter');
  await page.getByText('None of these files has the tag').first().waitFor();

  expect((await person.api.get('/jobs')).body.data).toEqual([]);
  expect(await taggedWith(person, 'Exam')).toEqual(['three.txt']);
});

test.each([
  ['Remove a tag', []],
  ['Add a tag', ['one.txt', 'three.txt']],
])('a name that is entered before the tags are there counts once they are: %s', async (command, tagged) => {
  const person = await tenant.user();
  await add(person, ['one.txt', 'three.txt']);
  await tag(person, { name: 'Exam' }, ...(tagged.length === 0 ? ['one.txt', 'three.txt'] : ['three.txt']));
  const page = await pageOf(browser, tenant, person);
  const entered = Promise.withResolvers<void>();
  await page.route('**/api/v1/tags?*', async (route) => {
    await entered.promise;
    await route.continue();
  });
  await select(page, 'one.txt');
  await page.keyboard.press('ControlOrMeta+a');

  await toolbar(page, command).click();
  await page.getByRole('dialog').getByLabel('Tag', { exact: true }).fill('exam');
  await page.keyboard.press('Enter');
  entered.resolve();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await waitFor('the tag to have changed', async () => (await taggedWith(person, 'Exam')).length === tagged.length);

  expect((await tagsOf(person)).map(({ name }) => name)).toEqual(['Exam']);
  expect(await taggedWith(person, 'Exam')).toEqual(tagged);
});

test('whoever removes a tag makes none: a name that no tag has is not taken', async () => {
  const person = await tenant.user();
  await add(person, ['one.txt']);
  await tag(person, { name: 'Exam' }, 'one.txt');
  const page = await pageOf(browser, tenant, person);
  await select(page, 'one.txt');

  await toolbar(page, 'Remove a tag').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Exam' }).waitFor();
  await dialog.getByLabel('Tag', { exact: true }).fill('something else');
  await dialog.getByRole('button', { name: 'Exam' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Close' }).waitFor();

  expect((await tagsOf(person)).map(({ name }) => name)).toEqual(['Exam']);
});

test('a tag is renamed and gets a colour, which the details show beside its name', async () => {
  const person = await tenant.user();
  await add(person, ['one.txt']);
  const { id } = await tag(person, { name: 'Exma' }, 'one.txt');
  const page = await pageOf(browser, tenant, person, `/search?tag=${id}`);
  await row(page, 'one.txt').waitFor();
  const tags = await openTags(page);
  await tags.getByRole('button', { name: 'Change the tag Exma' }).click();
  const form = page.getByRole('dialog', { name: 'Change the tag Exma' });

  await form.getByLabel('Name').fill('Exam');
  await form.getByLabel('Colour').selectOption('Green');
  await form.getByRole('button', { name: 'Save' }).click();
  await tags.getByRole('button', { name: 'Change the tag Exam' }).waitFor();
  const focused = await page.evaluate<string>('document.activeElement.getAttribute("aria-label")');
  await page.keyboard.press('Escape');
  await waitFor('the filter to know the name', async () => (await optionsOf(page)).join() === 'Any,Exam');
  await row(page, 'one.txt').getByRole('button', { name: 'Actions of one.txt' }).click();
  await page.getByRole('menuitem', { name: 'Details' }).click();
  const shown = page.getByRole('region', { name: 'Tags' }).getByRole('link', { name: 'Exam' });
  await shown.waitFor();
  const colour = await page.evaluate<string>('getComputedStyle(document.querySelector(".c-tag-dot")).backgroundColor');

  expect(focused).toBe('Change the tag Exam');
  expect(colour).toBe('rgb(59, 138, 79)');
  expect((await tagsOf(person)).map(({ name, color }) => [name, color])).toEqual([['Exam', '#3b8a4f']]);
});

test('a name that another tag has is refused at the field, and a colour that a program gave stays', async () => {
  const person = await tenant.user();
  await tag(person, { name: 'Exam', color: '#123456' });
  await tag(person, { name: 'Old' });
  const page = await pageOf(browser, tenant, person, '/search');
  const tags = await openTags(page);
  await tags.getByRole('button', { name: 'Change the tag Exam' }).click();
  const form = page.getByRole('dialog', { name: 'Change the tag Exam' });
  const colour = await form.getByLabel('Colour').locator('option:checked').textContent();

  await form.getByLabel('Name').fill('OLD');
  await page.keyboard.press('Enter');
  await waitFor('the field to be marked', async () => (await form.getByLabel('Name').getAttribute('aria-invalid')) === 'true');
  await form.getByLabel('Name').fill('Exams');
  await page.keyboard.press('Enter');
  await tags.getByRole('button', { name: 'Change the tag Exams' }).waitFor();

  expect(colour).toBe('Another one (#123456)');
  expect((await tagsOf(person)).map(({ name, color }) => [name, color])).toEqual([
    ['Exams', '#123456'],
    ['Old', null],
  ]);
});

test('a tag is deleted after a question that counts its files; the filter that named it is gone, the files stay', async () => {
  const person = await tenant.user();
  await add(person, ['one.txt', 'two.txt']);
  const { id } = await tag(person, { name: 'Exam' }, 'one.txt', 'two.txt');
  await tag(person, { name: 'Old' }, 'one.txt');
  const page = await pageOf(browser, tenant, person, `/search?tag=${id}`);
  await row(page, 'two.txt').waitFor();
  const tags = await openTags(page);
  await tags.getByText('2 files').waitFor();

  await tags.getByRole('button', { name: 'Delete the tag Exam' }).click();
  const question = page.getByRole('alertdialog', { name: 'Delete the tag “Exam”?' });
  await question.getByText('2 files lose it.').waitFor();
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  const kept = (await tagsOf(person)).length;
  await tags.getByRole('button', { name: 'Delete the tag Exam' }).click();
  await question.getByRole('button', { name: 'Delete the tag', exact: true }).click();
  await tags.getByRole('button', { name: 'Delete the tag Exam' }).waitFor({ state: 'detached' });
  // The button that had the focus is gone.
  await waitFor('the focus to be in the dialog', () =>
    page.evaluate<boolean>('document.activeElement.closest("dialog") !== null'),
  );
  await page.keyboard.press('Escape');
  await page.getByText('Choose a filter').waitFor();
  await waitFor('the filter to know the tag no more', async () => (await optionsOf(page)).join() === 'Any,Old');

  expect(kept).toBe(2);
  expect((await person.api.get('/files')).body.data).toHaveLength(2);
});

test('axe finds nothing on the tags, in light, dark, more contrast and forced colours; a phone cuts nothing off', async () => {
  const person = await tenant.user();
  await tag(person, { name: 'A tag with a name that is so long that it needs more than one line', color: '#ffff00' });
  await tag(person, { name: 'Exam', color: '#000000' });
  const page = await pageOf(browser, tenant, person, '/search');
  await openTags(page);

  const found: string[] = [];
  for (const media of [
    { colorScheme: 'light' },
    { colorScheme: 'dark' },
    { colorScheme: 'light', contrast: 'more' },
    { colorScheme: 'dark', forcedColors: 'active' },
  ] as const) {
    await page.emulateMedia({ contrast: null, forcedColors: null, ...media, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});
