import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { within } from '../../support/wait.ts';
import { NARROW, signIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const SLOW = 'The network or the server is slow; still waiting.';

/** A page of the tenant's files with these folders, and with a clock that the test may move on. */
async function filesPage(...folders: string[]): Promise<Page> {
  const { api, user, password } = await tenant.user();
  for (const name of folders) await api.post('/folders', { name });
  const page = await browser.page();
  await page.context().clearCookies();
  await page.clock.install();
  await page.goto(`${tenant.url}/files`);
  await signIn(page, { email: user.email, password });
  await page.getByRole('row', { name: new RegExp(folders[0] ?? '') }).waitFor();
  // Each text that a screen reader is given, and whether the note was ever shown.
  await page.evaluate(`{
    window.said = [];
    window.wasShown = false;
    new MutationObserver(() => {
      const text = document.querySelector('p[role=status][aria-live]').textContent;
      if (text !== said.at(-1)) said.push(text);
      wasShown ||= document.querySelector('.slow-note') !== null;
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  }`);
  return page;
}

/** Holds the requests for lists that `isHeld` picks: `seen` is the first of them, `release` lets all go. */
async function hold(page: Page, isHeld: (headers: Record<string, string>) => boolean) {
  const [held, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route('**/children?*', async (route) => {
    if (isHeld(route.request().headers())) {
      seen.resolve();
      await held.promise;
    }
    await route.continue().catch(() => undefined); // the page may have gone on
  });
  return { seen: within('a request for a list', seen.promise), release: held.resolve };
}

const isFirst = (headers: Record<string, string>): boolean => headers['if-none-match'] === undefined;
const note = (page: Page) => page.locator('.slow-note');

test('a list that does not come is said to be waited for, once; nothing moves, and the note leaves with the reply', async () => {
  const page = await filesPage('Atlas');
  const { seen, release } = await hold(page, isFirst);
  await page.getByRole('link', { name: 'Atlas', exact: true }).click();
  await seen;
  await page.getByRole('heading', { name: 'Atlas' }).waitFor();
  const before = await page.locator('.shell-main').boundingBox();
  await page.clock.fastForward(4_000);
  await note(page).getByText(SLOW).waitFor();
  const during = await page.locator('.shell-main').boundingBox();
  const covered = await note(page).evaluate('getComputedStyle(document.querySelector(".slow-note")).pointerEvents');
  await page.clock.fastForward(20_000);
  release();
  await page.getByText('This folder is empty').waitFor();
  await note(page).waitFor({ state: 'detached' });

  const said = await page.evaluate<string[]>('said');
  expect([during, covered, said.filter((text) => text.startsWith(SLOW))]).toEqual([before, 'none', [SLOW]]);
});

test('a look at what others have changed may take its time: nobody waits for it', async () => {
  const page = await filesPage('Atlas');
  const look = await hold(page, (headers) => !isFirst(headers));
  await page.clock.fastForward(6_000);
  await look.seen;
  await page.clock.fastForward(30_000);
  const wasShown = await page.evaluate('wasShown');
  look.release();
  // The same page does say so of what somebody waits for.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  const { seen, release } = await hold(page, isFirst);
  await page.getByRole('link', { name: 'Atlas', exact: true }).click();
  await seen;
  await page.clock.fastForward(4_000);
  await note(page).waitFor();
  release();

  expect(wasShown).toBe(false);
});

test('a first page whose server does not answer says so too', async () => {
  const { user, password } = await tenant.user();
  const page = await browser.page();
  await page.context().clearCookies();
  await page.clock.install();
  await page.goto(`${tenant.url}/files`);
  const held = Promise.withResolvers<void>();
  await page.route('**/api/v1/me', async (route) => {
    await held.promise;
    await route.continue();
  });
  const asked = page.waitForRequest(/\/me$/);
  await signIn(page, { email: user.email, password });
  await asked;
  await page.clock.fastForward(4_000);
  await note(page).getByText(SLOW).waitFor();
  held.resolve();

  await page.getByRole('navigation', { name: 'Main' }).waitFor();
});

test('axe finds nothing on the note in light and dark, and at 400 % zoom nothing is cut off', async () => {
  const page = await filesPage('Atlas');
  const { seen, release } = await hold(page, isFirst);
  await page.getByRole('link', { name: 'Atlas', exact: true }).click();
  await seen;
  await page.clock.fastForward(4_000);
  await note(page).waitFor();
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);
  release();

  expect(found).toEqual([]);
});
