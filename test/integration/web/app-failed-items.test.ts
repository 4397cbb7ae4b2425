import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { add, pageOf, pathsOf, type Person, personWith, row, select, toolbar } from './file-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

const FOLDER_IN_TRASH = 'The folder it was in is in the trash too. Restore that folder first.';
const TAKEN = 'Something else has this name now. Rename or move that, or restore this one by itself: it then gets another name.';

/** Deletes the files of this name, or those in the folder of this name. */
async function trashFile({ api }: Person, name: string): Promise<void> {
  const { data } = (await api.get('/files', { query: { limit: 200 } })).body;
  for (const file of data.filter((each: { name: string }) => each.name === name)) await api.delete(`/files/${file.id}`);
}
async function trashFolder({ api }: Person, name: string): Promise<void> {
  const { data } = (await api.get('/folders')).body;
  for (const folder of data.filter((each: { name: string }) => each.name === name)) await api.delete(`/folders/${folder.id}`);
}
const restore = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name: `Actions of ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Restore' }).click();
};
const toast = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('region', { name: 'Notifications' }).getByText(text).waitFor();

test('a file whose folder is in the trash too is restored after its folder, as the page says', async () => {
  const person = await tenant.user();
  await add(person, ['Term/essay.txt', 'Term/other.txt']);
  await trashFile(person, 'essay.txt');
  await trashFolder(person, 'Term');
  const page = await pageOf(browser, tenant, person, '/trash');
  await restore(page, 'essay.txt');
  await toast(page, `1 item failed. “essay.txt”: ${FOLDER_IN_TRASH}`);
  await row(page, 'essay.txt').waitFor();
  await restore(page, 'Term');
  await toast(page, '1 item restored');
  await row(page, 'Term').waitFor({ state: 'detached' });
  await restore(page, 'essay.txt');
  const paths = await waitFor('the file to be back', async () => {
    const now = await pathsOf(person);
    return now.length === 2 ? now : undefined;
  });
  await page.getByText('The trash is empty').waitFor();

  expect(paths).toEqual(['/Term/essay.txt', '/Term/other.txt']);
});

test('Undo of a deletion names the folder’s trash where the folder was deleted meanwhile', async () => {
  const person = await tenant.user();
  await add(person, ['Term/essay.txt']);
  const { body } = await person.api.get('/folders');
  const page = await pageOf(browser, tenant, person, `/files/${body.data[0].id}`);
  await select(page, 'essay.txt');
  await page.keyboard.press('Delete');
  await toast(page, '1 item moved to the trash');
  await trashFolder(person, 'Term');
  await page.getByRole('button', { name: 'Undo' }).click();
  await toast(page, `1 item failed. “essay.txt”: ${FOLDER_IN_TRASH}`);

  expect(await pathsOf(person)).toEqual([]);
});

test.each([
  ['a file', 'essay.txt', 'essay (1).txt'],
  ['a folder', 'Term', 'Term (1)'],
])(
  '%s that is restored by itself gets another name where its own is taken, and the page says which',
  async (what, name, other) => {
    const person = await tenant.user();
    const path = what === 'a file' ? name : `${name}/`;
    await add(person, [path]);
    await (what === 'a file' ? trashFile : trashFolder)(person, name);
    await add(person, [path]);
    const page = await pageOf(browser, tenant, person, '/trash');
    await restore(page, name);
    await toast(page, `“${name}” is restored as “${other}”: its name was taken`);
    await page.getByText('The trash is empty').waitFor();

    const { data } = (await person.api.get('/folders/root/children')).body;
    expect(data.map((each: { name: string }) => each.name).toSorted()).toEqual([name, other].toSorted());
  },
);

test('of several that are restored, those whose names are taken are named, with ways out', async () => {
  const person = await tenant.user();
  for (const name of ['a.txt', 'b.txt']) {
    await add(person, [name]);
    await trashFile(person, name);
    await add(person, [name]);
  }
  await add(person, ['c.txt']);
  await trashFile(person, 'c.txt');
  const page = await pageOf(browser, tenant, person, '/trash');
  await select(page, 'a.txt');
  await page.keyboard.press('ControlOrMeta+a');
  await toolbar(page, 'Restore').click();
  await toast(page, /^2 items failed\./);
  const said = await page.getByRole('region', { name: 'Notifications' }).innerText();

  expect(said).toContain(`“a.txt”: ${TAKEN}`);
  expect(said).toContain(`“b.txt”: ${TAKEN}`);
  expect(await pathsOf(person)).toEqual(['/a.txt', '/b.txt', '/c.txt']);
});

test('a move names the first three of those that failed, with the reason of each, and how many more', async () => {
  const names = ['0.txt', '1.txt', '2.txt', '3.txt'];
  const { page, person } = await personWith(browser, tenant, ...names, ...names.map((name) => `There/${name}`));
  await select(page, '0.txt');
  await select(page, '3.txt', ['Shift']);
  await toolbar(page, 'Move …').click();
  await page.getByRole('dialog').getByRole('button', { name: 'There' }).click();
  await page.getByText('There are no folders in here.').waitFor();
  await page.getByRole('button', { name: 'Move here' }).click();
  await toast(page, /^4 items failed\. “\d\.txt”: [^“]+ “\d\.txt”: [^“]+ “\d\.txt”: [^“]+ And 1 more\.$/);

  expect(await pathsOf(person)).toHaveLength(8);
});

test('where the reasons cannot be read, a move says how many failed, and can be undone', async () => {
  const { page, person } = await personWith(browser, tenant, '0.txt', '1.txt', 'There/0.txt');
  const items = '**/api/v1/jobs/*/items*';
  await page.route(items, (route) => route.abort());
  await select(page, '0.txt');
  await select(page, '1.txt', ['Shift']);
  await toolbar(page, 'Move …').click();
  await page.getByRole('dialog').getByRole('button', { name: 'There' }).click();
  await page.getByText('There are no folders in here.').waitFor();
  await page.getByRole('button', { name: 'Move here' }).click();
  await toast(page, /^1 item failed\.$/);
  const moved = await pathsOf(person);
  await page.unroute(items);
  await page.getByRole('button', { name: 'Undo' }).click();
  const back = await waitFor('the file to be back', async () => {
    const now = await pathsOf(person);
    return now.includes('/1.txt') ? now : undefined;
  });

  expect({ moved, back }).toEqual({
    moved: ['/0.txt', '/There/0.txt', '/There/1.txt'],
    back: ['/0.txt', '/1.txt', '/There/0.txt'],
  });
});
