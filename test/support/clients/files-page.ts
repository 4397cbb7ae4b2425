import type { CDPSession, Locator, Page } from 'playwright-core';
import type { TestBrowser } from './chromium.ts';

/** The page of somebody's files. */
export interface FilesPage {
  readonly page: Page;
  readonly devtools: CDPSession;
  /** The panel of the uploads. */
  readonly panel: Locator;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Opens a tenant's files and signs in, unless the browser is signed in there. `noPicker`: as a browser whose dialog gives no file
 * handles.
 */
export async function openFiles(
  browser: TestBrowser,
  url: string,
  { email, password }: Credentials,
  { noPicker = false } = {},
): Promise<FilesPage> {
  const page = await browser.page();
  const devtools = await page.context().newCDPSession(page);
  if (noPicker) await page.addInitScript('window.showOpenFilePicker = undefined');
  // A first administrator's own address shows the welcome.
  await page.goto(new URL('/files', url).href);
  const upload = page.getByRole('button', { name: 'Upload', exact: true });
  const name = page.getByLabel('E-mail address');
  await name.or(upload).first().waitFor();
  if (await name.isVisible()) {
    await name.fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }
  await upload.waitFor();
  return { page, devtools, panel: page.getByRole('region', { name: 'Uploads' }) };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Drags files and folders of the disk from outside of the browser over the page, as a file manager does. Returns how to drop
 * them, there or on what the pointer enters last.
 */
export async function dragOver(
  { devtools }: Pick<FilesPage, 'devtools'>,
  ...paths: readonly string[]
): Promise<(at?: Point) => Promise<void>> {
  const data = { items: [], files: [...paths], dragOperationsMask: 1 };
  const event = (type: 'dragEnter' | 'dragOver' | 'drop', point: Point = { x: 400, y: 300 }) =>
    devtools.send('Input.dispatchDragEvent', { type, ...point, data });
  await event('dragEnter');
  await event('dragOver');
  return async (at) => void (await event('drop', at));
}

/** Drops files and folders of the disk on the page. */
export async function drop(shown: Pick<FilesPage, 'devtools'>, ...paths: readonly string[]): Promise<void> {
  await (
    await dragOver(shown, ...paths)
  )();
}

/** Lets the page send at most so many bytes a second. 0: as many as the machine can. */
export const sendAtMost = async ({ devtools }: Pick<FilesPage, 'devtools'>, bytesPerSecond: number): Promise<void> => {
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: bytesPerSecond || -1,
  });
};
