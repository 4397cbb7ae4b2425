import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { drop, openFiles, sendAtMost } from '../../support/clients/files-page.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';

const MIB = 1 << 20;
/** Of one request of an upload. */
const CHUNK = 16 * MIB;

let tenant: TestTenant;
let browser: TestBrowser;
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'carrel-session-'));
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
  await rm(scratch, { recursive: true, force: true });
});

test('an upload in whose middle the session ends goes on after signing in, with the bytes that the server has', async () => {
  const { user, api, password } = await tenant.user();
  const shown = await openFiles(browser, tenant.url, { email: user.email, password });
  const { page, panel } = shown;
  const bytes = randomBytes(CHUNK + 8 * MIB);
  const file = join(scratch, 'lecture.bin');
  await writeFile(file, bytes);
  const second = page.waitForRequest((request) => request.headers()['upload-offset'] === String(CHUNK));
  await sendAtMost(shown, 4 * MIB);
  await drop(shown, file);
  await second;
  await api.delete('/users/me/sessions');

  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.waitFor();
  await sendAtMost(shown, 0);
  await dialog.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await panel.getByText('1 file uploaded').first().waitFor();

  const { data } = (await (await tenant.anonymous.login(user.email, password)).get('/files')).body;
  expect(data.map(({ name, checksum }: { name: string; checksum: string }) => [name, checksum])).toEqual([
    ['lecture.bin', hash('sha256', bytes)],
  ]);
});
