import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hash, randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { drop, type FilesPage, sendAtMost } from '../../support/clients/files-page.ts';
import { rowOf, says, SENDING, sendingOf, stateOf } from '../../support/clients/upload-rows.ts';
import type { DemoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { range, waitFor } from '../../support/wait.ts';
import { filesPage, onDisk, uploadTenant } from './uploads.ts';

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

/** A folder on the disk with these files. */
async function folderOf(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(join(scratch, name), { recursive: true });
  await Promise.all(Object.entries(files).map(([file, text]) => writeFile(join(scratch, name, file), text)));
  return join(scratch, name);
}

const numbered = (count: number, text: string): Record<string, string> =>
  Object.fromEntries(range(count).map((n) => [`${n}.txt`, text]));

/** The names below a folder of the root, with the number of versions of each. */
async function stored(folder: string): Promise<string[]> {
  const { body: root } = await tenant.admin.get('/folders/root/children', { query: { limit: 200 } });
  const { id } = root.data.find(({ name }: { name: string }) => name === folder);
  const { body } = await tenant.admin.get('/files', { query: { folder_id: id, include: 'versions_count', limit: 200 } });
  return body.data
    .map(({ name, versions_count: versions }: { name: string; versions_count: number }) => `${name} ${versions}`)
    .toSorted();
}

/** Uploads a folder of three files, and again with other contents. */
async function conflicting(name: string): Promise<FilesPage> {
  const shown = await filesPage(browser, where, tenant);
  await drop(shown, await folderOf(name, numbered(3, 'first')));
  await shown.panel.getByText('3 files uploaded').waitFor();
  await drop(shown, await folderOf(name, { ...numbered(3, 'second'), 'new.txt': 'new' }));
  await shown.panel.getByText('3 files have names that are taken.').waitFor();
  return shown;
}

test('taken names are asked about once for all files; Replace gives each its next version', async () => {
  const { panel } = await conflicting('Replaced');

  await panel.getByRole('button', { name: 'Replace', exact: true }).click();
  await panel.getByText('4 files uploaded').waitFor();

  expect(await stored('Replaced')).toEqual(['0.txt 2', '1.txt 2', '2.txt 2', 'new.txt 1']);
});

test('taken names are asked about once for all files; Keep both gives each another name', async () => {
  const { panel } = await conflicting('Kept');

  await panel.getByRole('button', { name: 'Keep both', exact: true }).click();
  await panel.getByText('4 files uploaded').waitFor();

  expect(await stored('Kept')).toEqual([
    '0 (1).txt 1',
    '0.txt 1',
    '1 (1).txt 1',
    '1.txt 1',
    '2 (1).txt 1',
    '2.txt 1',
    'new.txt 1',
  ]);
});

test('taken names are asked about once for all files; Skip leaves each as it is', async () => {
  const { panel } = await conflicting('Skipped');

  await panel.getByRole('button', { name: 'Skip', exact: true }).click();
  await panel.getByText('1 file uploaded').waitFor();

  expect(await stored('Skipped')).toEqual(['0.txt 1', '1.txt 1', '2.txt 1', 'new.txt 1']);
});

test('one file of several can be decided about in its row', async () => {
  const { page, panel } = await conflicting('One');

  await panel.getByRole('button', { name: 'Decide about 1.txt' }).click();
  await page.getByRole('menuitem', { name: 'Replace as new version' }).click();
  await panel.getByText('2 files have names that are taken.').waitFor();
  await panel.getByRole('button', { name: 'Skip', exact: true }).click();
  await panel.getByText('2 files uploaded').waitFor();

  expect(await stored('One')).toEqual(['0.txt 1', '1.txt 2', '2.txt 1', 'new.txt 1']);
});

test('a full storage stops the list with one message, and it continues after there is room', async () => {
  const shown = await filesPage(browser, where, tenant);
  const { body: me } = await tenant.admin.get('/users/me');
  const quota = async (bytes: number): Promise<void> => {
    const { status } = await tenant.admin.patch(`/users/${me.id}`, { storage_quota: bytes });
    expect(status).toBe(200);
  };
  await quota(1);

  await drop(shown, await folderOf('Full', numbered(30, 'text')));
  await shown.panel.getByText('The storage is full.').waitFor();
  expect(await shown.panel.getByText('The storage is full.').count()).toBe(1);
  expect(await shown.panel.getByText('could not be uploaded').count()).toBe(0);

  await quota(me.storage_quota);
  await shown.panel.getByRole('button', { name: 'Try again now' }).click();
  await shown.panel.getByText('30 files uploaded').waitFor();
  expect(await stored('Full')).toHaveLength(30);
});

test('a screen reader hears the end in few sentences, and the panel has no axe findings in light and dark', async () => {
  const shown = await conflicting('Spoken');
  const { page, panel } = shown;
  await page.evaluate(`
    window.spoken = [];
    new MutationObserver(() => {
      for (const region of document.querySelectorAll('[role=status]')) {
        const text = region.textContent.trim();
        if (text !== '' && text !== window.spoken.at(-1)) window.spoken.push(text);
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  `);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await axeFindings(page)).toEqual([]);
  }

  await panel.getByRole('button', { name: 'Keep both', exact: true }).click();
  await panel.getByText('4 files uploaded').waitFor();

  const spoken = await waitFor('the last sentence', async () => {
    const said = await page.evaluate<string[]>('window.spoken');
    return said.at(-1) === '4 files uploaded.' && said;
  });
  // The taken names, a quarter that was passed, and the end.
  expect(spoken.length).toBeLessThanOrEqual(4);
});

