import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { chooseWithHandles, handlesIn, keptIn, watchTakeOver } from '../../support/clients/kept-uploads.ts';
import { loseReplies } from '../../support/clients/lost-replies.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
import { openSignedIn } from './app-pages.ts';

/** Uploads that run side by side. */
const AT_ONCE = 4;
const MIB = 1 << 20;

let tenant: TestTenant;
let browser: TestBrowser;
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'carrel-reload-'));
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
  await rm(scratch, { recursive: true, force: true });
});

type Person = Awaited<ReturnType<TestTenant['user']>>;
type Files = Readonly<Record<string, string>>;

const numbered = (count: number): Files => Object.fromEntries(range(count).map((n) => [`${n}.txt`, `file ${n}`]));
const panelOf = (page: Page): Locator => page.getByRole('region', { name: 'Uploads' });

async function filesOf({ user, password }: Person): Promise<Page> {
  const page = await openSignedIn(browser, tenant, { email: user.email, password }, '/files');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  return page;
}

/** Returns name and checksum of each file of a person, with its number of versions. */
async function arrived({ api }: Person): Promise<string[]> {
  const { body } = await api.get('/files', { query: { include: 'versions_count', limit: 200 } });
  const files = body.data as { readonly name: string; readonly checksum: string; readonly versions_count: number }[];
  return files.map(({ name, checksum, versions_count: versions }) => `${name} ${checksum} ${versions}`).toSorted();
}

const asArrived = ([path, content]: [string, string]): string => `${path.split('/').at(-1)} ${hash('sha256', content)} 1`;
const once = (files: Files): string[] => Object.entries(files).map(asArrived).toSorted();

/** A page whose dialogs give no handles, now and after a reload. */
async function withoutHandles(page: Page): Promise<void> {
  const script = 'window.showOpenFilePicker = undefined';
  await page.addInitScript(script);
  await page.evaluate(script);
}

/** Presses what opens a dialog, and chooses files of the disk there, or a folder. */
async function choose(page: Page, button: Locator, paths: string | string[]): Promise<void> {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button.click()]);
  await chooser.setFiles(paths);
}

async function upload(page: Page, kind: 'files' | 'folder', paths: string | string[]): Promise<void> {
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await choose(page, page.getByRole('menuitem', { name: `Upload ${kind}` }), paths);
}

/** Files on the disk, in a new folder. Returns the paths. */
async function onDisk(files: Files): Promise<string[]> {
  const folder = await mkdtemp(join(scratch, 'files-'));
  return Promise.all(
    Object.entries(files).map(async ([name, content]) => {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), content);
      return join(folder, name);
    }),
  );
}

/** Uploads of which none gets a reply, in a page that gives no handles. */
async function interrupting(person: Person, count: number) {
  const page = await filesOf(person);
  await withoutHandles(page);
  const replies = await loseReplies(page, { after: 0 });
  const paths = await onDisk(numbered(count));
  await upload(page, 'files', paths);
  await waitFor('the first files to arrive', () => replies.lost() === Math.min(count, AT_ONCE));
  await waitFor('all uploads to be kept', async () => (await keptIn(page, person.user.id)).length === count);
  return { page, replies, paths };
}

/** Shows that the list is empty: a new upload is the only one in it. */
async function isEmptyFor(page: Page, name: string): Promise<void> {
  await withoutHandles(page);
  await upload(page, 'files', await onDisk({ [name]: name }));
  await panelOf(page).getByText('1 file uploaded').first().waitFor();
  expect(await panelOf(page).getByRole('listitem').count()).toBe(1);
}

test('a reload in the middle of 30 files: all arrive exactly once, unasked where the browser may read them', async () => {
  const person = await tenant.user();
  const page = await filesOf(person);
  const files = numbered(30);
  const replies = await loseReplies(page, { after: 10 });
  await chooseWithHandles(page, files);
  await waitFor('four files whose replies are lost', () => replies.lost() === AT_ONCE);
  await panelOf(page).getByText('10 of 30').waitFor();
  // Those that have arrived are forgotten a moment later; until then a reload would continue them too.
  await waitFor('the others alone to be kept', async () => (await keptIn(page, person.user.id)).length === 20);
  await waitFor('their handles to be kept', async () => (await handlesIn(page, person.user.id)) === 20);

  replies.end();
  await page.reload();
  await panelOf(page).getByText('20 files uploaded').first().waitFor();

  expect(await arrived(person)).toEqual(once(files));
  expect(await waitFor('nothing to be kept', async () => (await keptIn(page, person.user.id)).length === 0)).toBe(true);
  await page.close();
});

