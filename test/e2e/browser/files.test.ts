import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FrameLocator, Page, Route } from 'playwright-core';
import { makeScratch } from '../../support/backends/backends.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platform } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { apiOf, courseShown, linkName, lmsTenant, type LmsTenant, makeFolder, openInFrame, reloadFrame } from './course.ts';

const where = await platform();
let tenant: LmsTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([lmsTenant(where), openBrowser('third-party blocked', [], { isWhole: true })]);
}, 180_000);

afterAll(() => browser?.close());

/** The course's page in a frame of the LMS. */
async function course(
  person: 'Ada Okafor' | 'Ben Lindqvist',
  title: 'History' | 'Physics',
): Promise<{ page: Page; tool: FrameLocator }> {
  const page = await browser.page();
  const tool = await openInFrame(page, where, linkName(tenant, person, title, 'a frame'));
  await courseShown(tool, title);
  return { page, tool };
}

async function upload(tool: FrameLocator, ...files: { name: string; buffer: Buffer }[]): Promise<void> {
  await tool.getByLabel('Choose files').setInputFiles(files.map((file) => ({ ...file, mimeType: 'application/octet-stream' })));
  await tool.getByRole('button', { name: 'Upload', exact: true }).click();
}

test('a learner downloads byte for byte what an instructor uploaded, and a webhook reports the upload', async () => {
  const { tool: instructor } = await course('Ada Okafor', 'History');
  const [name, bytes] = ['Übung 1 – 演習.pdf', randomBytes(3 * 1024 * 1024)];
  await upload(instructor, { name, buffer: bytes });
  await instructor.getByText('1 of 1 uploaded').waitFor();

  const { page, tool: learner } = await course('Ben Lindqvist', 'History');
  const saving = page.waitForEvent('download');
  await learner.getByRole('button', { name: `Download ${name}` }).click();
  const saved = await saving;

  const facts = { name: saved.suggestedFilename(), failure: await saved.failure(), address: saved.url() };
  expect(facts).toEqual({ name, failure: null, address: expect.stringContaining('/api/v1/tickets/v1.') });
  expect((await readFile(await saved.path())).equals(bytes)).toBe(true);
  expect(await learner.getByRole('heading', { name: 'Add files' }).count()).toBe(0);
  const receiver = await browser.page();
  await waitFor('the webhook at the demo receiver', async () => {
    await receiver.goto(new URL('/', tenant.receiverUrl).href);
    const row = receiver
      .getByRole('row')
      .filter({ hasText: `/${tenant.namespace}` })
      .filter({ hasText: name });
    return (await row.count()) === 1 && (await row.getByRole('cell', { name: 'good', exact: true }).count()) === 1;
  });
});

test('a taken name asks the user, who can keep both files', async () => {
  const { tool } = await course('Ada Okafor', 'Physics');
  await upload(tool, { name: 'plan.txt', buffer: Buffer.from('one') }, { name: 'notes.txt', buffer: Buffer.from('notes') });
  await tool.getByText('2 of 2 uploaded').waitFor();

  await upload(tool, { name: 'plan.txt', buffer: Buffer.from('two') });
  await tool.getByText('name_conflict').waitFor();
  await tool.getByRole('button', { name: 'Keep both files named plan.txt' }).click();

  const shown = tool.getByRole('list', { name: 'Files' }).getByRole('listitem');
  await shown.filter({ hasText: 'plan (1).txt' }).waitFor();
  expect(await shown.count()).toBe(3);
});

/** A media element. This file is not compiled with the types of browsers. */
interface Media {
  readonly src: string;
  readonly readyState: number;
  readonly duration: number;
  currentTime: number;
}

