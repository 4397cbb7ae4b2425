import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { drop, type FilesPage, openFiles, sendAtMost } from '../../support/clients/files-page.ts';
import { says, SENDING, sendingOf, stateOf } from '../../support/clients/upload-rows.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import type { Person } from './file-pages.ts';

/** What the row of each upload says, and what its buttons do with that one alone. */
const MIB = 1 << 20;

let tenant: TestTenant;
let browser: TestBrowser;
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'carrel-rows-'));
  [tenant, browser] = await Promise.all([
    startTenant({ name: 'Biology', maxUploadBytes: 64 * MIB }),
    openBrowser('third-party blocked'),
  ]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
  await rm(scratch, { recursive: true, force: true });
});

/** Files of the disk that no compression makes smaller, and what each name holds. */
async function filesOf(sizes: Readonly<Record<string, number>>): Promise<{ paths: string[]; sums: string[][] }> {
  const made = await Promise.all(
    Object.entries(sizes).map(async ([name, size]) => {
      const [path, bytes] = [join(scratch, name), randomBytes(size)];
      await writeFile(path, bytes);
      return { path, sum: [name, hash('sha256', bytes)] };
    }),
  );
  return { paths: made.map(({ path }) => path), sums: made.map(({ sum }) => sum) };
}

async function shownTo({ user, password }: Person): Promise<FilesPage> {
  const blank = await browser.page();
  for (const page of blank.context().pages()) if (page !== blank) await page.close();
  await blank.context().clearCookies();
  return openFiles(browser, tenant.url, { email: user.email, password });
}

async function arrived({ user, password }: Person): Promise<string[][]> {
  const { data } = (await (await tenant.anonymous.login(user.email, password)).get('/files', { query: { sort: 'name' } })).body;
  return data.map(({ name, checksum }: { name: string; checksum: string }) => [name, checksum]);
}

test('each row says how fast its file is sent and how long that takes, and counts down to its end', async () => {
  const person = await tenant.user();
  const shown = await shownTo(person);
  const { paths, sums } = await filesOf({ 'film.bin': 24 * MIB, 'talk.bin': 12 * MIB });
  await sendAtMost(shown, 3 * MIB);
  await drop(shown, ...paths);
  const early = sendingOf(await says(shown, 'film.bin', SENDING));
  const other = sendingOf(await says(shown, 'talk.bin', SENDING));
  const later = await waitFor('more than half of the film to be sent, and less time to be left than at first', async () => {
    const state = sendingOf(await stateOf(shown, 'film.bin'));
    return state.sent > state.size / 2 && state.secondsLeft < early.secondsLeft && state;
  });
  await sendAtMost(shown, 0);
  await says(shown, 'film.bin', /^Uploaded$/);
  await says(shown, 'talk.bin', /^Uploaded$/);

  expect([early.size, other.size]).toEqual([24 * MIB, 12 * MIB]);
  for (const { sent, size, bytesPerSecond, secondsLeft } of [early, other, later]) {
    expect([bytesPerSecond > 0.2 * MIB, bytesPerSecond < 6 * MIB]).toEqual([true, true]);
    const seconds = (size - sent) / bytesPerSecond;
    expect(secondsLeft).toBeGreaterThan(seconds * 0.95 - 1);
    // The time is rounded up, to whole minutes where it is one.
    expect(secondsLeft).toBeLessThan(seconds * 1.05 + (secondsLeft < 60 ? 2 : 60));
  }
  expect(await arrived(person)).toEqual(sums);
}, 300_000);

test('of several failed files, one that is tried again is sent alone, and the others wait for their turn', async () => {
  const person = await tenant.user();
  const shown = await shownTo(person);
  const { page, panel } = shown;
  const { paths, sums } = await filesOf({ 'one.bin': 300_000, 'small.txt': 10, 'two.bin': 300_000 });
  await tenant.restart({ CARREL_MAX_UPLOAD_BYTES: 100_000 });
  await drop(shown, ...paths);
  await panel.getByText('2 files could not be uploaded').first().waitFor();
  const reasons = [await stateOf(shown, 'one.bin'), await stateOf(shown, 'two.bin')];
  await tenant.restart();
  const posted: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && posted.push(new URL(request.url()).pathname));
  const tryAgain = (name: string): Promise<void> => panel.getByRole('button', { name: `Try ${name} again` }).click();

  await tryAgain('one.bin');
  await says(shown, 'one.bin', /^Uploaded$/);
  await panel.getByText('1 file could not be uploaded').first().waitFor();
  const [afterOne, left] = [[...posted], await stateOf(shown, 'two.bin')];
  await tryAgain('two.bin');
  await panel.getByText('3 files uploaded').first().waitFor();

  const tooLarge = 'The file is larger than this institution allows.';
  expect([reasons, left]).toEqual([[tooLarge, tooLarge], tooLarge]);
  expect([afterOne, posted]).toEqual([['/api/v1/files'], ['/api/v1/files', '/api/v1/files']]);
  expect(await arrived(person)).toEqual(sums);
});

test('one file is paused while another goes on, all are paused and resumed, and both arrive whole', async () => {
  const person = await tenant.user();
  const shown = await shownTo(person);
  const { panel } = shown;
  const { paths, sums } = await filesOf({ 'film.bin': 24 * MIB, 'talk.bin': 24 * MIB });
  // So slowly that neither has arrived before it is paused.
  await sendAtMost(shown, MIB);
  await drop(shown, ...paths);
  await says(shown, 'film.bin', SENDING);
  await panel.getByRole('button', { name: 'Pause film.bin' }).click();
  const paused = await says(shown, 'film.bin', /^Paused at [\d.,]+\s\w+ of 24\sMB$/);
  const before = sendingOf(await says(shown, 'talk.bin', SENDING)).sent;
  await waitFor('the other file to go on', async () => sendingOf(await stateOf(shown, 'talk.bin')).sent > before);
  const still = await stateOf(shown, 'film.bin');
  await panel.getByRole('button', { name: 'Pause all' }).click();
  await panel.getByText('Uploads are paused').waitFor();
  await says(shown, 'talk.bin', /^Paused at /);
  await sendAtMost(shown, 0);
  await panel.getByRole('button', { name: 'Resume film.bin' }).click();
  await says(shown, 'film.bin', /^Uploaded$/);
  const waits = await stateOf(shown, 'talk.bin');
  await panel.getByRole('button', { name: 'Resume all' }).click();
  await panel.getByText('2 files uploaded').first().waitFor();

  expect(still).toBe(paused);
  expect(waits).toMatch(/^Paused at /);
  expect(await arrived(person)).toEqual(sums);
}, 300_000);
