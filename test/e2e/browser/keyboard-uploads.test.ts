import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import type { Keyboard } from '../../support/clients/keyboard.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { type Credentials, firstAdministrator } from './app.ts';
import { folderShown } from './by-keyboard.ts';

/** The panel of uploads without a mouse: what it asks, and what can be done with an upload that is under way. */
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

interface Shown {
  readonly page: Page;
  readonly keyboard: Keyboard;
  readonly panel: Locator;
  /** The names in the folder, with the number of versions of each. */
  readonly stored: () => Promise<string[]>;
}

async function shown(name: string, files: Readonly<Record<string, string>>): Promise<Shown> {
  const [page, keyboard] = await folderShown({ tenant, browser, administrator }, name, files);
  await page.evaluate('window.showOpenFilePicker = undefined');
  const folder_id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const stored = async (): Promise<string[]> => {
    const { body } = await tenant.admin.get('/files', { query: { folder_id, include: 'versions_count', limit: 200 } });
    return body.data.map((file: { name: string; versions_count: number }) => `${file.name} ${file.versions_count}`).toSorted();
  };
  return { page, keyboard, panel: page.getByRole('region', { name: 'Uploads' }), stored };
}

/** Uploads files of these names by the button of the page. */
async function upload({ page, keyboard }: Shown, ...names: readonly string[]): Promise<void> {
  const choosing = page.waitForEvent('filechooser');
  await keyboard.use('Upload');
  await keyboard.choose('Upload files');
  const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(`Sent as ${name}.`) });
  await (await choosing).setFiles(names.map(file));
}

test('by keyboard alone somebody answers about taken names: for one file in its row, and for all others at once', async () => {
  const folder = await shown('Taken', { 'a.txt': 'first', 'b.txt': 'first' });
  const { keyboard, panel, stored } = folder;
  await upload(folder, 'a.txt', 'b.txt', 'new.txt');
  await panel.getByText('2 files have names that are taken.').waitFor();
  await keyboard.use('Decide about a.txt');
  await keyboard.choose('Replace as new version');
  await panel.getByText('1 file has a name that is taken.').waitFor();
  await keyboard.held('answering about one file');
  await keyboard.use('Keep both');
  await panel.getByText('3 files uploaded').waitFor();
  await keyboard.held('answering about the others');
  const answered = await stored();

  await upload(folder, 'new.txt');
  await panel.getByText('1 file has a name that is taken.').waitFor();
  await keyboard.use('Skip');
  await panel.getByText('Skipped: the name is taken').waitFor();
  await keyboard.held('leaving out a file');
  await keyboard.use('Close uploads');
  await panel.waitFor({ state: 'detached' });
  await keyboard.held('closing the panel');

  expect(answered).toEqual(['a.txt 2', 'b (1).txt 1', 'b.txt 1', 'new.txt 1']);
  expect(await stored()).toEqual(answered);
});

test('by keyboard alone somebody pauses one upload and then all, and continues one and then all', async () => {
  const folder = await shown('Paused', { 'there.txt': 'there' });
  const { page, keyboard, panel, stored } = folder;
  const held: string[] = [];
  let isHeld = true;
  await page.route('**/api/v1/files', (route) => {
    if (!isHeld || route.request().method() !== 'POST') return route.continue();
    held.push(route.request().url());
    return undefined;
  });
  await upload(folder, 'a.txt', 'b.txt');
  await waitFor('both files to be on their way', () => held.length === 2);
  await keyboard.use('Pause a.txt');
  await panel.getByRole('button', { name: 'Resume a.txt' }).waitFor();
  await keyboard.isAt(/^a\.txt/);
  await keyboard.held('pausing an upload');
  await keyboard.use('Pause all');
  await panel.getByText('Uploads are paused').waitFor();
  await keyboard.held('pausing all uploads');
  const whilePaused = await stored();

  isHeld = false;
  await keyboard.use('Resume b.txt');
  await panel.getByText('1 of 2', { exact: true }).waitFor();
  await keyboard.isAt(/^b\.txt/);
  await keyboard.held('continuing an upload');
  const afterOne = await stored();
  await keyboard.use('Resume all');
  await panel.getByText('2 files uploaded').waitFor();
  await keyboard.held('continuing all uploads');

  expect([whilePaused, afterOne]).toEqual([['there.txt 1'], ['b.txt 1', 'there.txt 1']]);
  expect([held.length, await stored()]).toEqual([2, ['a.txt 1', 'b.txt 1', 'there.txt 1']]);
});