test('a browser that undoes what has handles, as Chromium may when a page goes away, keeps all else', async () => {
  const person = await tenant.user();
  const page = await filesOf(person);
  const replies = await loseReplies(page, { after: 0 });
  await page.evaluate(`(() => {
    const [{ put }, { commit }] = [IDBObjectStore.prototype, IDBTransaction.prototype];
    IDBObjectStore.prototype.put = function (value) {
      this.transaction.hasHandles ||= value.handle !== undefined;
      return put.call(this, value);
    };
    IDBTransaction.prototype.commit = function () {
      return this.hasHandles ? this.abort() : commit.call(this);
    };
  })()`);

  await chooseWithHandles(page, numbered(8));
  await waitFor('the first files to arrive', () => replies.lost() === AT_ONCE);

  await waitFor('all to be kept', async () => (await keptIn(page, person.user.id)).length === 8);
  expect(await handlesIn(page, person.user.id)).toBe(0);
  replies.end();
  await page.reload();
  await panelOf(page).getByText('8 uploads were interrupted.').waitFor();
  expect(await panelOf(page).getByText('Interrupted: choose the file again').count()).toBe(8);
  await page.close();
});

test('where the browser has to ask, the list says so, and one press continues all', async () => {
  const person = await tenant.user();
  const page = await filesOf(person);
  const files = numbered(8);
  const replies = await loseReplies(page, { after: 2 });
  await chooseWithHandles(page, files);
  await waitFor('four files whose replies are lost', () => replies.lost() === AT_ONCE);
  await panelOf(page).getByText('2 of 8').waitFor();
  await waitFor('the handles to be kept', async () => (await handlesIn(page, person.user.id)) === 6);
  await page.addInitScript(`
    window.questions = 0;
    FileSystemHandle.prototype.queryPermission = async () => window.questions > 0 ? 'granted' : 'prompt';
    FileSystemHandle.prototype.requestPermission = async () => (window.questions += 1, 'granted');
  `);

  replies.end();
  await page.reload();
  await panelOf(page).getByText('6 uploads were interrupted.').waitFor();
  await panelOf(page).getByText('The browser asks whether this page may read the files again.').waitFor();
  expect(await panelOf(page).getByText('Interrupted: press Continue').count()).toBe(6);
  await panelOf(page).getByRole('button', { name: 'Continue', exact: true }).click();
  await panelOf(page).getByText('6 files uploaded').first().waitFor();

  expect(await page.evaluate('window.questions')).toBe(1);
  expect(await arrived(person)).toEqual(once(files));
  await page.close();
});

test('without handles, choosing the folder again continues each file, and one that has changed starts anew', async () => {
  const person = await tenant.user();
  const page = await filesOf(person);
  await withoutHandles(page);
  const paths = ['May', 'June'].flatMap((month) => range(6).map((n) => `Photos/${month}/${n}.jpg`));
  const files = Object.fromEntries(paths.map((path) => [path, path]));
  const [first = ''] = await onDisk(files);
  const folder = dirname(dirname(first));
  const replies = await loseReplies(page, { after: 3 });
  await upload(page, 'folder', folder);
  await waitFor('four files whose replies are lost', () => replies.lost() === AT_ONCE);
  await panelOf(page).getByText('3 of 12').waitFor();
  await waitFor('the others alone to be kept', async () => (await keptIn(page, person.user.id)).length === 9);

  replies.end();
  await page.reload();
  await panelOf(page).getByText('9 uploads were interrupted.').waitFor();
  expect(await panelOf(page).getByText('Interrupted: choose the file again').count()).toBe(9);
  const there = await arrived(person);
  const [changed = ''] = Object.entries(files).find((file) => !there.includes(asArrived(file))) ?? [];
  await writeFile(join(dirname(folder), changed), 'changed');
  await choose(page, panelOf(page).getByRole('button', { name: 'Choose folder again' }), folder);
  await panelOf(page).getByText(`and is uploaded from its beginning: ${changed}`).waitFor();
  await panelOf(page).getByText('9 files uploaded').first().waitFor();

  expect(await arrived(person)).toEqual(once({ ...files, [changed]: 'changed' }));
  await page.close();
});

