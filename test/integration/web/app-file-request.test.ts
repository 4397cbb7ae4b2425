import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { makeScratch } from '../../support/backends/backends.ts';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { drop, sendAtMost } from '../../support/clients/files-page.ts';
import { fits } from '../../support/clients/fits.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
import { NARROW, openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

interface Sent {
  readonly name: string;
  readonly size: number;
  readonly uploaded_by: string | null;
}

const MIB = 1024 * 1024;
const PASSWORD = 'pässword of a link';
const file = (name: string, bytes = 10) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(bytes, 'a') });

/** Ada's folder `Essays` with `secret.txt`, its link, and a page on which it is open. */
async function request(terms: object = {}) {
  const ada = await tenant.user();
  const { body: folder } = await ada.api.post('/folders', { name: 'Essays' });
  await ada.api.upload('/files', { name: 'secret.txt', file: Buffer.from('secret'), fields: { folder_id: folder.id } });
  const { body: link } = await ada.api.post(`/folders/${folder.id}/share`, { mode: 'upload', ...terms });
  const page = await openLink(link.url);
  const arrived = async (): Promise<Sent[]> => {
    const { body } = await ada.api.get('/files', { query: { folder_id: folder.id } });
    return (body.data as Sent[]).filter(({ name }) => name !== 'secret.txt');
  };
  return { ada, folder: folder.id as string, link: link as { id: string; url: string; token: string }, page, arrived };
}

async function openLink(url: string): Promise<Page> {
  const page = await browser.page();
  await page.context().clearCookies();
  // Its dialog of files cannot be driven; the input that other browsers have can.
  await page.addInitScript('delete window.showOpenFilePicker');
  await page.goto(url);
  return page;
}

async function choose(page: Page, ...files: readonly ReturnType<typeof file>[]): Promise<void> {
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Choose files' }).click(),
  ]);
  await chooser.setFiles([...files]);
}

test('a stranger sends files under their name, and sees what they sent and nothing else, also after a reload', async () => {
  const { page, arrived } = await request();
  await page.getByRole('heading', { name: 'Send files to “Essays”' }).waitFor();
  await page.getByLabel('Your name').fill('Grace Hopper');
  await choose(page, file('essay.txt', 300_000), file('notes.txt'));
  await page.getByText('2 files sent', { exact: true }).waitFor();
  await page.reload();
  await page.getByText('2 files sent', { exact: true }).waitFor();
  const shown = await page.locator('body').textContent();

  expect(new Map((await arrived()).map(({ name, size, uploaded_by }) => [name, [size, uploaded_by]]))).toEqual(
    new Map([
      ['essay.txt', [300_000, 'Grace Hopper']],
      ['notes.txt', [10, 'Grace Hopper']],
    ]),
  );
  expect([shown?.includes('essay.txt'), shown?.includes('secret')]).toEqual([true, false]);
  expect(await page.getByLabel('Your name').inputValue()).toBe('Grace Hopper');
});

test('more files than the page lists are all counted, and after a reload the heading says which are listed', async () => {
  const { page } = await request();
  await page.getByLabel('Your name').fill('Grace');
  await choose(page, ...range(102).map((at) => file(`${at}.txt`)));
  await page.getByText('102 files sent', { exact: true }).waitFor();
  await page.getByText('The last 100 are listed.', { exact: true }).waitFor();
  const before = await page.locator('.send-sent li').count();
  await page.reload();
  await page.getByRole('heading', { name: 'The last 100 files that you sent' }).waitFor();
  await choose(page, file('one more.txt'));
  await page.locator('.send-sent li').getByText('one more.txt').waitFor();
  const counted = await page.getByText(/files? sent$/).count();

  expect([before, await page.locator('.send-sent li').count(), counted]).toEqual([100, 100, 0]);
});

