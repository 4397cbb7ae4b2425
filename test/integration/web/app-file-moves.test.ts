import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { add, pathsOf, personWith, row, select, toolbar } from './file-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

/** Collects what the page lets screen readers say from now on. */
const listen = (page: Page): Promise<void> =>
  page.evaluate(`(() => {
    const region = document.querySelector('p.c-hidden[aria-live=polite]');
    window.said = [];
    const changes = { subtree: true, childList: true, characterData: true };
    new MutationObserver(() => window.said.push(region.textContent)).observe(region, changes);
  })()`);
const said = (page: Page, text: string): Promise<void> =>
  waitFor(`“${text}” to be said`, () => page.evaluate(`window.said.includes(${JSON.stringify(text)})`));

/** Moves the pointer to the middle of something, in steps, as a drag needs it. */
async function pointAt(page: Page, target: Locator): Promise<void> {
  const box = await target.boundingBox();
  if (!box) throw new Error('it is not on the screen');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
}

async function dragCopying(page: Page, from: Locator, to: Locator): Promise<void> {
  await page.keyboard.down('Control');
  await from.dragTo(to);
  await page.keyboard.up('Control');
}

const path = (page: Page): Locator => page.getByRole('navigation', { name: 'Path' });
const undo = (page: Page): Promise<void> => page.getByRole('button', { name: 'Undo' }).click();

/** Moves the two selected items into the folder There, by the dialog. */
async function moveThere(page: Page): Promise<void> {
  await toolbar(page, 'Move …').click();
  await page.getByRole('dialog').getByRole('button', { name: 'There' }).click();
  await page.getByText('There are no folders in here.').waitFor();
  await page.getByRole('button', { name: 'Move here' }).click();
  await page.getByText('2 items moved').first().waitFor();
}

test('while something is dragged, Ctrl decides whether it is moved or copied; the row and a spoken text say which', async () => {
  const { page, person } = await personWith(browser, tenant, 'one.txt', 'There/');
  await listen(page);
  const there = row(page, 'There');
  const shown = (effect: string): Promise<boolean> =>
    waitFor(`the row to show “${effect}”`, async () => (await there.getAttribute('data-over')) === effect);
  await pointAt(page, row(page, 'one.txt'));
  await page.mouse.down();
  await pointAt(page, there);
  await shown('move');
  await said(page, 'Drop: 1 item moves to There');
  await page.keyboard.down('Control');
  await pointAt(page, there);
  await shown('copy');
  await said(page, 'Drop: 1 item is copied to There');
  await page.mouse.up();
  await page.keyboard.up('Control');
  await page.getByText('1 item copied').first().waitFor();

  await waitFor('both files', async () => (await pathsOf(person)).join() === '/There/one.txt,/one.txt');
  expect(await there.getAttribute('data-over')).toBeNull();
});

test('Ctrl and a drag copy several onto a folder, one onto the path, and one from picture to picture', async () => {
  const { page, person } = await personWith(browser, tenant, 'one.txt', 'two.txt', 'There/');
  await select(page, 'one.txt');
  await select(page, 'two.txt', ['Shift']);
  await dragCopying(page, row(page, 'one.txt'), row(page, 'There'));
  await page.getByText('2 items copied').first().waitFor();
  const several = await pathsOf(person);

  await row(page, 'There').getByRole('link', { name: 'There' }).click();
  await row(page, 'two.txt').waitFor();
  await dragCopying(page, row(page, 'two.txt'), path(page).getByRole('link', { name: 'My files' }));
  await page.getByText('1 item copied').first().waitFor();
  const inPath = await pathsOf(person);

  await path(page).getByRole('link', { name: 'My files' }).click();
  await page.getByRole('button', { name: 'Pictures', exact: true }).click();
  await page.locator('.files-card').first().waitFor();
  await dragCopying(page, row(page, 'one.txt'), row(page, 'There'));
  await waitFor('a second copy', async () => (await pathsOf(person)).includes('/There/one (1).txt'));
  await page.evaluate('localStorage.clear()');

  const four = ['/There/one.txt', '/There/two.txt', '/one.txt', '/two.txt'];
  expect([several, inPath]).toEqual([four, [...four.slice(0, 3), '/two (1).txt', '/two.txt']]);
});

test('the list of shortcuts names the key that copies what is dropped', async () => {
  const { page } = await personWith(browser, tenant, 'one.txt');
  await row(page, 'one.txt').waitFor();
  await page.keyboard.press('?');
  const term = page.getByRole('dialog').getByText('Copy what is dropped');
  await term.waitFor();

  expect(await term.locator('xpath=following-sibling::dd').textContent()).toBe('CtrlDrag');
});

