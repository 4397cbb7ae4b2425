import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { Keyboard } from '../../support/clients/keyboard.ts';
import { zipBytes } from '../../support/data/zip-bytes.ts';
import type { DemoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addressOf, type Credentials, firstAdministrator, openAs, tenantWithHelpers } from './app.ts';
import { folderShown } from './by-keyboard.ts';

/** Nobody here has a mouse: whatever a test presses, the focus is seen somewhere on the page afterwards. */
const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
let administrator: Credentials;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([tenantWithHelpers(where), openBrowser('third-party blocked')]);
  administrator = await firstAdministrator(where, tenant);
  await tenant.admin.post('/users', {
    email: 'grace@example.org',
    username: 'grace',
    display_name: 'Grace Okoro',
    roles: ['member'],
    password: 'four unrelated words',
  });
}, 180_000);

afterAll(() => browser?.close());

const shown = (name: string, files: Readonly<Record<string, string | Buffer>>): Promise<[Page, Keyboard]> =>
  folderShown({ tenant, browser, administrator }, name, files);

test('by keyboard alone somebody signs in, makes folders, opens one, uploads into it, and renames and moves a file', async () => {
  const page = await browser.page();
  await page.addInitScript('window.showOpenFilePicker = undefined');
  const keyboard = new Keyboard(page);
  const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
  await page.goto(addressOf(tenant, '/files'));
  await keyboard.isAt(/^E-mail address/);
  await keyboard.type(administrator.email);
  await keyboard.press('Tab');
  await keyboard.type(administrator.password);
  await keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Path' }).waitFor();
  await keyboard.held('signing in');

  for (const name of ['Archive', 'Reports']) {
    await keyboard.use('New folder');
    await page.getByRole('dialog', { name: 'New folder' }).waitFor();
    await keyboard.type(name);
    await keyboard.press('Enter');
    await row(name).waitFor();
    await keyboard.isAt('New folder');
  }
  await keyboard.tabTo('Archive');
  await keyboard.press('ArrowDown');
  await keyboard.isAt('Reports');
  await keyboard.press('Enter');
  await page.getByText('This folder is empty').waitFor();
  await keyboard.held('opening an empty folder');

  const choosing = page.waitForEvent('filechooser');
  await keyboard.use('Upload');
  await keyboard.choose('Upload files');
  const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(`This is ${name}.`) });
  await (await choosing).setFiles([file('notes.txt'), file('plan.txt')]);
  await page.getByRole('region', { name: 'Uploads' }).getByText('2 files uploaded').waitFor();
  await row('notes.txt').waitFor();
  await keyboard.held('uploading');

  await keyboard.tabTo('notes.txt');
  await keyboard.press('F2');
  await page.getByLabel('New name of notes.txt').waitFor();
  await keyboard.type('lesson');
  await keyboard.press('Enter');
  await keyboard.isAt('lesson.txt');
  await keyboard.press('Shift+F10');
  await keyboard.choose('Move …');
  const dialog = page.getByRole('dialog', { name: 'Move 1 item' });
  await dialog.getByRole('button', { name: 'Archive' }).waitFor();
  await keyboard.use('Archive');
  await dialog.getByText('There are no folders in here.').waitFor();
  await keyboard.held('going into a folder of the dialog');
  await keyboard.use('Move here');
  // The row goes at once, the file a moment later.
  await page.getByText('1 item moved').first().waitFor();
  await keyboard.held('moving a file');

  await keyboard.use('My files');
  await row('Archive').waitFor();
  await keyboard.held('going up');
  await keyboard.tabTo('Archive');
  await keyboard.press('Enter');
  await keyboard.isAt('lesson.txt');
});

