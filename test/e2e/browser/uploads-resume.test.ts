import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { drop, type FilesPage, sendAtMost } from '../../support/clients/files-page.ts';
import type { DemoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { type Position, type UploadRequests, uploadRequests } from './upload-requests.ts';
import { filesPage, onDisk, uploadTenant } from './uploads.ts';

const where = await platform();
/** The long form uploads 1 GiB: `make faults`. */
const MIB = Number(process.env['UPLOAD_MIB'] ?? 64);
const MIB_BYTES = 1024 * 1024;
/** The most that one request sends: CHUNK_BYTES of pkg/web/uploads/tus.ts. */
const PART_BYTES = 16 * MIB_BYTES;
const LIMIT_MS = 300_000 + MIB * 1_000;
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

/** Writes a file that no compression makes smaller, and returns its path. */
async function fileOf(name: string, mib: number): Promise<string> {
  const path = join(scratch, name);
  const file = await open(path, 'w');
  const mebibyte = randomBytes(MIB_BYTES);
  for (let at = 0; at < mib; at += 1) {
    mebibyte.writeUInt32BE(at);
    await file.write(mebibyte);
  }
  await file.close();
  return path;
}

async function sha256(source: NodeJS.ReadableStream): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(source, hash);
  return hash.digest('hex');
}

async function arrivedWhole(path: string): Promise<void> {
  const name = path.split('/').at(-1) ?? '';
  const { body } = await tenant.admin.get('/files', { query: { q: name } });
  const [file] = body.data;
  expect(await sha256(await tenant.admin.download(`/files/${file.id}/download`))).toBe(await sha256(createReadStream(path)));
}

/** Waits until so many of the bytes have arrived, and the page sends more: so slowly that the test is done before their end. */
async function isUnderWay(shown: FilesPage, bytes = PART_BYTES): Promise<void> {
  const bar = shown.panel.getByRole('progressbar').last();
  await waitFor('some of the bytes to be sent', async () => {
    if ((await bar.count()) === 0) throw new Error(`the page says: ${await shown.page.locator('body').innerText()}`);
    return Number(await bar.getAttribute('value')) > bytes + MIB_BYTES;
  });
  await sendAtMost(shown, MIB_BYTES / 2);
}

/** Expects that the page sent nothing again that the server had confirmed: no new upload, and no part of the former. */
function sentNothingTwice(former: Position, requests: UploadRequests): void {
  const since = requests.since(former);
  const offsets = since.filter(({ method }) => method === 'PATCH').map(({ offset }) => offset);
  expect(since.filter(({ method }) => method === 'POST')).toEqual([]);
  expect(new Set(since.map(({ path }) => path))).toEqual(new Set([former.path]));
  expect(Math.min(...offsets)).toBeGreaterThanOrEqual(former.confirmed);
}

/** Expects that the page asked how far the upload is before it went on. */
function wentOnFrom(former: Position, requests: UploadRequests): void {
  const methods = requests.since(former).map(({ method }) => method);
  // A part may have begun after the position, before it was interrupted.
  expect(methods).toContain('HEAD');
  expect(methods.indexOf('HEAD')).toBeLessThan(methods.lastIndexOf('PATCH'));
  sentNothingTwice(former, requests);
}

/** The process that serves the tenant. */
async function serverOf({ apiUrl }: DemoTenant): Promise<number | undefined> {
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.includes(`CARREL_APP_URL=${apiUrl.replace('/api/v1', '')}\0`)) return Number(pid);
  }
  return undefined;
}

test(
  `a file of ${MIB} MiB arrives whole although its server is killed midway`,
  async () => {
    const path = await fileOf('lecture.mp4', MIB);
    const half = Math.floor((MIB * MIB_BYTES) / 2 / PART_BYTES) * PART_BYTES;
    const shown = await filesPage(browser, where, tenant);
    const requests = uploadRequests(shown.page);
    // Each half takes 8 s at least, however large the file is: the page is slowed down before the second one ends.
    await sendAtMost(shown, (MIB * MIB_BYTES) / 16);
    await drop(shown, path);
    await isUnderWay(shown, half);

    const killed = await serverOf(tenant);
    if (killed === undefined) throw new Error('no process serves the tenant');
    const former = await requests.at(half);
    process.kill(killed, 'SIGKILL');
    await sendAtMost(shown, 0);

    await shown.panel.getByText('1 file uploaded').waitFor({ timeout: LIMIT_MS });
    wentOnFrom(former, requests);
    await arrivedWhole(path);
  },
  LIMIT_MS + 120_000,
);