test('what is cut by a menu or by the selection says that it waits to be pasted, as the key does', async () => {
  const { page } = await personWith(browser, tenant, 'one.txt', 'two.txt');
  await row(page, 'one.txt').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Cut' }).click();
  await page.getByText('1 item cut: paste it in another folder').first().waitFor();
  await select(page, 'one.txt');
  await select(page, 'two.txt', ['ControlOrMeta']);
  await toolbar(page, 'Cut').click();
  await page.getByText('2 items cut: paste them in another folder').first().waitFor();
});

test('Undo puts what was moved back where it was: after a drag, after the dialog, and after cut and paste', async () => {
  const files = ['Here/four.txt', 'one.txt', 'three.txt', 'two.txt'];
  const { page, person } = await personWith(browser, tenant, ...files, 'There/');
  const before = await pathsOf(person);
  await row(page, 'one.txt').dragTo(row(page, 'There'));
  await page.getByText('1 item moved').first().waitFor();
  const dragged = await pathsOf(person);
  await undo(page);
  await page.getByText('1 item is back where it was').first().waitFor();
  await row(page, 'one.txt').waitFor();
  const undone = [await pathsOf(person)];

  await select(page, 'three.txt');
  await select(page, 'two.txt', ['Shift']);
  await moveThere(page);
  const chosen = await pathsOf(person);
  await undo(page);
  await page.getByText('2 items are back where they were').first().waitFor();
  undone.push(await pathsOf(person));

  await row(page, 'Here').getByRole('link', { name: 'Here' }).click();
  await select(page, 'four.txt');
  await page.keyboard.press('ControlOrMeta+x');
  await page.getByText('1 item cut').first().waitFor();
  await page.goBack();
  await row(page, 'one.txt').waitFor();
  await page.keyboard.press('ControlOrMeta+v');
  await row(page, 'four.txt').waitFor();
  await waitFor('the file to be moved', async () => (await pathsOf(person)).includes('/four.txt'));
  await undo(page);
  await row(page, 'four.txt').waitFor({ state: 'detached' });
  undone.push(
    await waitFor('the file to be back', async () => {
      const now = await pathsOf(person);
      return now.includes('/Here/four.txt') ? now : undefined;
    }),
  );

  expect(dragged).toContain('/There/one.txt');
  expect(chosen).toEqual(['/Here/four.txt', '/There/three.txt', '/There/two.txt', '/one.txt']);
  expect(undone).toEqual([before, before, before]);
});

test('Undo of a move from Recent puts each file back into its folder, or into the root', async () => {
  const { page, person } = await personWith(browser, tenant, 'Here/two.txt', 'one.txt', 'There/');
  const before = await pathsOf(person);
  await page.getByRole('link', { name: 'Recent' }).click();
  // While the script of that page is loaded, the files stay: what is selected there does not count.
  await page.getByRole('heading', { name: 'Recent', level: 1 }).waitFor();
  await select(page, 'one.txt');
  await select(page, 'two.txt', ['Shift']);
  await moveThere(page);
  const moved = await pathsOf(person);
  await undo(page);
  await page.getByText('2 items are back where they were').first().waitFor();

  expect([moved, await pathsOf(person)]).toEqual([['/There/one.txt', '/There/two.txt'], before]);
});

test('Undo says by name what cannot be put back and why, and puts back the rest', async () => {
  const { page, person } = await personWith(browser, tenant, 'one.txt', 'two.txt', 'There/');
  await select(page, 'one.txt');
  await select(page, 'two.txt', ['Shift']);
  await row(page, 'one.txt').dragTo(row(page, 'There'));
  await page.getByText('2 items moved').first().waitFor();
  await add(person, ['one.txt']);
  await undo(page);
  const said = page.getByText(/^1 item could not be moved back\. “one\.txt”: \S+/).first();
  await said.waitFor();

  expect(await pathsOf(person)).toEqual(['/There/one.txt', '/one.txt', '/two.txt']);
});

test('of a move that partly failed, Undo puts back only what was moved', async () => {
  const { page, person } = await personWith(browser, tenant, 'one.txt', 'two.txt', 'There/one.txt');
  await select(page, 'one.txt');
  await select(page, 'two.txt', ['Shift']);
  await row(page, 'one.txt').dragTo(row(page, 'There'));
  await page
    .getByText(/^1 item failed\./)
    .first()
    .waitFor();
  const moved = await pathsOf(person);
  await undo(page);
  await page.getByText('1 item is back where it was').first().waitFor();

  expect([moved, await pathsOf(person)]).toEqual([
    ['/There/one.txt', '/There/two.txt', '/one.txt'],
    ['/There/one.txt', '/one.txt', '/two.txt'],
  ]);
});
