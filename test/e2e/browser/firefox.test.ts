import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import type { TestBrowser } from '../../support/clients/chromium.ts';
import { findFirefox, openFirefox } from '../../support/clients/firefox.ts';
import { textPdf } from '../../support/data/pdfs.ts';
import { scannedPdf } from '../../support/data/scanned-pdf.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { platform, secretValues } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';

const where = await platform();
const { program, missing } = await findFirefox();
if (missing !== undefined) process.stderr.write(`SKIPPED: the tests in Firefox. ${missing}\n`);
/** Elsewhere the tests run in Chromium alone: a machine without Firefox counts these as skipped. */
const inFirefox = program === undefined ? describe.skip : describe;

let tenant: DemoTenant;
let browser: TestBrowser;

beforeAll(async () => {
  if (program !== undefined) [tenant, browser] = await Promise.all([demoTenant(where), openFirefox(program)]);
}, 180_000);

afterAll(() => browser?.close());

/** Pages of a former test would go on asking for changes. */
const pages: Page[] = [];
afterEach(async () => {
  for (const page of pages.splice(0)) await page.close();
});

/** What a page refused by its policy, and what its scripts threw. */
interface Watched {
  readonly page: Page;
  readonly faults: () => Promise<string[]>;
}

async function opened(path: string): Promise<Watched> {
  const page = await browser.page();
  pages.push(page);
  const thrown: string[] = [];
  page.on('pageerror', (error) => void thrown.push(error.message));
  await page.addInitScript(`
    window.refused = [];
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
      window.refused.push([effectiveDirective, blockedURI, sample].join(' ')));
  `);
  await page.goto(new URL(path, tenant.apiUrl).href);
  const refused = (): Promise<string[][]> =>
    Promise.all(page.frames().map((frame) => frame.evaluate<string[]>('window.refused ?? []')));
  return { page, faults: async () => [...thrown, ...(await refused()).flat()] };
}

/** The files of the tenant's first administrator. */
async function files(): Promise<Watched> {
  const shown = await opened('/files');
  const { page } = shown;
  const email = page.getByLabel('E-mail address');
  const upload = page.getByRole('button', { name: 'Upload', exact: true });
  await email.or(upload).first().waitFor();
  if (await email.isVisible()) {
    const { email: address = '', password = '' } = await secretValues(where, tenant.namespace, `${tenant.name}-admin`);
    await email.fill(address);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }
  await upload.waitFor();
  return shown;
}

/** Uploads a file by the dialog that the browser opens for it. */
async function choose(page: Page, file: { name: string; mimeType: string; buffer: Buffer }): Promise<void> {
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('menuitem', { name: 'Upload files' }).click(),
  ]);
  await chooser.setFiles(file);
  await page.getByRole('row', { name: new RegExp(file.name) }).waitFor();
}

async function saved(page: Page, act: () => Promise<void>): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

inFirefox('in Firefox', () => {
  test('somebody signs in, uploads a chosen file, and saves it byte for byte', async () => {
    const { page, faults } = await files();
    const [name, buffer] = ['Übung – 演習.bin', randomBytes(300_000)];
    await choose(page, { name, mimeType: 'application/octet-stream', buffer });
    await page.getByRole('region', { name: 'Uploads' }).getByText('1 file uploaded').waitFor();

    const file = await saved(page, async () => {
      await page.getByRole('button', { name: `Actions of ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Download' }).click();
    });

    expect([file.name, file.bytes.equals(buffer), await faults()]).toEqual([name, true, []]);
  });

  test('Markdown and PDFs are shown in their frame, which has no origin', async () => {
    const { page, faults } = await files();
    const shown = page.frameLocator('iframe');
    const frame = () => page.frames().find((each) => each.url().endsWith('/preview-frame'));
    await choose(page, { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Cells\n\nA *first* text.') });
    await choose(page, {
      name: 'book.pdf',
      mimeType: 'application/pdf',
      buffer: Buffer.from(await (await textPdf('The teacher reads a book.', 2)).save()),
    });
    await choose(page, { name: 'scan.pdf', mimeType: 'application/pdf', buffer: Buffer.from(await scannedPdf()) });

    await page.getByRole('button', { name: 'notes.md', exact: true }).click();
    await shown.getByRole('heading', { name: 'Cells' }).waitFor();
    const origin = await frame()?.evaluate('self.origin');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'book.pdf', exact: true }).click();
    await shown.getByText('The teacher reads a book.').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // A scan needs a decoder in WebAssembly.
    await page.getByRole('button', { name: 'scan.pdf', exact: true }).click();
    await waitFor('the scan to be drawn', () =>
      frame()?.evaluate<boolean>(`(canvas => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return data.some((value, at) => at % 4 === 0 && value < 60 && data[at + 3] === 255);
      })(document.querySelector('canvas'))`),
    );

    expect([origin, await faults()]).toEqual(['null', []]);
  });

  test('a link is made, and opens the file for whoever has it', async () => {
    const { page, faults } = await files();
    await choose(page, { name: 'poster.txt', mimeType: 'text/plain', buffer: Buffer.from('Come in.') });
    await page.getByRole('button', { name: 'Actions of poster.txt' }).click();
    await page.getByRole('menuitem', { name: 'Share …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share “poster.txt”' });
    await dialog.getByRole('button', { name: 'New link' }).click();
    await dialog.getByRole('button', { name: 'Make link' }).click();
    const url = await dialog.getByLabel('Address of the link').inputValue();

    const link = await opened(new URL(url).pathname);
    await link.page.getByRole('heading', { name: 'poster.txt' }).waitFor();
    const file = await saved(link.page, () => link.page.getByRole('button', { name: 'Download' }).click());

    expect([file.name, file.bytes.toString(), await faults(), await link.faults()]).toEqual(['poster.txt', 'Come in.', [], []]);
  });

  test('a reload keeps the session, and signing out ends it in all tabs', async () => {
    const { page } = await files();
    await page.reload();
    await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
    const { page: other } = await files();

    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.getByRole('dialog', { name: 'Sign in again' }).waitFor();

    expect(await page.getByRole('heading', { name: 'Sign in' }).count()).toBe(1);
  });
});