test('the panel is left open by going to another page, and closed by its button', async () => {
  const shown = await filesPage(browser, where, tenant);
  await drop(shown, await folderOf('Elsewhere', numbered(2, 'text')));
  await shown.panel.getByText('2 files uploaded').waitFor();

  await shown.page.getByRole('link', { name: 'Elsewhere' }).click();
  await shown.page.getByRole('link', { name: '1.txt' }).or(shown.page.getByText('1.txt')).first().waitFor();
  await shown.panel.getByText('2 files uploaded').waitFor();
  await shown.panel.getByRole('button', { name: 'Close uploads' }).click();

  await shown.panel.waitFor({ state: 'detached' });
});

test('on every page the panel says how much is sent, how fast and how long it takes, until the file is whole', async () => {
  const [MIB, name] = [1024 * 1024, 'slow.bin'];
  const [path, bytes] = [join(scratch, name), randomBytes(20 * MIB)];
  await writeFile(path, bytes);
  const shown = await filesPage(browser, where, tenant);
  const { page } = shown;
  // A page that is loaded anew would begin without it.
  await page.evaluate('window.isSamePage = true');
  // It is under way for 160 s, unless the limit is lifted.
  await sendAtMost(shown, MIB / 8);
  await drop(shown, path);
  const states = [sendingOf(await says(shown, name, SENDING))];

  for (const [link, heading] of [
    ['Jobs', 'Jobs'],
    ['Links', 'Links'],
    ['Administration', 'People'],
  ] as const) {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: link, exact: true }).click();
    await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor();
    await rowOf(shown, name).waitFor();
    const before = sendingOf(await says(shown, name, SENDING));
    const later = await waitFor(`more to be sent while ${link} is shown`, async () => {
      const state = sendingOf(await stateOf(shown, name));
      return state.sent > before.sent && state;
    });
    states.push(before, later);
  }
  await sendAtMost(shown, 0);
  await says(shown, name, /^Uploaded$/);
  await shown.panel.getByText('1 file uploaded').waitFor();

  expect(states.map(({ size }) => size)).toEqual(states.map(() => 20 * MIB));
  for (const { bytesPerSecond, secondsLeft } of states) expect([bytesPerSecond > 0, secondsLeft > 0]).toEqual([true, true]);
  expect(await page.evaluate('window.isSamePage')).toBe(true);
  const { data } = (await tenant.admin.get('/files', { query: { q: name } })).body;
  expect(data.map((file: { name: string; checksum: string }) => [file.name, file.checksum])).toEqual([
    [name, hash('sha256', bytes)],
  ]);
});
