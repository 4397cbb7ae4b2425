import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CDPSession, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { listen } from '../../support/clients/spoken.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { NARROW } from './app-pages.ts';
import { personWith, row, select } from './file-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

const OFFLINE = 'You are offline. What is on this page stays; it goes on when the connection is back.';
const TRASHED = '1 item moved to the trash';

interface Shown {
  readonly page: Page;
  readonly devtools: CDPSession;
  /** Lets the server delete the file: a toast says so. */
  readonly release: () => void;
}

/** A page on which a file is being deleted. */
async function deleting(): Promise<Shown> {
  const { page } = await personWith(browser, tenant, 'one.txt', 'two.txt');
  const answer = Promise.withResolvers<void>();
  // However slow this machine is: a message with a button stays until the test has reached it.
  await page.evaluate('{ const later = setTimeout; setTimeout = (run, ms) => later(run, ms === 12_000 ? 600_000 : ms); }');
  await page.route('**/api/v1/batch', async (route) => {
    await answer.promise;
    await route.continue();
  });
  await select(page, 'one.txt');
  await page.keyboard.press('Delete');
  await row(page, 'one.txt').waitFor({ state: 'detached' });
  return { page, devtools: await page.context().newCDPSession(page), release: answer.resolve };
}

/** A page on which all is there that comes without being asked for: a lost connection fails none of it, which would be said. */
async function settled(): Promise<{ page: Page; devtools: CDPSession }> {
  const { page } = await personWith(browser, tenant, 'one.txt');
  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  await row(page, 'one.txt').waitFor();
  return { page, devtools: await page.context().newCDPSession(page) };
}

/** The names of all that assistive technology gets of the page: nothing of what is inert. */
async function readable({ devtools }: Pick<Shown, 'devtools'>): Promise<string[]> {
  const { nodes } = await devtools.send('Accessibility.getFullAXTree');
  return nodes.flatMap(({ ignored, name }) => (ignored || typeof name?.value !== 'string' ? [] : [name.value]));
}

const read = (shown: Pick<Shown, 'devtools'>, text: string): Promise<string[]> =>
  waitFor(`“${text}” to be readable`, async () => {
    const names = await readable(shown);
    return names.includes(text) && names;
  });

test('a toast that comes while a dialog is open is read in it, and its button works', async () => {
  const shown = await deleting();
  const { page } = shown;
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  shown.release();
  const names = await read(shown, TRASHED);
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
  await row(page, 'one.txt').waitFor();

  expect(names).toContain('Keyboard shortcuts');
  // What is behind the dialog is inert, as it was before.
  expect(names).not.toContain('two.txt');
  expect(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).count()).toBe(1);
});

test('a toast moves to the topmost dialog, and back as each closes', async () => {
  const shown = await deleting();
  const { page } = shown;
  await page.getByRole('button', { name: 'New folder' }).click();
  const dialog = page.getByRole('dialog', { name: 'New folder' });
  await dialog.getByLabel('Name of the folder').pressSequentially('Field trips');
  await page.keyboard.press('Escape');
  const question = page.getByRole('alertdialog');
  await question.waitFor();
  shown.release();
  await question.getByText(TRASHED).waitFor();
  await read(shown, TRASHED);
  await question.getByRole('button', { name: 'Go on editing' }).last().click();
  await dialog.getByText(TRASHED).waitFor();
  await read(shown, TRASHED);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText(TRASHED).first().waitFor();
  await read(shown, TRASHED);
  const left = await page.getByRole('dialog').count();
  await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click();
  await row(page, 'one.txt').waitFor();

  expect(left).toBe(0);
});

test('on a phone a toast covers no button of a dialog', async () => {
  const shown = await deleting();
  const { page } = shown;
  await page.getByRole('button', { name: 'New folder' }).click();
  const dialog = page.getByRole('dialog', { name: 'New folder' });
  await dialog.waitFor();
  await page.setViewportSize(NARROW);
  shown.release();
  await dialog.getByText(TRASHED).waitFor();
  await dialog.getByLabel('Name of the folder').fill('Field trips');
  // A click on what something covers fails.
  await dialog.getByRole('button', { name: 'Create' }).click();

  await page.getByRole('link', { name: 'Field trips' }).waitFor();
});

test('what the page lets a screen reader say is said in the open dialog, and again if that closes at once', async () => {
  const { page, devtools } = await settled();
  const spoken = await listen(page);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.evaluate(`new MutationObserver((_, observer) => {
    const dialog = document.querySelector('dialog:modal');
    if (!dialog?.querySelector('p[role=status]')?.textContent) return;
    observer.disconnect();
    // However slow this machine is: no time goes by before the dialog is closed.
    const at = performance.now();
    performance.now = () => at;
    window.wasSaidIn = dialog.getAttribute('aria-labelledby') !== null;
    dialog.querySelector('.c-dialog-head button').click();
  }).observe(document, { subtree: true, childList: true, characterData: true })`);
  await page.context().setOffline(true);
  const names = await read({ devtools }, OFFLINE);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const said = await waitFor('the sentence to be said outside', async () => {
    const sentences = await spoken();
    return sentences.length > 1 && sentences;
  });
  await page.context().setOffline(false);

  expect(await page.evaluate('window.wasSaidIn')).toBe(true);
  expect(names).toContain(OFFLINE);
  expect(said).toEqual([OFFLINE, OFFLINE]);
});

test('what was said before a dialog is opened is not said again in it', async () => {
  const { page, devtools } = await settled();
  await page.context().setOffline(true);
  await read({ devtools }, OFFLINE);
  const spoken = await listen(page);
  const since = await page.evaluate<number>('performance.now()');
  await waitFor('the sentence to count as heard', async () => (await page.evaluate<number>('performance.now()')) > since + 500);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const said = await spoken();
  await page.context().setOffline(false);

  expect(said).toEqual([]);
});
