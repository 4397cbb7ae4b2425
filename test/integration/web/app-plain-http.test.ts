import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { keptIn, watchTakeOver } from '../../support/clients/kept-uploads.ts';
import { openBrowser, OTHER_MACHINE, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
import { signIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;
let url: string;
let scratch: string;
let person: { readonly email: string; readonly password: string };

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'carrel-plain-'));
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
  const { user, password } = await tenant.user();
  person = { email: user.email, password };
  url = tenant.url.replace('127.0.0.1', OTHER_MACHINE);
  await tenant.restart({ CARREL_APP_URL: url });
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
  await rm(scratch, { recursive: true, force: true });
});

async function opened(): Promise<Page> {
  const page = await browser.page();
  await page.goto(url);
  return page;
}

const isSignedIn = (page: Page): Promise<void> => page.getByRole('navigation', { name: 'Main' }).waitFor();

test('by plain http from another machine, tabs that load at once do not end each other’s session', async () => {
  const page = await opened();
  await signIn(page, person);
  await isSignedIn(page);
  const features = await page.evaluate('[isSecureContext, !!navigator.locks]');

  const tabs = await Promise.all(range(4).map(opened));
  await Promise.all(tabs.map(isSignedIn));
  await Promise.all(tabs.map((tab) => tab.reload()));
  await Promise.all(tabs.map(isSignedIn));

  expect(features).toEqual([false, false]);
});

test('by plain http from another machine, files are uploaded, and a tab closed in its turn holds up nobody', async () => {
  const page = await opened();
  await isSignedIn(page);
  await page.evaluate(`new Promise((resolve, reject) => {
    const request = indexedDB.open('carrel-session', 1);
    request.onerror = reject;
    request.onsuccess = () => {
      const writing = request.result.transaction('leases', 'readwrite');
      writing.objectStore('leases').put({ tab: 0, until: Date.now() + 1_000 }, 'refresh');
      writing.oncomplete = resolve;
    };
  })`);
  await page.reload();
  await isSignedIn(page);
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('menuitem', { name: 'Upload files' }).click(),
  ]);
  await chooser.setFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('notes') });

  await page.getByRole('region', { name: 'Uploads' }).getByText('1 file uploaded').waitFor();
});

test('by plain http from another machine, a reload keeps what waits, and a second tab leaves it to an open one', async () => {
  const page = await opened();
  await isSignedIn(page);
  page.on('dialog', (dialog) => void dialog.accept());
  const upload = page.getByRole('button', { name: 'Upload', exact: true });
  await upload.waitFor();
  const paths = range(6).map((n) => join(scratch, `${n}.txt`));
  await Promise.all(paths.map((path) => writeFile(path, path)));
  let isHeld = true;
  await page.route('**/api/v1/files', (route) => (isHeld && route.request().method() === 'POST' ? undefined : route.continue()));
  const choose = async (press: () => Promise<void>): Promise<void> => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), press()]);
    await chooser.setFiles(paths);
  };
  await upload.click();
  await choose(() => page.getByRole('menuitem', { name: 'Upload files' }).click());
  await waitFor('the uploads to be kept', async () => (await keptIn(page)).length === 6);
  const [owner] = await keptIn(page);

  const other = await browser.page();
  const hasLooked = await watchTakeOver(other);
  await other.goto(url);
  await hasLooked();
  expect(new Set(await keptIn(page))).toEqual(new Set([owner]));
  await other.close();

  isHeld = false;
  await page.reload();
  const panel = page.getByRole('region', { name: 'Uploads' });
  await panel.getByText('6 uploads were interrupted.').waitFor();
  await choose(() => panel.getByRole('button', { name: 'Choose files again' }).click());
  await panel.getByText('6 files uploaded').first().waitFor();
});
