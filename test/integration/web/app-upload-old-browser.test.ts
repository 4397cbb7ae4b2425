import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CDPSession, Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { drop } from '../../support/clients/files-page.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { openSignedOut, signIn } from './app-pages.ts';
import { type Person, row } from './file-pages.ts';

/** Uploads in a browser that gives no handles of files, and whose dialog chooses no folders. */
const MIB = 1 << 20;

let tenant: TestTenant;
let browser: TestBrowser;
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'carrel-old-browser-'));
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
  await rm(scratch, { recursive: true, force: true });
});

const WITHOUT = `{
  delete window.showOpenFilePicker;
  delete window.showDirectoryPicker;
  delete window.FileSystemHandle;
  delete window.FileSystemFileHandle;
  delete DataTransferItem.prototype.getAsFileSystemHandle;
  delete HTMLInputElement.prototype.webkitdirectory;
}`;

interface Shown {
  readonly page: Page;
  readonly panel: Locator;
  readonly devtools: CDPSession;
}

async function shownTo({ user, password }: Person): Promise<Shown> {
  const page = await openSignedOut(browser, tenant);
  await page.addInitScript(WITHOUT);
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto(`${tenant.url}/files`);
  await signIn(page, { email: user.email, password });
  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  const devtools = await page.context().newCDPSession(page);
  return { page, panel: page.getByRole('region', { name: 'Uploads' }), devtools };
}

/** Files on the disk. Returns their paths. */
const onDisk = (files: Readonly<Record<string, Buffer>>): Promise<string[]> =>
  Promise.all(
    Object.entries(files).map(async ([name, bytes]) => {
      await mkdir(dirname(join(scratch, name)), { recursive: true });
      await writeFile(join(scratch, name), bytes);
      return join(scratch, name);
    }),
  );

async function choose({ page }: Shown, button: Locator, paths: string[]): Promise<void> {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button.click()]);
  await chooser.setFiles(paths);
}

const arrived = async ({ api }: Person): Promise<string[]> => {
  const { data } = (await api.get('/files', { query: { limit: 200 } })).body;
  return data.map(({ path, checksum }: { path: string; checksum: string }) => `${path} ${checksum}`).toSorted();
};
const sumOf = (path: string, bytes: Buffer): string => `${path} ${hash('sha256', bytes)}`;

test('the menu offers files alone, and those that are chosen are uploaded', async () => {
  const person = await tenant.user();
  const shown = await shownTo(person);
  const { page, panel } = shown;
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  const offered = await page.getByRole('menuitem').allInnerTexts();
  const [one, two] = [Buffer.from('one'), Buffer.from('two')];
  await choose(shown, page.getByRole('menuitem', { name: 'Upload files' }), await onDisk({ 'one.txt': one, 'two.txt': two }));
  await panel.getByText('2 files uploaded').first().waitFor();
  await row(page, 'two.txt').waitFor();

  expect(offered).toEqual(['Upload files']);
  expect(await arrived(person)).toEqual([sumOf('/one.txt', one), sumOf('/two.txt', two)]);
  await page.close();
});

test('a folder can still be dropped, with all that is in it', async () => {
  const person = await tenant.user();
  const shown = await shownTo(person);
  const [one, two] = [Buffer.from('one'), Buffer.from('two')];
  await onDisk({ 'Photos/May/one.txt': one, 'Photos/two.txt': two });
  await drop(shown, join(scratch, 'Photos'));
  await shown.panel.getByText('2 files uploaded').first().waitFor();

  expect(await arrived(person)).toEqual([sumOf('/Photos/May/one.txt', one), sumOf('/Photos/two.txt', two)]);
  await shown.page.close();
});

test('after a reload the panel asks for the file again, offers no folder, and sends only what is missing of it', async () => {
  const person = await tenant.user();
  const shown = await shownTo(person);
  const { page, panel } = shown;
  const bytes = randomBytes(24 * MIB);
  const paths = await onDisk({ 'lecture.bin': bytes });
  const rest = Promise.withResolvers<void>();
  let isHeld = true;
  await page.route('**/api/v1/files/uploads/*', (route) => {
    const sent = route.request();
    if (!isHeld || sent.method() !== 'PATCH' || sent.headers()['upload-offset'] === '0') return route.continue();
    return rest.resolve(); // the rest does not arrive before the reload
  });
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await choose(shown, page.getByRole('menuitem', { name: 'Upload files' }), paths);
  await rest.promise;
  isHeld = false;

  await page.reload();
  await panel.getByText('1 upload was interrupted.').waitFor();
  await panel.getByText('Interrupted: choose the file again').waitFor();
  const offered = await panel.getByRole('button', { name: /again$/ }).allInnerTexts();
  const offsets: (string | undefined)[] = [];
  page.on('request', (request) => request.method() === 'PATCH' && offsets.push(request.headers()['upload-offset']));
  await choose(shown, panel.getByRole('button', { name: 'Choose files again' }), paths);
  await panel.getByText('1 file uploaded').first().waitFor();

  expect(offered).toEqual(['Choose files again']);
  expect(Number(offsets[0])).toBeGreaterThanOrEqual(16 * MIB);
  expect(await arrived(person)).toEqual([sumOf('/lecture.bin', bytes)]);
  await page.close();
});