test('a paused upload sends nothing, and continues where it was', async () => {
  const path = await fileOf('paused.bin', 40);
  const shown = await filesPage(browser, where, tenant);
  const requests = uploadRequests(shown.page);
  await sendAtMost(shown, 8 * MIB_BYTES);
  await drop(shown, path);
  await isUnderWay(shown);
  const former = await requests.at(PART_BYTES);

  await shown.panel.getByRole('button', { name: 'Pause paused.bin' }).click();
  await shown.panel.getByText('Uploads are paused').waitFor();
  const sent: string[] = [];
  shown.page.on('request', (request) => void sent.push(request.method()));
  await sendAtMost(shown, 0);
  await shown.panel.getByRole('button', { name: 'Resume paused.bin' }).click();
  await shown.panel.getByText('1 file uploaded').waitFor();

  expect(sent.filter((method) => method === 'POST')).toEqual([]);
  expect(sent.find((method) => method !== 'GET')).toBe('HEAD');
  wentOnFrom(former, requests);
  await arrivedWhole(path);
}, 300_000);

test('an upload waits while there is no connection, says so, and continues by itself', async () => {
  const path = await fileOf('train.bin', 40);
  const shown = await filesPage(browser, where, tenant);
  const requests = uploadRequests(shown.page);
  await sendAtMost(shown, 8 * MIB_BYTES);
  await drop(shown, path);
  await isUnderWay(shown);
  const former = await requests.at(PART_BYTES);

  await shown.page.context().setOffline(true);
  await shown.panel.getByText('There is no connection.').waitFor();
  await shown.page.context().setOffline(false);
  await sendAtMost(shown, 0);

  await shown.panel.getByText('1 file uploaded').waitFor();
  // In Chromium a request that is under way then may end all the same.
  sentNothingTwice(former, requests);
  await arrivedWhole(path);
}, 300_000);

test('after a reload an upload continues by its file handle, unasked where the browser may read the file', async () => {
  const shown = await filesPage(browser, where, tenant);
  const path = await fileOf('handle.bin', 40);
  // Files of the page's own file system have handles that need no permission; no dialog can be driven.
  await shown.page.addInitScript(`window.showOpenFilePicker = async () => {
    const root = await navigator.storage.getDirectory();
    return [await root.getFileHandle('handle.bin')];
  }`);
  await shown.page.reload();
  const mebibyte = (await readFile(path)).subarray(0, MIB_BYTES).toString('base64');
  await shown.page.evaluate(`navigator.storage.getDirectory().then(async (root) => {
    const file = await (await root.getFileHandle('handle.bin', { create: true })).createWritable();
    const bytes = Uint8Array.from(atob('${mebibyte}'), (character) => character.charCodeAt(0));
    for (let at = 0; at < 40; at += 1) {
      new DataView(bytes.buffer).setUint32(0, at);
      await file.write(bytes);
    }
    await file.close();
  })`);
  const requests = uploadRequests(shown.page);
  await sendAtMost(shown, 8 * MIB_BYTES);
  await shown.page.getByRole('button', { name: 'Upload', exact: true }).click();
  await shown.page.getByRole('menuitem', { name: 'Upload files' }).click();
  await isUnderWay(shown);
  const former = await requests.at(PART_BYTES);
  const asked = new Promise<string>((resolve) => {
    shown.page.once('dialog', (dialog) => {
      resolve(dialog.type());
      void dialog.accept();
    });
  });

  await shown.page.reload();
  await sendAtMost(shown, 0);

  expect(await asked).toBe('beforeunload');
  await shown.panel.getByText('1 file uploaded').waitFor();
  wentOnFrom(former, requests);
  await arrivedWhole(path);
}, 300_000);

test('without a file handle, an interrupted upload continues when the same file is chosen again', async () => {
  const path = await fileOf('chosen.bin', 40);
  const shown = await filesPage(browser, where, tenant, { noPicker: true });
  const { page, panel } = shown;
  page.on('dialog', (dialog) => void dialog.accept());
  const choose = async (click: () => Promise<void>): Promise<void> => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), click()]);
    await chooser.setFiles(path);
  };
  const requests = uploadRequests(page);
  await sendAtMost(shown, 8 * MIB_BYTES);
  await choose(async () => {
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Upload files' }).click();
  });
  await isUnderWay(shown);
  const former = await requests.at(PART_BYTES);

  await page.reload();
  await sendAtMost(shown, 0);
  await panel.getByText('1 upload was interrupted.').waitFor();
  const sent: string[] = [];
  page.on('request', (request) => void sent.push(request.method()));
  await choose(() => panel.getByRole('button', { name: 'Choose files again' }).click());
  await panel.getByText('1 file uploaded').waitFor();

  expect(sent.filter((method) => method === 'POST')).toEqual([]);
  wentOnFrom(former, requests);
  await arrivedWhole(path);
}, 300_000);