test('a session that expired keeps uploads for the same person; another person neither sees nor continues them', async () => {
  const [ada, ben] = [await tenant.user(), await tenant.user()];
  const { page, replies, paths } = await interrupting(ada, 6);
  await ada.api.delete('/users/me/sessions');
  replies.end();
  await page.close();

  const others = await filesOf(ben);
  await isEmptyFor(others, 'ben.txt');
  await others.close();
  const again = await filesOf(ada);
  await withoutHandles(again);
  await panelOf(again).getByText('6 uploads were interrupted.').waitFor();
  await choose(again, panelOf(again).getByRole('button', { name: 'Choose files again' }), paths);
  await panelOf(again).getByText('6 files uploaded').first().waitFor();

  const sessions = await tenant.anonymous.login(ada.user.email, ada.password);
  expect(await arrived({ ...ada, api: sessions })).toEqual(once(numbered(6)));
  expect((await arrived(ben)).map((file) => file.split(' ')[0])).toEqual(['ben.txt']);
  await again.close();
});

test('signing out forgets what is kept, and the same person begins with an empty list', async () => {
  const person = await tenant.user();
  const { page, replies } = await interrupting(person, 6);
  await chooseWithHandles(page, { 'held.txt': 'held' });
  await waitFor('the handle to be kept', async () => (await handlesIn(page, person.user.id)) === 1);
  replies.end();

  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await waitFor('nothing to be kept', async () => (await keptIn(page, person.user.id)).length === 0);
  await waitFor('no handle to be kept', async () => (await handlesIn(page, person.user.id)) === 0);
  await page.close();

  const again = await filesOf(person);
  await isEmptyFor(again, 'new.txt');
  await again.close();
});

test('of two tabs one does not take what the other uploads, but what it left when it was closed', async () => {
  const person = await tenant.user();
  const { page, replies, paths } = await interrupting(person, 6);
  const other = await browser.page();
  const hasLooked = await watchTakeOver(other);
  await other.goto(`${tenant.url}/files`);
  await hasLooked();
  await other.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  await isEmptyFor(other, 'other.txt');

  replies.end();
  await page.close();
  await other.reload();
  await panelOf(other).getByText('6 uploads were interrupted.').waitFor();
  await choose(other, panelOf(other).getByRole('button', { name: 'Choose files again' }), paths);
  await panelOf(other).getByText('6 files uploaded').first().waitFor();

  expect(await arrived(person)).toEqual(once({ ...numbered(6), 'other.txt': 'other.txt' }));
  await other.close();
});

test('4,000 kept uploads come back as a count and the rows that are seen; cancelled, they are forgotten', async () => {
  const person = await tenant.user();
  const page = await filesOf(person);
  await page.evaluate(`new Promise((resolve, reject) => {
    const request = indexedDB.open('carrel-uploads');
    request.onerror = reject;
    request.onsuccess = () => {
      const writing = request.result.transaction('uploads', 'readwrite');
      const rest = { person: ${JSON.stringify(person.user.id)}, tab: 'gone', folderId: null, isFolder: false, size: 1, url: '' };
      const state = { lastModified: 1, onTaken: 'ask', state: 'waiting', requestKey: 'key', keptAt: Date.now() };
      for (let order = 0; order < 4_000; order += 1)
        writing.objectStore('uploads').put({ ...rest, ...state, order, key: String(order), path: ['Photos', order + '.jpg'] });
      writing.oncomplete = resolve;
      request.result.close();
    };
  })`);

  await page.reload();
  await panelOf(page).getByText('4,000 uploads were interrupted.').waitFor();
  await panelOf(page).getByText('0.jpg', { exact: true }).waitFor();
  expect(await panelOf(page).getByRole('listitem').count()).toBeLessThan(50);
  await panelOf(page).getByRole('button', { name: 'Close uploads' }).click();
  await page.getByRole('button', { name: 'Cancel all' }).click();
  await waitFor('nothing to be kept', async () => (await keptIn(page, person.user.id)).length === 0);

  await panelOf(page).waitFor({ state: 'detached' });
  await page.close();
});