test('whoever made the link sees in the details of a file who sent it', async () => {
  const { ada, folder, page: sending } = await request();
  await sending.getByLabel('Your name').fill('Grace Hopper');
  await choose(sending, file('essay.txt'));
  await sending.getByText('1 file sent', { exact: true }).waitFor();

  const page = await openSignedIn(browser, tenant, { email: ada.user.email, password: ada.password }, `/files/${folder}`);
  const row = page.getByRole('row', { name: /essay\.txt/ });
  await row
    .getByRole('gridcell')
    .last()
    .click({ position: { x: 2, y: 2 } });
  await page.keyboard.press('Alt+Enter');

  await page.getByText('Sent by', { exact: true }).waitFor();
  await page.getByText('Grace Hopper', { exact: true }).waitFor();
});

test('files that are chosen before the name wait for it', async () => {
  const { page, arrived } = await request();
  await choose(page, file('essay.txt'));
  await page.getByText('Enter your name.', { exact: true }).waitFor();
  const before = await arrived();
  await page.keyboard.type('Grace');
  await page.keyboard.press('Enter');
  await page.getByText('1 file sent', { exact: true }).waitFor();

  expect([before, (await arrived()).map(({ uploaded_by }) => uploaded_by)]).toEqual([[], ['Grace']]);
});

test('files reach a folder that is renamed and moved while its link is open, which names it anew after a reload', async () => {
  const { ada, folder, page, arrived } = await request();
  await page.getByLabel('Your name').fill('Grace');
  await choose(page, file('before.txt'));
  await page.getByText('1 file sent', { exact: true }).waitFor();
  const { body: term } = await ada.api.post('/folders', { name: 'Term' });
  const { status } = await ada.api.patch(`/folders/${folder}`, { name: 'Papers', parent_id: term.id });
  await choose(page, file('after.txt'));
  await page.getByText('2 files sent', { exact: true }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Send files to “Papers”' }).waitFor();

  expect([status, (await arrived()).map(({ name }) => name).toSorted()]).toEqual([200, ['after.txt', 'before.txt']]);
});

test('a folder that is dropped is sent as its files; two of one name both arrive', async () => {
  const { page, arrived } = await request();
  await page.getByLabel('Your name').fill('Grace');
  const scratch = await makeScratch();
  for (const folder of ['Course/first', 'Course/second/empty']) await mkdir(join(scratch, folder), { recursive: true });
  for (const path of ['Course/first/same.txt', 'Course/second/same.txt']) await writeFile(join(scratch, path), path);
  await drop({ devtools: await page.context().newCDPSession(page) }, join(scratch, 'Course'));
  await page.getByText('2 files sent', { exact: true }).waitFor();

  expect((await arrived()).map(({ name }) => name).toSorted()).toEqual(['same (Grace).txt', 'same.txt']);
});

test('a name that climbs out of the folder is refused, and names with markup stay text', async () => {
  const { page, arrived } = await request();
  await page.getByLabel('Your name').fill('<b>Grace</b>');
  await choose(page, file('../up.txt'), file('<img src=x onerror=alert(1)>.txt'));
  await page.getByText('1 file sent', { exact: true }).waitFor();
  await waitFor('the other to be refused', async () => (await page.locator('.upload-failed').count()) === 1);

  expect((await arrived()).map(({ name, uploaded_by }) => [name, uploaded_by])).toEqual([
    ['<img src=x onerror=alert(1)>.txt', '<b>Grace</b>'],
  ]);
});

test('a large file continues where it was when the connection broke', async () => {
  const { page, arrived } = await request();
  await page.getByLabel('Your name').fill('Grace');
  let requests = 0;
  await page.route('**/uploads/*', async (route) => {
    if (route.request().method() === 'PATCH' && ++requests === 2) await route.abort('connectionreset');
    else await route.continue();
  });
  await choose(page, file('film.bin', 20 * MIB));
  await page.getByText('1 file sent', { exact: true }).waitFor();

  expect((await arrived()).map(({ name, size }) => [name, size])).toEqual([['film.bin', 20 * MIB]]);
  expect(requests).toBe(3);
});

test('a large file that a reload interrupts continues once it is chosen again', async () => {
  const { page, arrived } = await request();
  page.on('dialog', (dialog) => void dialog.accept());
  const path = join(await makeScratch(), 'film.bin');
  await writeFile(path, Buffer.alloc(20 * MIB, 'a'));
  const sentBytes: number[] = [];
  const rest = Promise.withResolvers<void>();
  let isHeld = true;
  await page.route('**/uploads/*', async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    const offset = Number(route.request().headers()['upload-offset']);
    if (offset > 0 && isHeld) return rest.resolve(); // the rest does not arrive before the reload
    sentBytes.push(offset);
    await route.continue();
  });
  const chooseFilm = async (button: string): Promise<void> => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: button }).click()]);
    await chooser.setFiles(path);
  };
  await page.getByLabel('Your name').fill('Grace');
  await chooseFilm('Choose files');
  await page.getByText(/^16 MB of 20 MB/).waitFor();
  await rest.promise;
  isHeld = false;
  await page.reload();
  await page.getByText('1 upload was interrupted.').first().waitFor();
  await chooseFilm('Choose files again');
  await page.getByText('1 file sent', { exact: true }).waitFor();

  expect([sentBytes, (await arrived()).map(({ name, size }) => [name, size])]).toEqual([[0, 16 * MIB], [['film.bin', 20 * MIB]]]);
});