/** Silence of so many bytes: PCM, 16 bits, 44.1 kHz, two channels. */
function recording(bytes: number): Buffer {
  const [rate, frame] = [44_100, 4];
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + bytes, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(2, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * frame, 28);
  head.writeUInt16LE(frame, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(bytes, 40);
  return Buffer.concat([head, Buffer.alloc(bytes)]);
}

test('a recording whose address is over before its end goes on at the same place by a new one', async () => {
  const { page, tool } = await course('Ada Okafor', 'Physics');
  const name = 'lecture.wav';
  await tool.getByLabel('Choose files').setInputFiles([{ name, mimeType: 'audio/wav', buffer: recording(40 * 1024 * 1024) }]);
  await tool.getByRole('button', { name: 'Upload', exact: true }).click();
  await tool.getByText('1 of 1 uploaded').waitFor();
  await tool.getByRole('button', { name: `Preview ${name}` }).click();
  const player = tool.locator('audio');
  const state = () =>
    player.evaluate(({ src, currentTime: at, readyState: ready, duration: end }: Media) => ({ src, at, ready, end }));
  const { src, end } = await waitFor('the recording to be ready', async () => {
    const now = await state();
    return now.ready >= 2 && now;
  });

  // The server answers this after a minute.
  await page.route(src, (route) =>
    route.fulfill({ status: 404, contentType: 'application/json', body: '{"error":"not_found"}' }),
  );
  await player.evaluate((media: Media) => void (media.currentTime = media.duration - 5));

  const later = await waitFor('the recording to be ready at the other place', async () => {
    const now = await state();
    // It begins at its start, and goes to that place once its length is known.
    return now.src !== src && now.ready >= 2 && now.at > 0 && now;
  });
  expect(Math.round(later.at)).toBe(Math.round(end - 5));
});

interface UploadRequests {
  /** The offset of each request that sends bytes. */
  readonly offsets: readonly string[];
  next(what: 'pass' | 'lose' | 'hold'): void;
  /** Lets the page learn where a lost upload is. */
  reconnect(): void;
}

/**
 * The requests of a page's uploads. A test drops or holds the next one; after a lost one the page is not connected again until
 * the test says so.
 */
async function uploadRequests(page: Page): Promise<UploadRequests> {
  const offsets: string[] = [];
  let then: 'pass' | 'lose' | 'hold' = 'pass';
  let connection = Promise.resolve();
  let reconnect = (): void => {};
  await page.route('**/api/v1/files/uploads/*', async (route: Route) => {
    const method = route.request().method();
    if (method === 'HEAD') await connection;
    if (method !== 'PATCH') return route.continue();
    offsets.push(route.request().headers()['upload-offset'] ?? '');
    if (then === 'pass' || offsets.at(-1) === '0') return route.continue();
    if (then === 'hold') return;
    then = 'hold';
    ({ promise: connection, resolve: reconnect } = Promise.withResolvers<void>());
    return route.abort('connectionfailed');
  });
  return { offsets, next: (what) => (then = what), reconnect: () => reconnect() };
}

test('a large upload goes on where it was after a lost connection, a pause and a new launch, and each is said', async () => {
  const MIB = 1024 * 1024;
  const [name, bytes] = ['lecture.bin', randomBytes(40 * MIB)];
  const path = join(await makeScratch(), name);
  await writeFile(path, bytes);
  const { page, tool } = await course('Ada Okafor', 'Physics');
  const requests = await uploadRequests(page);
  const choose = async (): Promise<void> => {
    await tool.getByLabel('Choose files').setInputFiles(path);
    await tool.getByRole('button', { name: 'Upload', exact: true }).click();
  };

  requests.next('lose');
  await choose();
  await tool.getByText('the connection is lost, it goes on by itself').waitFor();
  requests.reconnect();
  await tool.getByText('; uploading lecture.bin').waitFor();
  await waitFor('the request after the lost one', () => requests.offsets.length === 3);
  await tool.getByRole('button', { name: `Pause the upload of ${name}` }).click();
  await tool.getByText('1 paused').waitFor();
  await tool.getByRole('button', { name: `Resume the upload of ${name}` }).click();
  await waitFor('the resumed request', () => requests.offsets.length === 4);
  await openInFrame(page, where, linkName(tenant, 'Ada Okafor', 'Physics', 'a frame'));
  await courseShown(tool, 'Physics');
  requests.next('pass');
  await choose();
  await tool.getByText('1 of 1 uploaded').waitFor();

  expect(requests.offsets.map((offset) => Number(offset) / MIB)).toEqual([0, 16, 16, 16, 16, 32]);
  const saving = page.waitForEvent('download');
  await tool.getByRole('button', { name: `Download ${name}` }).click();
  expect((await readFile(await (await saving).path())).equals(bytes)).toBe(true);
});

test('a cancelled upload is gone from page and server; one without free quota says so in words', async () => {
  const { page, tool } = await course('Ada Okafor', 'Physics');
  const requests = await uploadRequests(page);
  requests.next('hold');
  await upload(tool, { name: 'unwanted.bin', buffer: randomBytes(20 * 1024 * 1024) });
  await waitFor('the second request', () => requests.offsets.length === 2);
  const deleted = page.waitForResponse((response) => response.request().method() === 'DELETE');
  await tool.getByRole('button', { name: 'Cancel the upload of unwanted.bin' }).click();

  expect((await deleted).status()).toBe(204);
  await tool.getByRole('list', { name: 'Uploads' }).waitFor({ state: 'detached' });

  const users: { data: { id: string; display_name: string; storage_quota: number }[] } = (await tenant.admin.get('/users')).body;
  const ada = users.data.find(({ display_name }) => display_name === 'Ada Okafor');
  await tenant.admin.patch(`/users/${ada?.id}`, { storage_quota: 1 });
  await upload(tool, { name: 'too-much.txt', buffer: Buffer.from('more than one byte') });
  await tool.getByText('Your storage is full. Delete files, or ask the administrators of this service for more.').waitFor();
  await tenant.admin.patch(`/users/${ada?.id}`, { storage_quota: ada?.storage_quota });
  await tool.getByRole('button', { name: 'Try too-much.txt again' }).click();
  await tool.getByText('1 of 1 uploaded').waitFor();
});

test('a course folder opens on the page: instructors upload, learners download, and the path leads back', async () => {
  await makeFolder((await course('Ada Okafor', 'History')).page, tenant, 'History', 'Week 1');
  const { tool: instructor } = await course('Ada Okafor', 'History');
  await instructor.getByRole('button', { name: 'Open the folder Week 1' }).click();
  await instructor.getByText('There are no files here yet.').waitFor();
  await upload(instructor, { name: 'lab.txt', buffer: Buffer.from('in the folder') });
  await instructor.getByRole('button', { name: 'Download lab.txt' }).waitFor();
  await instructor.getByRole('navigation', { name: 'Path' }).getByRole('button', { name: 'History' }).click();
  await instructor.getByRole('button', { name: 'Open the folder Week 1' }).waitFor();

  const { page, tool: learner } = await course('Ben Lindqvist', 'History');
  await learner.getByRole('button', { name: 'Open the folder Week 1' }).click();
  const saving = page.waitForEvent('download');
  await learner.getByRole('button', { name: 'Download lab.txt' }).click();

  expect(await readFile(await (await saving).path(), 'utf8')).toBe('in the folder');
  expect(await instructor.getByRole('button', { name: 'Download lab.txt' }).count()).toBe(0);
});

test('a learner hands in a file, sees when, and hands in another, which counts; teachers have nothing to hand in', async () => {
  const { page, tool } = await course('Ben Lindqvist', 'Physics');
  await tool.getByText('You have not handed in anything yet.').waitFor();
  for (const [name, button] of [
    ['essay.txt', 'Hand in'],
    ['essay 2.txt', 'Hand in again'],
  ] as const) {
    await upload(tool, { name, buffer: Buffer.from(`This is ${name}.`) });
    await tool.locator('#hand-in-file option:checked', { hasText: name }).waitFor({ state: 'attached' });
    await tool.getByRole('button', { name: button, exact: true }).click();
    await tool.getByText(new RegExp(`^${name} was handed in on .+, version 1\\.$`)).waitFor();
  }
  await reloadFrame(page);
  await tool.getByText(/^essay 2\.txt was handed in on /).waitFor();
  const saving = page.waitForEvent('download');
  await tool.getByRole('button', { name: 'Download what you handed in' }).click();

  expect(await readFile(await (await saving).path(), 'utf8')).toBe('This is essay 2.txt.');
  const { tool: instructor } = await course('Ada Okafor', 'Physics');
  await instructor.getByRole('heading', { name: 'Grades' }).waitFor();
  expect(await instructor.getByRole('heading', { name: 'Hand in' }).count()).toBe(0);
});

test('an instructor shares a file and a folder with the course, whose learner opens both, and takes one back', async () => {
  const { page, tool: instructor } = await course('Ada Okafor', 'History');
  const ada = await apiOf(page, tenant);
  const { body: folder } = await ada.post('/folders', { name: 'Maps' });
  await ada.upload('/files', { name: 'map.txt', file: Buffer.from('a map'), fields: { folder_id: folder.id } });
  await ada.upload('/files', { name: 'sources.txt', file: Buffer.from('sources') });
  await instructor.getByRole('button', { name: 'Choose from my files' }).click();
  for (const name of ['Maps', 'sources.txt'])
    await instructor.getByRole('button', { name: `Share ${name} with the course` }).click();
  for (const name of ['Maps', 'sources.txt'])
    await instructor.getByRole('button', { name: `Take ${name} back from the course` }).waitFor();

  const { page: learnerPage, tool: learner } = await course('Ben Lindqvist', 'History');
  await learner.getByRole('button', { name: 'Download sources.txt' }).waitFor();
  await learner.getByRole('button', { name: 'Open the folder Maps' }).click();
  const saving = learnerPage.waitForEvent('download');
  await learner.getByRole('button', { name: 'Download map.txt' }).click();
  expect(await readFile(await (await saving).path(), 'utf8')).toBe('a map');

  await instructor.getByRole('button', { name: 'Take sources.txt back from the course' }).click();
  await instructor.getByRole('button', { name: 'Share sources.txt with the course' }).waitFor();
  const { tool: later } = await course('Ben Lindqvist', 'History');
  await later.getByRole('button', { name: 'Open the folder Maps' }).waitFor();
  expect(await later.getByRole('button', { name: 'Download sources.txt' }).count()).toBe(0);

  const asked: string[] = [];
  page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
  await reloadFrame(page);
  await instructor.getByRole('button', { name: 'Choose from my files' }).click();
  await instructor.getByRole('button', { name: 'Take Maps back from the course' }).waitFor();
  await instructor.getByRole('button', { name: 'Share sources.txt with the course' }).waitFor();
  expect(asked.filter((path) => /\/permissions$|\/root\/children$/.test(path))).toEqual(['/api/v1/folders/root/children']);
});

test('everything on the page can be done with the keyboard', async () => {
  const { page, tool } = await course('Ada Okafor', 'History');
  await upload(tool, { name: 'keys.txt', buffer: Buffer.from('by keyboard') });
  await tool.getByRole('button', { name: 'Download keys.txt' }).waitFor();
  const reached: string[] = [];
  await tool.locator('body').click({ position: { x: 1, y: 1 } });

  for (let presses = 0; presses < 12; presses++) {
    await page.keyboard.press('Tab');
    const focused = tool.locator(':focus');
    if ((await focused.count()) === 0) continue;
    reached.push(
      (await focused.getAttribute('aria-label')) ?? (await focused.getAttribute('id')) ?? (await focused.textContent()) ?? '',
    );
    if (reached.at(-1) === 'Download keys.txt') break;
  }
  const saving = page.waitForEvent('download');
  await page.keyboard.press('Enter');

  expect(reached).toEqual(expect.arrayContaining([expect.stringMatching(/-input$/), 'Download keys.txt']));
  expect((await saving).suggestedFilename()).toBe('keys.txt');
});

test('a share link’s file is downloaded by keyboard, after a wrong password too; a used-up link says so', async () => {
  const [name, bytes] = ['Übung 2 – 演習.pdf', randomBytes(1024 * 1024)];
  const { body: file } = await tenant.admin.upload('/files', { name, file: bytes });
  const { body: share } = await tenant.admin.post(`/files/${file.id}/share`, {
    password: 'correct horse battery',
    max_downloads: 1,
  });
  const page = await browser.page();
  await page.goto(share.url);
  // What the server sent gives way to the page's own form, which takes the focus.
  await page.getByRole('button', { name: 'Show password' }).waitFor();
  const focused = page.locator('[name=password]:focus');
  await focused.waitFor();
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('status').filter({ hasText: 'This password is wrong.' }).waitFor();
  await focused.waitFor();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('correct horse battery');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name }).waitFor();
  await page.locator('h1:focus').waitFor();
  const saving = page.waitForEvent('download');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const saved = await saving;

  expect([saved.suggestedFilename(), await saved.failure()]).toEqual([name, null]);
  expect((await readFile(await saved.path())).equals(bytes)).toBe(true);
  await page.goto(share.url);
  await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
});
