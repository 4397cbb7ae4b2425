import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import type { Keyboard } from '../../support/clients/keyboard.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { type Credentials, firstAdministrator } from './app.ts';
import { folderShown } from './by-keyboard.ts';

/** What people change of their files, without a mouse: the focus is seen somewhere on the page after each change. */
const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
let administrator: Credentials;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([
    demoTenant(where, { limits: { requestsPerUserPerMinute: 2_000 } }),
    openBrowser('third-party blocked'),
  ]);
  administrator = await firstAdministrator(where, tenant);
}, 180_000);

afterAll(() => browser?.close());

async function shown(name: string, files: Readonly<Record<string, string>>): Promise<[Page, Keyboard]> {
  const [page, keyboard] = await folderShown({ tenant, browser, administrator }, name, files);
  // However slow this machine is: a message with a button stays until somebody has reached it.
  await page.evaluate('{ const later = setTimeout; setTimeout = (run, ms) => later(run, ms === 12_000 ? 600_000 : ms); }');
  return [page, keyboard];
}

const said = (page: Page, text: string): Promise<void> => page.getByText(text, { exact: true }).first().waitFor();
const row = (page: Page, name: string) => page.getByRole('row', { name });
/** The paths of all files in a folder of the administrator and below it. */
async function pathsIn(folder: string): Promise<string[]> {
  const { body } = await tenant.admin.get('/files', { query: { limit: 200 } });
  const paths = body.data.map(({ path }: { path: string }) => path) as string[];
  return paths.filter((path) => path.startsWith(`/${folder}/`)).toSorted();
}

test('by keyboard alone somebody renames a file in its row, moves it by cut and paste, and pastes a copy', async () => {
  const [page, keyboard] = await shown('Moves', { 'Archive/': '', 'draft.txt': 'Draft.', 'notes.txt': 'Notes.' });
  await keyboard.tabTo('Archive');
  await keyboard.press('ArrowDown');
  await keyboard.isAt('draft.txt');
  await keyboard.press('F2');
  await page.getByLabel('New name of draft.txt').waitFor();
  await keyboard.type('discarded');
  await keyboard.press('Escape');
  await keyboard.isAt('draft.txt');
  await keyboard.press('F2');
  await page.getByLabel('New name of draft.txt').waitFor();
  await keyboard.type('essay');
  await keyboard.press('Enter');
  await keyboard.isAt('essay.txt');
  await keyboard.held('renaming');

  await keyboard.press('Control+x');
  await said(page, '1 item cut: paste it in another folder');
  await keyboard.held('cutting');
  await keyboard.press('ArrowUp');
  await keyboard.isAt('Archive');
  await keyboard.press('Enter');
  await said(page, 'This folder is empty');
  await keyboard.held('opening an empty folder');
  await keyboard.press('Control+v');
  await row(page, 'essay.txt').waitFor();
  await said(page, '1 item moved');
  await keyboard.held('pasting what was cut');

  await keyboard.tabTo('essay.txt');
  await keyboard.press('Control+c');
  await said(page, '1 item copied: paste it in a folder');
  await keyboard.held('copying');
  await keyboard.tabTo('Moves', 'Shift+Tab');
  await keyboard.press('Enter');
  await row(page, 'notes.txt').waitFor();
  await keyboard.held('going up');
  await keyboard.press('Control+v');
  await said(page, '1 item copied');
  await row(page, 'essay.txt').waitFor();
  await keyboard.held('pasting a copy');

  expect(await pathsIn('Moves')).toEqual(['/Moves/Archive/essay.txt', '/Moves/essay.txt', '/Moves/notes.txt']);
});

