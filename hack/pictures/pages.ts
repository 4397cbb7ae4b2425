import type { Page } from 'playwright-core';
import { SAMPLE_PASSWORD } from '../../pkg/local/demo/sample-data/people.ts';

/** A page of docs/pictures. */
export interface Picture {
  /** Of its files: `<name>-<wide|phone>-<light|dark>.webp`. */
  readonly name: string;
  /** `{Name}` stands for the id of the sample folder of that name, `{upload link}` for the token of a link of that mode. */
  readonly path: string;
  /** What somebody does there first. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** True: the page goes on loading. */
  readonly isBusy?: boolean;
  /** True: nobody is signed in. */
  readonly isSignedOut?: boolean;
}

const select = (page: Page, name: string): Promise<void> =>
  page
    .getByRole('row', { name: new RegExp(name) })
    .getByRole('gridcell')
    .last()
    .click({ position: { x: 2, y: 2 } });
const MISSING = `[...document.querySelectorAll('.files-thumbnail')].filter(
  (box) => !box.querySelector('img') && box.getBoundingClientRect().top < innerHeight).length`;

/** Shows cards, and waits for the thumbnail of each on the screen. */
async function asCards(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Pictures', exact: true }).click();
  await page.locator('.files-thumbnail').first().waitFor();
  // The policy of the page refuses what waitForFunction needs.
  for (let look = 0; look < 100 && Number(await page.evaluate(MISSING)) > 0; look += 1) await page.waitForTimeout(100);
}

const openByDoubleClick = (page: Page, name: string): Promise<void> =>
  page
    .getByRole('row', { name: new RegExp(name) })
    .getByRole('gridcell')
    .last()
    .dblclick({ position: { x: 2, y: 2 } });

async function previewPhoto(page: Page): Promise<void> {
  await openByDoubleClick(page, 'Evening at the lake');
  await page.getByRole('dialog').locator('img').first().waitFor();
}

async function fromMenu(page: Page, name: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of ${name}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
  await page.getByRole('dialog').waitFor();
}

/** The browser remembers the password once it was given. */
async function giveLinkPassword(page: Page): Promise<void> {
  const password = page.getByLabel('Password', { exact: true });
  const inside = page.getByLabel('Your name');
  await password.or(inside).first().waitFor();
  if (await inside.isVisible()) return;
  await password.fill(SAMPLE_PASSWORD);
  await page.keyboard.press('Enter');
  await inside.waitFor();
}

/** Uploads files over a connection on which most of them take a minute. */
async function uploadSlowly(page: Page): Promise<void> {
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

/** All pictures. A new page is a line here. */
export const PICTURES: readonly Picture[] = [
  { name: 'sign-in', path: '/', isSignedOut: true },
  { name: 'files', path: '/files/{Field course}' },
  { name: 'photos', path: '/files/{Photos}', prepare: asCards },
  {
    name: 'details',
    path: '/files/{Thesis}',
    prepare: async (page) => {
      await select(page, 'Salt, wind and light');
      await page.keyboard.press('Alt+Enter');
      await page.getByRole('tab', { name: 'Versions' }).click();
    },
  },
  { name: 'preview', path: '/files/{Photos}', prepare: previewPhoto },
  { name: 'share', path: '/files', prepare: (page) => fromMenu(page, 'Field course', 'Share …') },
  { name: 'links', path: '/links' },
  { name: 'public-folder', path: '/s/{download link}', isSignedOut: true },
  { name: 'file-request', path: '/s/{upload link}', isSignedOut: true, prepare: giveLinkPassword },
  { name: 'jobs', path: '/jobs' },
  { name: 'search', path: '/search?q=light' },
  { name: 'shared', path: '/shared' },
  { name: 'recent', path: '/recent' },
  { name: 'trash', path: '/trash' },
  { name: 'people', path: '/admin/people' },
  { name: 'lms', path: '/admin/lms' },
  { name: 'link-rules', path: '/admin/links' },
  { name: 'welcome', path: '/welcome' },
  // The last one, since a small file of it arrives.
  { name: 'uploads', path: '/files/{Field course}', prepare: uploadSlowly, isBusy: true },
];