test('a small file whose reply was lost is sent once', async () => {
  const { page, arrived } = await request();
  await page.getByLabel('Your name').fill('Grace');
  let isLost = false;
  await page.route('**/files', async (route) => {
    if (isLost) return route.continue();
    isLost = true;
    await route.fetch();
    await route.abort('connectionreset');
  });
  await choose(page, file('essay.txt'));
  await page.getByText('1 file sent', { exact: true }).waitFor();

  expect((await arrived()).map(({ name }) => name)).toEqual(['essay.txt']);
});

test('a link that ends while files are sent says so, and keeps what was sent on the page', async () => {
  const { ada, link, page, arrived } = await request();
  await page.getByLabel('Your name').fill('Grace');
  await choose(page, file('essay.txt'));
  await page.getByText('1 file sent', { exact: true }).waitFor();
  await ada.api.patch(`/shares/${link.id}`, { is_active: false });
  await choose(page, file('late.txt'));
  await page.getByText('This link has ended. What is listed as sent has arrived.').first().waitFor();

  expect([await page.getByText('essay.txt').count(), (await arrived()).length]).toEqual([1, 1]);
});

test('a password that changes while files are sent is asked for, and what waited is sent', async () => {
  const { ada, link, page, arrived } = await request({ password: PASSWORD });
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByLabel('Your name').fill('Grace');
  await ada.api.patch(`/shares/${link.id}`, { password: 'another password' });
  await choose(page, file('essay.txt'));
  const again = page.getByRole('dialog', { name: 'Enter the password again' });
  await again.getByLabel('Password', { exact: true }).fill('another password');
  await page.keyboard.press('Enter');
  await page.getByText('1 file sent', { exact: true }).waitFor();

  expect((await arrived()).length).toBe(1);
});

test('a password that is set while a large file is on its way is asked for, and the file is sent', async () => {
  const { ada, link, page, arrived } = await request();
  const devtools = await page.context().newCDPSession(page);
  await page.getByLabel('Your name').fill('Grace');
  await sendAtMost({ devtools }, 2 * MIB);
  await choose(page, file('film.bin', 10 * MIB));
  await page.getByText(/^[1-9][.\d]* MB of 10 MB/).waitFor();
  const { status } = await ada.api.patch(`/shares/${link.id}`, { password: PASSWORD });
  await sendAtMost({ devtools }, 0);
  const again = page.getByRole('dialog', { name: 'Enter the password again' });
  await again.waitFor();
  const isEnded = await page.getByText('This link has ended.').count();
  await again.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByText('1 file sent', { exact: true }).waitFor();

  expect([status, isEnded]).toEqual([200, 0]);
  expect((await arrived()).map(({ name, size }) => [name, size])).toEqual([['film.bin', 10 * MIB]]);
});