test('by keyboard alone somebody shares a file, looks at it and its details, deletes, restores and finds it', async () => {
  const [page, keyboard] = await shown('Shared', { 'essay.txt': 'An essay.' });
  await keyboard.tabTo('essay.txt');
  await keyboard.press('Shift+F10');
  await keyboard.choose('Share …');
  const dialog = page.getByRole('dialog', { name: 'Share “essay.txt”' });
  await dialog.getByText('Owns this').waitFor();
  await keyboard.tabTo('Name, group or e-mail address');
  await keyboard.type('Grace');
  await dialog.getByRole('option', { name: /Grace Okoro/ }).waitFor();
  // Enter takes what was found for the whole text, not for its beginning.
  await dialog.getByText('1 found', { exact: true }).waitFor();
  await keyboard.press('Enter');
  await dialog.getByLabel('What Grace Okoro may do').waitFor();
  await keyboard.held('giving access');
  await keyboard.use('New link');
  await dialog.getByRole('button', { name: 'Make link' }).waitFor();
  await keyboard.held('beginning a link');
  await keyboard.use('Make link');
  await keyboard.isAt('Copy link');
  await keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await keyboard.isAt('essay.txt');

  await keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'essay.txt' }).getByText('An essay.').waitFor();
  await keyboard.held('opening a file');
  await keyboard.press('Escape');
  await keyboard.isAt('essay.txt');

  await keyboard.press('Alt+Enter');
  await page.getByRole('complementary', { name: 'essay.txt' }).waitFor();
  await keyboard.held('opening the details');
  await keyboard.tabTo('Details');
  await keyboard.press('ArrowRight');
  await keyboard.isAt('Versions');
  await page.getByRole('tabpanel').getByText('Version 1').waitFor();
  await keyboard.press('ArrowRight');
  await keyboard.isAt('Access');
  await page.getByRole('tabpanel').getByText('Grace Okoro').waitFor();
  await keyboard.held('looking at who has access');
  await keyboard.tabTo('Close the details', 'Shift+Tab');
  await keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'essay.txt' }).waitFor({ state: 'detached' });
  await keyboard.held('closing the details');

  await keyboard.tabTo('essay.txt');
  await keyboard.press('Delete');
  await page.getByText('This folder is empty').waitFor();
  await keyboard.held('deleting the last file');
  await keyboard.press('m');
  await keyboard.use('Trash');
  await page.getByRole('row', { name: /essay\.txt/ }).waitFor();
  await keyboard.held('going to the trash');
  await keyboard.tabTo('essay.txt');
  await keyboard.press('Shift+F10');
  await keyboard.choose('Restore');
  await Promise.all([page.getByText('1 item restored').first().waitFor(), page.getByText('The trash is empty').waitFor()]);
  await keyboard.held('restoring the last file');
  await keyboard.press('/');
  await keyboard.isAt('Search files');
  await keyboard.type('essay');
  await page.getByRole('row', { name: /essay\.txt/ }).waitFor();
  await keyboard.isAt('Search files');
  await keyboard.tabTo(/^Kind/);
  await keyboard.held('going to the filters');
  await keyboard.tabTo('essay.txt');
  await keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'essay.txt' }).getByText('An essay.').waitFor();
  await keyboard.press('Escape');
  await keyboard.isAt('essay.txt');

  const { body } = await tenant.admin.get('/files', { query: { q: 'essay' } });
  const { body: links } = await tenant.admin.get(`/files/${body.data[0].id}/shares`);
  const { body: grants } = await tenant.admin.get(`/files/${body.data[0].id}/permissions`);
  expect([links.data.length, grants.data.length]).toEqual([1, 1]);
});