test('by keyboard alone somebody takes a deletion back, deletes several files, and puts them back from the trash', async () => {
  const [page, keyboard] = await shown('Bin', { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' });
  await keyboard.tabTo('a.txt');
  await keyboard.press('Delete');
  await said(page, '1 item moved to the trash');
  await keyboard.held('deleting a file');
  await keyboard.use('Undo');
  await row(page, 'a.txt').waitFor();
  await said(page, '1 item restored');
  await keyboard.held('taking it back');

  await keyboard.tabTo(/^[abc]\.txt$/);
  await keyboard.press('Home');
  await keyboard.isAt('a.txt');
  await keyboard.press('Space', 'Shift+ArrowDown');
  await said(page, '2 selected');
  await keyboard.press('Delete');
  await said(page, '2 items moved to the trash');
  await row(page, 'b.txt').waitFor({ state: 'detached' });
  await keyboard.held('deleting two files');
  const left = await pathsIn('Bin');

  await keyboard.tabTo('Trash', 'Shift+Tab');
  await keyboard.press('Enter');
  await row(page, 'b.txt').waitFor();
  await keyboard.held('going to the trash');
  await keyboard.tabTo(/^[ab]\.txt$/);
  await keyboard.press('Control+a');
  await keyboard.tabTo('Restore', 'Shift+Tab');
  await keyboard.press('Enter');
  await said(page, '2 items restored');
  await said(page, 'The trash is empty');
  await keyboard.held('putting both back');

  expect([left, await pathsIn('Bin')]).toEqual([['/Bin/c.txt'], ['/Bin/a.txt', '/Bin/b.txt', '/Bin/c.txt']]);
});

test('by keyboard alone somebody adds a tag, removes it, takes that back, and restores a former version', async () => {
  const [page, keyboard] = await shown('Labels', { 'plan.txt': 'first' });
  const { id } = (await tenant.admin.get('/files', { query: { q: 'plan.txt' } })).body.data[0];
  await tenant.admin.upload(`/files/${id}`, { method: 'PUT', name: 'plan.txt', type: 'text/plain', file: Buffer.from('second') });
  const tags = async (): Promise<string[]> =>
    (await tenant.admin.get(`/files/${id}/tags`)).body.data.map(({ name }: { name: string }) => name);
  await keyboard.tabTo('plan.txt');
  await keyboard.press('Alt+Enter');
  const details = page.getByRole('complementary', { name: 'plan.txt' });
  await details.waitFor();
  await keyboard.held('opening the details');

  await keyboard.use('Add a tag');
  await page.getByRole('dialog', { name: 'Add a tag' }).waitFor();
  await keyboard.isAt(/^Tag/);
  await keyboard.type('exam');
  await keyboard.press('Enter');
  const remove = details.getByRole('button', { name: 'Remove the tag exam' });
  await remove.waitFor();
  await keyboard.held('adding a tag');
  const added = await tags();
  await keyboard.use('Remove the tag exam');
  await said(page, 'Tag removed from 1 file');
  await remove.waitFor({ state: 'detached' });
  await keyboard.held('removing a tag');
  const removed = await tags();
  await keyboard.use('Undo');
  await remove.waitFor();
  await keyboard.held('taking that back');

  await keyboard.tabTo('Details');
  await keyboard.press('ArrowRight');
  await keyboard.isAt('Versions');
  await details.getByText('Version 2').waitFor();
  await keyboard.use('Restore');
  await details.getByText('Version 3').waitFor();
  await keyboard.held('restoring a version');
  await keyboard.tabTo('Close the details', 'Shift+Tab');
  await keyboard.press('Enter');
  await details.waitFor({ state: 'detached' });
  await keyboard.held('closing the details');

  expect([added, removed, await tags()]).toEqual([['exam'], [], ['exam']]);
  expect((await tenant.admin.get(`/files/${id}/download`)).bytes.toString()).toBe('first');
});

test('by keyboard alone somebody is asked before the trash is emptied, keeps it, and then empties it', async () => {
  const [page, keyboard] = await shown('Waste', { 'old.txt': 'old', 'plan.txt': 'plan' });
  const trashed = async (): Promise<string[]> =>
    (await tenant.admin.get('/trash')).body.data.map(({ name }: { name: string }) => name);
  await keyboard.tabTo('old.txt');
  await keyboard.press('Delete');
  await said(page, '1 item moved to the trash');
  await row(page, 'old.txt').waitFor({ state: 'detached' });
  await keyboard.tabTo('Trash', 'Shift+Tab');
  await keyboard.press('Enter');
  await row(page, 'old.txt').waitFor();
  await keyboard.held('going to the trash');

  const question = page.getByRole('alertdialog', { name: 'Empty the trash?' });
  await keyboard.use('Empty the trash');
  await question.waitFor();
  await keyboard.isAt('Cancel');
  await keyboard.press('Enter');
  await question.waitFor({ state: 'detached' });
  await keyboard.isAt('Empty the trash');
  const kept = await trashed();
  await keyboard.press('Enter');
  await question.waitFor();
  await keyboard.use('Empty the trash');
  await said(page, 'The trash is empty');
  await question.waitFor({ state: 'detached' });
  await keyboard.held('emptying the trash');

  expect([kept, await trashed()]).toEqual([['old.txt'], []]);
});