test('a link that works is not said to have ended when the server has lost what came of a file', async () => {
  const { page, arrived } = await request();
  await page.getByLabel('Your name').fill('Grace');
  let isLost = false;
  await page.route('**/uploads/*', async (route) => {
    const request = route.request();
    if (isLost || request.method() !== 'PATCH') return route.continue();
    isLost = true;
    await page.request.delete(request.url(), { headers: { 'tus-resumable': '1.0.0' } });
    await route.continue();
  });
  await choose(page, file('film.bin', 10 * MIB));
  await page.getByText('1 file sent', { exact: true }).waitFor();

  expect([isLost, (await arrived()).map(({ name, size }) => [name, size])]).toEqual([true, [['film.bin', 10 * MIB]]]);
});

test('a file for which there is no room waits, and is sent once there is', async () => {
  const { ada, page, arrived } = await request();
  const { body: before } = await tenant.admin.get(`/users/${ada.user.id}`);
  await tenant.admin.patch(`/users/${ada.user.id}`, { storage_quota: 50 });
  await page.getByLabel('Your name').fill('Grace');
  await choose(page, file('essay.txt', 100));
  await page.getByText('There is no room for more files. Tell whoever sent you the link.').first().waitFor();
  await tenant.admin.patch(`/users/${ada.user.id}`, { storage_quota: before.storage_quota });
  await page.getByRole('button', { name: 'Try again now' }).click();
  await page.getByText('1 file sent', { exact: true }).waitFor();

  expect((await arrived()).length).toBe(1);
});

test('a file request says how large a file may be, and sends nothing of a larger one', async () => {
  const { ada, link } = await request();
  await tenant.admin.patch(`/users/${ada.user.id}`, { storage_quota: 9 * MIB });
  const page = await openLink(link.url);
  await page.getByText('Up to 8.75 MB each').waitFor();
  await page.getByLabel('Your name').fill('Grace');
  const uploads: string[] = [];
  page.on('request', (sent) => sent.url().endsWith('/uploads') && uploads.push(sent.method()));
  await choose(page, file('film.bin', 10 * MIB));
  await page.getByText('There is no room for a file of this size.').waitFor();
  await tenant.admin.patch(`/users/${ada.user.id}`, { storage_quota: 20 * MIB });
  const before = [...uploads];
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('1 file sent', { exact: true }).waitFor();
  await tenant.admin.patch(`/users/${ada.user.id}`, { storage_quota: 1 });
  await page.reload();
  await page.getByText('There is no room for more files.').waitFor();

  expect([before, uploads]).toEqual([[], ['POST']]);
});

test('a folder for both lists what arrives', async () => {
  const { page } = await request({ mode: 'both' });
  await page.getByRole('link', { name: 'secret.txt' }).waitFor();
  await page.getByRole('button', { name: 'Send files' }).click();
  await page.getByLabel('Your name').fill('Grace');
  await choose(page, file('essay.txt'));
  await page.getByRole('link', { name: 'essay.txt' }).waitFor();

  expect(await page.getByText('1 file sent', { exact: true }).count()).toBe(1);
});

test('axe finds nothing in light and dark before and after files are sent, and at 400 % zoom nothing is cut off', async () => {
  const { page } = await request({ mode: 'both' });
  await page.getByRole('button', { name: 'Send files' }).click();
  await page.getByLabel('Your name').fill('Grace');
  const found: string[] = [];
  const look = async (): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      found.push(...(await axeFindings(page)));
    }
  };
  await look();
  await choose(page, file(`${'very long '.repeat(20)}.txt`), file('too-long-for-the-row.txt'));
  await page.getByText('2 files sent', { exact: true }).waitFor();
  await look();
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});
