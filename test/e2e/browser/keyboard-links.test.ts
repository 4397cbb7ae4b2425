import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { Keyboard } from '../../support/clients/keyboard.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { type Credentials, firstAdministrator, openAs } from './app.ts';

/** Links without a mouse: of whoever made one, and of whoever has one. */
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

test('by keyboard alone somebody gives a link a password and a limit, keeps it once asked, and then deletes it', async () => {
  const { body: file } = await tenant.admin.upload('/files', { name: 'poster.txt', file: Buffer.from('A poster.') });
  const { body: link } = await tenant.admin.post(`/files/${file.id}/share`, {});
  const page = await openAs(browser, tenant, administrator);
  const keyboard = new Keyboard(page);
  await page.getByRole('navigation', { name: 'Path' }).waitFor();
  await keyboard.press('m');
  await keyboard.use('Links');
  const actions = page.getByRole('button', { name: 'Actions of the link of poster.txt' });
  await actions.waitFor();
  await keyboard.held('going to the links');

  await keyboard.use('Actions of the link of poster.txt');
  await keyboard.choose('Change …');
  const form = page.getByRole('dialog', { name: 'Link of “poster.txt”' });
  await form.waitFor();
  await keyboard.held('opening the form');
  await keyboard.tabTo('Ask for a password');
  await keyboard.press('Space');
  await form.getByLabel('Password', { exact: true }).waitFor();
  await keyboard.tabTo('Password');
  await keyboard.type('four unrelated words');
  await keyboard.tabTo('Most downloads');
  await keyboard.type('3');
  await keyboard.press('Enter');
  await form.waitFor({ state: 'detached' });
  await page.getByText('0 of 3 downloads').waitFor();
  await keyboard.held('changing a link');
  const { body: changed } = await tenant.admin.get(`/shares/${link.id}`);

  const question = page.getByRole('alertdialog', { name: 'Delete this link?' });
  await keyboard.use('Actions of the link of poster.txt');
  await keyboard.choose('Delete …');
  await question.waitFor();
  await keyboard.isAt('Cancel');
  await keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  await keyboard.held('keeping a link');
  const kept = await tenant.admin.get(`/shares/${link.id}`);
  await keyboard.use('Actions of the link of poster.txt');
  await keyboard.choose('Delete …');
  await question.waitFor();
  await keyboard.use('Delete link');
  await actions.waitFor({ state: 'detached' });
  await keyboard.held('deleting a link');

  expect([changed.has_password, changed.max_downloads, kept.status]).toEqual([true, 3, 200]);
  expect((await tenant.admin.get(`/shares/${link.id}`)).status).toBe(404);
});

test('by keyboard alone a stranger chooses a file for a file request, is asked for a name, and sends it', async () => {
  const { body: folder } = await tenant.admin.post('/folders', { name: 'Essays' });
  const { body: link } = await tenant.admin.post(`/folders/${folder.id}/share`, { mode: 'upload' });
  const arrived = async (): Promise<unknown[]> => {
    const { body } = await tenant.admin.get('/files', { query: { folder_id: folder.id } });
    return body.data.map((file: { name: string; uploaded_by: string | null }) => [file.name, file.uploaded_by]);
  };
  const page = await browser.page();
  const keyboard = new Keyboard(page);
  await page.context().clearCookies();
  // Its dialog of files cannot be driven; the input that other browsers have can.
  await page.addInitScript('delete window.showOpenFilePicker');
  await page.goto(link.url);
  await page.getByRole('button', { name: 'Choose files' }).waitFor();

  const choosing = page.waitForEvent('filechooser');
  await keyboard.use('Choose files');
  await (await choosing).setFiles({ name: 'essay.txt', mimeType: 'text/plain', buffer: Buffer.from('An essay.') });
  await page.getByText('Enter your name.', { exact: true }).waitFor();
  await keyboard.isAt('Your name');
  await keyboard.held('being asked for a name');
  const before = await arrived();
  await keyboard.type('Ida Novak');
  await keyboard.press('Enter');
  await page.getByText('1 file sent', { exact: true }).waitFor();
  await keyboard.held('sending a file');

  expect([before, await arrived()]).toEqual([[], [['essay.txt', 'Ida Novak']]]);
});