test('an upload that the former release kept, with its handle in it, goes on', async () => {
  const person = await tenant.user();
  const former = await browser.page();
  await former.goto(`${tenant.url}/api/v1/openapi.json`);
  await former.evaluate(`(async () => {
    const root = await navigator.storage.getDirectory();
    const handle = await root.getFileHandle('former.txt', { create: true });
    const file = await handle.createWritable();
    await file.write('former');
    await file.close();
    const ended = (request, name) => new Promise((resolve) => request.addEventListener(name, resolve));
    await ended(indexedDB.deleteDatabase('carrel-uploads'), 'success');
    const request = indexedDB.open('carrel-uploads', 2);
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore('uploads', { keyPath: 'key' }));
    await ended(request, 'success');
    const writing = request.result.transaction('uploads', 'readwrite');
    const rest = { person: ${JSON.stringify(person.user.id)}, tab: 'gone', folderId: null, isFolder: false, size: 6, url: '' };
    const state = { lastModified: 1, onTaken: 'ask', state: 'waiting', requestKey: 'former', keptAt: Date.now() };
    writing.objectStore('uploads').put({ ...rest, ...state, order: 1, key: 'former', path: ['former.txt'], handle });
    await ended(writing, 'complete');
    request.result.close();
  })()`);
  await former.close();

  const page = await filesOf(person);
  await panelOf(page).getByText('1 file uploaded').first().waitFor();

  expect(await arrived(person)).toEqual(once({ 'former.txt': 'former' }));
  await page.close();
});

test.each([
  ['has no storage', 'Object.defineProperty(window, "indexedDB", { value: undefined })'],
  ['has a full storage', 'IDBObjectStore.prototype.put = () => { throw new DOMException("full", "QuotaExceededError"); }'],
])('a browser that %s uploads, and says that it remembers nothing', async (_, script) => {
  const person = await tenant.user();
  const page = await filesOf(person);
  await page.addInitScript(script);
  await page.reload();
  await withoutHandles(page);
  // None of them ends before the page has tried to keep them.
  const held: (() => Promise<void>)[] = [];
  let isHeld = true;
  await page.route('**/api/v1/files', (route) => {
    if (route.request().method() !== 'POST' || !isHeld) return route.continue();
    held.push(() => route.continue());
    return undefined;
  });
  await upload(page, 'files', await onDisk(numbered(6)));

  const notice = panelOf(page).getByText('This browser cannot remember all uploads.');
  await notice.waitFor();
  expect(await notice.count()).toBe(1);
  isHeld = false;
  await Promise.all(held.map((goOn) => goOn()));
  await panelOf(page).getByText('6 files uploaded').first().waitFor();

  expect(await arrived(person)).toEqual(once(numbered(6)));
  await page.close();
});

test('an upload whose bytes the server has deleted meanwhile starts anew', async () => {
  const person = await tenant.user();
  const page = await filesOf(person);
  await withoutHandles(page);
  const film = join(scratch, 'film.bin');
  const bytes = randomBytes(20 * MIB);
  await writeFile(film, bytes);
  const rest = Promise.withResolvers<string>();
  let isHeld = true;
  await page.route('**/api/v1/files/uploads/*', (route) => {
    const sent = route.request();
    if (!isHeld || sent.method() !== 'PATCH' || sent.headers()['upload-offset'] === '0') return route.continue();
    return rest.resolve(sent.url());
  });
  await upload(page, 'files', film);
  const { pathname } = new URL(await rest.promise);
  await waitFor('it to be kept', async () => (await keptIn(page, person.user.id)).length === 1);
  isHeld = false;
  await page.reload();
  await panelOf(page).getByText('1 upload was interrupted.').waitFor();
  await person.api.delete(pathname.replace('/api/v1', ''), { headers: { 'Tus-Resumable': '1.0.0' } });

  await choose(page, panelOf(page).getByRole('button', { name: 'Choose files again' }), film);
  await panelOf(page).getByText('1 file uploaded').first().waitFor();

  expect(await arrived(person)).toEqual([`film.bin ${hash('sha256', bytes)} 1`]);
  await page.close();
});