test('by keyboard alone somebody translates a text, unpacks an archive, and looks at its job', async () => {
  const archive = zipBytes(range(3).map((n) => ({ name: `week ${n}.txt`, content: `Plan ${n}.` })));
  const [page, keyboard] = await shown('Work', { 'a.txt': 'The teacher reads a book.', 'course.zip': archive });
  await keyboard.tabTo('a.txt');
  await keyboard.press('Shift+F10');
  await keyboard.choose('Translate …');
  const dialog = page.getByRole('dialog', { name: 'Translate “a.txt”' });
  const into = dialog.getByLabel('Into');
  await into.waitFor();
  await keyboard.tabTo(/^Into/);
  await keyboard.pick(into, 'es');
  await keyboard.use('Translate');
  await waitFor('the translation', async () => /profesor/.test(await dialog.getByLabel('Translation').inputValue()));
  await keyboard.held('translating');
  await keyboard.use('Save as a new file');
  await page.getByRole('row', { name: /a \(es\)\.txt/ }).waitFor();
  await keyboard.held('saving the translation');

  await keyboard.tabTo('a.txt');
  await keyboard.press('End');
  await keyboard.isAt('course.zip');
  await keyboard.press('Shift+F10');
  await keyboard.choose('Unpack here …');
  await page.getByRole('dialog', { name: 'Unpack “course.zip”' }).waitFor();
  await keyboard.use('Unpack');
  await page.getByText('“course.zip” is unpacked: 3 files.').waitFor();
  await keyboard.held('unpacking');
  await keyboard.use('Jobs');
  await page
    .getByRole('main')
    .getByRole('link', { name: /Unpack/ })
    .first()
    .waitFor();
  await keyboard.held('going to the jobs');
  await keyboard.use(/^Unpack/);
  await page.getByText('week 2.txt').waitFor();
  await keyboard.held('opening a job');
});

test('by keyboard alone somebody goes over all main pages and those of the administration, and finds the shortcuts', async () => {
  const [page, keyboard] = await shown('Around', { 'a.txt': 'A text.' });
  const goTo = async (name: string, heading: string): Promise<void> => {
    await keyboard.use(name);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await keyboard.held(`going to ${name}`);
  };
  for (const name of ['Recent', 'Shared with me', 'Links', 'Trash', 'Jobs']) {
    await keyboard.press('m');
    await keyboard.isAt('Files');
    await goTo(name, name);
  }
  await keyboard.press('m');
  await goTo('Administration', 'People');
  for (const name of ['Usage', 'LMSs', 'Webhooks', 'Schedules', 'Rules for links', 'Audit log']) await goTo(name, name);

  await keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await keyboard.held('opening the list of shortcuts');
  await keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await keyboard.held('closing the list of shortcuts');
});

test('by keyboard alone an administrator makes a group, looks into the audit log, and signs out', async () => {
  const page = await openAs(browser, tenant, administrator);
  // However slow this machine is: a message with a button stays until somebody has reached it.
  await page.evaluate('{ const later = setTimeout; setTimeout = (run, ms) => later(run, ms === 12_000 ? 600_000 : ms); }');
  const keyboard = new Keyboard(page);
  await page.getByRole('navigation', { name: 'Path' }).waitFor();
  await keyboard.press('m');
  await keyboard.use('Administration');
  await page.getByRole('heading', { name: 'People' }).waitFor();
  await keyboard.held('going to the administration');
  await keyboard.use('Groups');
  await page.getByRole('heading', { name: 'Groups' }).waitFor();
  await keyboard.held('going to the groups');
  await keyboard.use('Add group');
  await page.getByRole('dialog', { name: 'Add group' }).waitFor();
  await keyboard.type('Reading circle');
  await keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Reading circle' }).waitFor();
  await keyboard.held('making a group');
  await keyboard.tabTo(/^Add a person/);
  await keyboard.type('Grace');
  await page.getByRole('option', { name: /Grace Okoro/ }).waitFor();
  await keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove Grace Okoro' }).waitFor();
  await keyboard.held('adding a member');
  await keyboard.use('Remove Grace Okoro');
  await page.getByText('Nobody is in this group yet.').waitFor();
  await keyboard.held('removing a member');
  await keyboard.use('Undo');
  await page.getByRole('button', { name: 'Remove Grace Okoro' }).waitFor();
  await keyboard.held('taking it back');

  await keyboard.tabTo('Audit log', 'Shift+Tab');
  await keyboard.press('Enter');
  await page.locator('summary').filter({ hasText: 'Added a member' }).first().waitFor();
  await keyboard.held('going to the audit log');
  await keyboard.tabTo(/^Added a member/);
  await keyboard.press('Enter');
  await page.getByText('Everything about').first().waitFor();
  await keyboard.held('opening an entry');

  await keyboard.tabTo(/^Account/, 'Shift+Tab');
  await keyboard.press('Enter');
  await keyboard.choose('Sign out');
  await keyboard.isAt(/^E-mail address/);
  await keyboard.held('signing out');
});
