import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { greyPng } from '../../support/data/small-media.ts';
import type { DemoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { inParallel, range, waitFor } from '../../support/wait.ts';
import { addPerson, addressOf, openAs, select } from './app.ts';
import { type Api, listed, namesOn, personWith, put, row, said } from './lists.ts';
import { onDisk, uploadTenant } from './uploads.ts';

/** How people bring files in, put them in order and find them, also many of them. Each test has a person of its own. */
const where = await platform();
let scratch: string;
let tenant: DemoTenant;
let browser: TestBrowser;

beforeAll(async () => {
  scratch = await onDisk();
  [tenant, browser] = await Promise.all([uploadTenant(where), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await rm(scratch, { recursive: true, force: true });
});

/** The paths of all of somebody's files, in order. */
async function pathsOf(api: Api): Promise<string[]> {
  const paths: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { body } = await api.get('/files', { query: { limit: 200, ...(cursor === undefined ? {} : { cursor }) } });
    paths.push(...body.data.map(({ path }: { path: string }) => path));
    cursor = body.pagination.next_cursor as string | null;
  }
  return paths.toSorted();
}

test('a file that is dragged onto a folder with Ctrl is copied there', async () => {
  const { page, api } = await personWith(browser, tenant, 'Ada Copies', 'one.txt', 'There/');
  await listed(page, 'There', 'one.txt');
  const dragCopying = async (): Promise<void> => {
    await page.keyboard.down('Control');
    await row(page, 'one.txt').dragTo(row(page, 'There'));
    await page.keyboard.up('Control');
  };
  await Promise.all([said(page, '1 item copied'), dragCopying()]);

  expect(await pathsOf(api)).toEqual(['/There/one.txt', '/one.txt']);
  expect(await namesOn(page)).toEqual(['There', 'one.txt']);
});

test('a folder that is chosen is uploaded with all that is below it', async () => {
  const { page, api } = await personWith(browser, tenant, 'Ben Chooses');
  const files = { 'Course/plan.txt': 'the plan', 'Course/week 1/notes.txt': 'the notes' };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(scratch, path)), { recursive: true });
    await writeFile(join(scratch, path), text);
  }
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('menuitem', { name: 'Upload folder' }).click(),
  ]);
  await chooser.setFiles(join(scratch, 'Course'));
  await page.getByRole('region', { name: 'Uploads' }).getByText('2 files uploaded').first().waitFor();
  await listed(page, 'Course');

  const { data } = (await api.get('/files')).body;
  expect(Object.fromEntries(data.map(({ path, checksum }: Record<string, string>) => [path, checksum]))).toEqual(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`/${path}`, hash('sha256', text)])),
  );
});

test('a list is sorted by size: the largest file first, then the smallest, and folders before both', async () => {
  const { page, api } = await personWith(browser, tenant, 'Cleo Sorts', 'Z/', 'A/');
  for (const [name, bytes] of [
    ['a.bin', 2_000],
    ['b.bin', 30_000],
    ['c.bin', 10],
  ] as const)
    await put(api, name, Buffer.alloc(bytes));
  await page.reload();
  await listed(page, 'A', 'Z', 'a.bin', 'b.bin', 'c.bin');
  const size = page.getByRole('columnheader', { name: 'Size' });
  await size.getByRole('button').click();
  await listed(page, 'A', 'Z', 'b.bin', 'a.bin', 'c.bin');
  const largest = await size.getAttribute('aria-sort');
  await size.getByRole('button').click();
  await listed(page, 'A', 'Z', 'c.bin', 'a.bin', 'b.bin');

  expect([largest, await size.getAttribute('aria-sort')]).toEqual(['descending', 'ascending']);
});

test('250 files, more than a page of the list holds, are selected by Ctrl+A and moved at once', async () => {
  const { page, api } = await personWith(browser, tenant, 'Dan Moves', 'Archive/');
  const names = range(250).map((n) => `file ${String(n + 1).padStart(3, '0')}.txt`);
  const [first = ''] = names;
  const { body: inbox } = await api.post('/folders', { name: 'Inbox' });
  await inParallel(names, 10, (name) => put(api, name, Buffer.from(name), inbox.id));
  await page.goto(addressOf(tenant, `/files/${inbox.id}`));
  await select(page, first);
  await page.keyboard.press('ControlOrMeta+a');
  await page.getByRole('toolbar').getByRole('button', { name: 'Move …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Move 250 items' });
  await dialog.getByRole('button', { name: 'Archive' }).click();
  await dialog.getByText('There are no folders in here.').waitFor();
  await Promise.all([said(page, '250 items moved'), dialog.getByRole('button', { name: 'Move here' }).click()]);
  await page.getByText('This folder is empty').waitFor();

  expect(await pathsOf(api)).toEqual(names.map((name) => `/Archive/${name}`));
});

test('a search is narrowed to the files of one person, and to those that were made within some days', async () => {
  const reader = await addPerson(tenant, 'Eda Reads');
  for (const name of ['Fay Shares', 'Gus Shares']) {
    const owner = await addPerson(tenant, name);
    const api = await tenant.anonymous.login(owner.email, owner.password);
    const id = await put(api, `cells of ${name}.txt`);
    await api.post(`/files/${id}/permissions`, { user_id: reader.id, permission_level: 'read' });
  }
  const [ofFay, ofGus] = ['cells of Fay Shares.txt', 'cells of Gus Shares.txt'];
  const page = await openAs(browser, tenant, reader, '/search?q=cells');
  const found = (...names: string[]): Promise<boolean> =>
    waitFor(`${names.join()} alone`, async () => (await namesOn(page)).toSorted().join() === names.join());
  await found(ofFay, ofGus);
  const [owner, created] = [page.getByLabel('Owner', { exact: true }), page.getByLabel('Created', { exact: true })];
  await owner.selectOption({ label: 'Fay Shares' });
  await found(ofFay);
  await owner.selectOption({ label: 'Gus Shares' });
  await found(ofGus);
  await owner.selectOption('Any');
  await found(ofFay, ofGus);

  // No file can be made older here: for the page it is three days later.
  await page.evaluate('{ const { now } = Date; Date.now = () => now() + 3 * 86_400_000; }');
  await created.selectOption('Last 24 hours');
  await page.getByRole('main').getByText('Nothing was found', { exact: true }).first().waitFor();
  const ofDay = await namesOn(page);
  await created.selectOption('Last 7 days');
  await found(ofFay, ofGus);

  expect(ofDay).toEqual([]);
});

// The choice of pictures counts for all pages of the browser: this test is the last one.
test('a picture has a thumbnail that the page has made of its points', async () => {
  const { page, api } = await personWith(browser, tenant, 'Hana Looks');
  await api.upload('/files', { name: 'photo.png', file: greyPng(960, 640), type: 'image/png' });
  await page.reload();
  await row(page, 'photo.png').waitFor();
  await page.getByRole('button', { name: 'Pictures', exact: true }).click();
  const drawn = await waitFor('the thumbnail to be drawn', () =>
    page.evaluate<[string, number, number] | false>(`(() => {
      const image = document.querySelector('.files-thumbnail img');
      if (!image?.complete || image.naturalWidth === 0) return false;
      return [new URL(image.src).protocol, image.naturalWidth, image.naturalHeight];
    })()`),
  );

  expect(drawn).toEqual(['blob:', 480, 320]);
});
