import type { Locator, Page } from 'playwright-core';
import { SAMPLE_PASSWORD } from '../../pkg/local/demo/sample-data/people.ts';

/** The empty part of a row, where a click opens nothing. */
const rowOf = (page: Page, name: string): Locator =>
  page
    .getByRole('row', { name: new RegExp(name) })
    .getByRole('gridcell')
    .last();
const AT = { position: { x: 2, y: 2 } };

const MISSING = `[...document.querySelectorAll('.files-thumbnail')].filter(
  (box) => !box.querySelector('img') && box.getBoundingClientRect().top < innerHeight).length`;

/** Shows cards, and waits for the thumbnail of each on the screen. */
export async function asCards(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Pictures', exact: true }).click();
  await page.locator('.files-thumbnail').first().waitFor();
  // The policy of the page refuses what waitForFunction needs.
  for (let look = 0; look < 100 && Number(await page.evaluate(MISSING)) > 0; look += 1) await page.waitForTimeout(100);
}

/** The ring around the pages of a PDF is for those who use the keyboard. */
const LEAVE = 'document.activeElement?.blur()';

/** Opens a file in the preview, and waits for what is shown of it: an element of the dialog, or of the frame in it. */
export const preview =
  (name: string, shown: string, isInFrame = false) =>
  async (page: Page): Promise<void> => {
    await rowOf(page, name).dblclick(AT);
    const dialog = page.getByRole('dialog');
    const within = isInFrame ? dialog.frameLocator('iframe').locator(shown) : dialog.locator(shown);
    await within.first().waitFor();
    for (const root of isInFrame ? [page, dialog.frameLocator('iframe')] : []) await root.locator('body').first().evaluate(LEAVE);
  };

/** Chooses files by their boxes. */
export const select =
  (...names: readonly string[]) =>
  async (page: Page): Promise<void> => {
    for (const name of names)
      await page
        .getByRole('row', { name: new RegExp(name) })
        .getByRole('checkbox')
        .click();
    await page.evaluate(LEAVE);
  };

/** Shows a plot that is further down. */
export const plot =
  (title: RegExp) =>
  (page: Page): Promise<void> =>
    page.locator('.c-plot').filter({ hasText: title }).scrollIntoViewIfNeeded();

/** Shows the versions of a file beside the list. */
export const versions =
  (name: string) =>
  async (page: Page): Promise<void> => {
    await rowOf(page, name).click(AT);
    await page.keyboard.press('Alt+Enter');
    await page.getByRole('tab', { name: 'Versions' }).click();
  };

/** Chooses an entry of the menu of a file, which opens a dialog. */
export const fromMenu =
  (name: string, item: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: `Actions of ${name}` }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('dialog').waitFor();
  };

/** Opens one thing of a list, and a tab of its page, and waits for a text that the page loads last. */
export const open =
  (name: RegExp, tab?: string, last?: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('main').getByRole('link', { name }).first().click();
    await page.getByRole('link', { name: /^All / }).waitFor();
    if (tab !== undefined) await page.getByRole('tab', { name: tab }).click();
    if (last !== undefined) await page.getByText(last, { exact: true }).first().waitFor();
  };

/** Waits until no job is waiting or running: those of the sample data take a moment. */
export async function jobsEnded(page: Page): Promise<void> {
  await page.getByRole('main').getByRole('link').first().waitFor();
  const open = page.locator('.c-badge').filter({ hasText: /^(?:Waiting|Running)$/ });
  await open.first().waitFor({ state: 'detached' });
}

/** The browser remembers the password once it was given. */
export async function giveLinkPassword(page: Page): Promise<void> {
  const password = page.getByLabel('Password', { exact: true });
  const inside = page.getByLabel('Your name');
  await password.or(inside).first().waitFor();
  if (await inside.isVisible()) return;
  await password.fill(SAMPLE_PASSWORD);
  await page.keyboard.press('Enter');
  await inside.waitFor();
}

/** Chooses German, as a reader would. */
export async function inGerman(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account: / }).click();
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click();
  await page.getByRole('button', { name: 'Hochladen', exact: true }).waitFor();
}

/** Waits until the API reference knows who is signed in. */
export async function signedInThere(page: Page): Promise<void> {
  await page.getByText(/^Requests are sent as/).waitFor();
}

/** Uploads files over a connection on which most of them take a minute. */
export async function uploadSlowly(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const network = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 400_000 };
  await devtools.send('Network.emulateNetworkConditions', network);
  // The dialog of the system cannot be filled in; the older way can.
  await page.evaluate('window.showOpenFilePicker = undefined');
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('menuitem', { name: 'Upload files' }).click();
  const file = (name: string, bytes: number) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.alloc(bytes) });
  await (
    await choosing
  ).setFiles([
    file('Interview with the lighthouse keeper.m4a', 6_400_000),
    // It arrives, so its name is another one each time.
    file(`Transect ${Math.round(Date.now() / 1_000) % 10_000}.csv`, 90_000),
    file('Panorama from the pass.tiff', 7_900_000),
    file('Tide gauge.xlsx', 2_100_000),
    file('Walk over the flats.mp4', 7_200_000),
  ]);
  await page.getByRole('region', { name: 'Uploads' }).waitFor();
  await page.waitForTimeout(4_000);
}
