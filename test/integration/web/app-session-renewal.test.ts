import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { hash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ACCESS_TOKEN_SECONDS, SESSION_MS } from '../../../pkg/api/lifetimes.ts';
import { type Clock, systemClock } from '../../../pkg/runtime/clock.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { drop, sendAtMost } from '../../support/clients/files-page.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range } from '../../support/wait.ts';
import { signIn } from './app-pages.ts';

/** Pages that stay open longer than an access token lives. The clocks of the server and of the page are the test's. */
let tenant: TestTenant;
let browser: TestBrowser;
let scratch: string;
let aheadMs = 0;

beforeAll(async () => {
  const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
  scratch = await mkdtemp(join(tmpdir(), 'carrel-renewal-'));
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology', clock }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
  await rm(scratch, { recursive: true, force: true });
});

/** A page that is left open would renew the session of whoever signs in next. */
const opened: Page[] = [];
afterEach(async () => {
  for (const page of opened.splice(0)) await page.close();
});

const MIB = 1 << 20;
const HOUR_MS = 3_600_000;
/** After a page renews its token, and before the server refuses it. */
const NEARLY_OVER_MS = (ACCESS_TOKEN_SECONDS - 30) * 1_000;

/** A page on which a new person is signed in, and what the server replies from then on. */
async function pageOf({ user, password }: Awaited<ReturnType<TestTenant['user']>>, path: string) {
  const page = await browser.page();
  opened.push(page);
  await page.context().clearCookies();
  await page.clock.install();
  // It asks for nobody else's changes: each request is of what the test does.
  await page.addInitScript(`{
    const { setInterval } = window;
    window.setInterval = (run, ms, ...rest) => setInterval(run, ms >= 4_000 ? 2 ** 31 - 1 : ms, ...rest);
  }`);
  await page.goto(`${tenant.url}${path}`);
  await signIn(page, { email: user.email, password });
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  const replies: string[] = [];
  page.on('response', (reply) => {
    const { pathname } = new URL(reply.url());
    if (pathname.startsWith('/api/v1/')) replies.push(`${reply.request().method()} ${pathname.slice(7)} ${reply.status()}`);
  });
  return { page, replies };
}

/** Waits until a renewal that runs has ended in the page, which does one at a time under this lock. */
const renewed = (page: Page): Promise<void> => page.evaluate(`navigator.locks.request('carrel:refresh', () => undefined)`);
const again = (page: Page) => page.getByRole('dialog', { name: 'Sign in again' });

test('a page on which nobody does anything for an hour renews its token in time, each time, and goes on', async () => {
  const { page, replies } = await pageOf(await tenant.user(), '/design');
  await page.getByRole('heading', { name: 'Components' }).waitFor();
  for (const _ of range(4)) {
    const renewal = page.waitForResponse((reply) => reply.url().endsWith('/auth/refresh'));
    aheadMs += NEARLY_OVER_MS;
    await page.clock.fastForward(NEARLY_OVER_MS);
    await renewal;
    await renewed(page);
  }
  const idle = replies.filter((reply) => reply.startsWith('POST'));
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Recent' }).click();
  await page.getByText('There are no files yet').waitFor();

  expect(idle).toEqual(range(4).map(() => 'POST /auth/refresh 200'));
  expect([replies.filter((reply) => reply.endsWith(' 401')), await again(page).count()]).toEqual([[], 0]);
});

test.each([
  ['whose clocks stood still', false],
  ['whose clocks say so', true],
])('after a night of sleep of a computer %s, the first thing that somebody does is done', async (_which, isKnown) => {
  const { page, replies } = await pageOf(await tenant.user(), '/files');
  await page.getByRole('button', { name: 'New folder' }).click();
  await page.getByLabel('Name of the folder').fill('Before breakfast');
  replies.length = 0;
  aheadMs += 9 * HOUR_MS;
  if (isKnown) {
    const renewal = page.waitForResponse((reply) => reply.url().endsWith('/auth/refresh'));
    await page.clock.fastForward(9 * HOUR_MS);
    await renewal;
    await renewed(page);
  }
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('link', { name: 'Before breakfast', exact: true }).waitFor();

  const renewing = ['POST /auth/refresh 200', 'POST /folders 201'];
  expect(replies.filter((reply) => reply.startsWith('POST'))).toEqual(isKnown ? renewing : ['POST /folders 401', ...renewing]);
  expect(await again(page).count()).toBe(0);
});

test('after a sleep that is longer than a session lives, the page asks for the password and does what was asked', async () => {
  const person = await tenant.user();
  const { page } = await pageOf(person, '/files');
  await page.getByRole('button', { name: 'New folder' }).click();
  await page.getByLabel('Name of the folder').fill('After the holidays');
  aheadMs += SESSION_MS + HOUR_MS;
  await page.getByRole('button', { name: 'Create' }).click();
  await again(page).getByLabel('Password', { exact: true }).fill(person.password);
  await page.keyboard.press('Enter');

  await again(page).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'After the holidays', exact: true }).waitFor();
});

test('an upload that takes longer than a token lives goes on with the next one, and nobody is asked', async () => {
  const person = await tenant.user();
  const { page, replies } = await pageOf(person, '/files');
  const panel = page.getByRole('region', { name: 'Uploads' });
  const shown = { page, panel, devtools: await page.context().newCDPSession(page) };
  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  const bytes = randomBytes(20 * MIB);
  const file = join(scratch, 'lecture.bin');
  await writeFile(file, bytes);
  const [first, second] = [0, 16 * MIB].map((offset) =>
    page.waitForRequest((request) => request.headers()['upload-offset'] === String(offset)),
  );
  await sendAtMost(shown, 8 * MIB);
  await drop(shown, file);
  await first;
  aheadMs += HOUR_MS;
  await second;
  await sendAtMost(shown, 0);
  await panel.getByText('1 file uploaded').first().waitFor();

  const { data } = (await (await tenant.anonymous.login(person.user.email, person.password)).get('/files')).body;
  expect(data.map(({ name, checksum }: { name: string; checksum: string }) => [name, checksum])).toEqual([
    ['lecture.bin', hash('sha256', bytes)],
  ]);
  expect([replies.includes('POST /auth/refresh 200'), await again(page).count()]).toEqual([true, 0]);
});
