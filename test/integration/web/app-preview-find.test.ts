import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { FrameLocator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { textPdf } from '../../support/data/pdfs.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { isTypedInto, NARROW, openSignedIn, watchFocus } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const shown = (page: Page): FrameLocator => page.frameLocator('iframe');
const field = (page: Page) => shown(page).getByRole('textbox', { name: 'Find in this file' });

/** A page with a PDF of thirty pages, on two of which there is more to find. */
async function openBook(): Promise<Page> {
  const document = await textPdf('The teacher reads a book.', 30);
  document.getPage(16).drawText('Mitochondria are the power\nhouse of the cell.', { x: 60, y: 200, size: 14, lineHeight: 18 });
  document.getPage(24).drawText('No mitochondria here.', { x: 60, y: 600, size: 14 });
  const { api, user, password } = await tenant.user();
  await api.upload('/files', { name: 'book.pdf', type: 'application/pdf', file: Buffer.from(await document.save()) });
  const page = await openSignedIn(browser, tenant, { email: user.email, password });
  await page.getByRole('button', { name: 'book.pdf', exact: true }).click();
  await shown(page).getByText('The teacher reads a book.').first().waitFor();
  return page;
}

/** Waits until the reader is at this hit, on this page, and its letters are coloured and on the screen. */
async function hitAt(page: Page, count: string, number: number): Promise<void> {
  await shown(page).getByRole('status').filter({ hasText: count }).waitFor();
  const frame = page.frames().find((each) => each.url().endsWith('/preview-frame'));
  await waitFor(`the hit ${count} of page ${number} on the screen`, () =>
    frame?.evaluate<boolean>(`(() => {
      const [range] = CSS.highlights.get('pdf-hit-now') ?? [];
      const box = range?.getBoundingClientRect();
      const page = range?.startContainer.parentElement.closest('[data-page="${number}"]');
      return !!page && box.width > 0 && box.top >= 0 && box.bottom <= innerHeight;
    })()`),
  );
}

test('words are found on every page of a PDF, and each hit comes onto the screen', async () => {
  const page = await openBook();
  await page.keyboard.press('Control+f');
  await waitFor('the field to have the focus', () => isTypedInto(field(page)));
  await page.keyboard.type('MITOCHONDRIA');
  await hitAt(page, '1 of 2', 17);
  await page.keyboard.press('Enter');
  await hitAt(page, '2 of 2', 25);
  await page.keyboard.press('Enter');
  await hitAt(page, '1 of 2', 17);
  await page.keyboard.press('Shift+Enter');
  await hitAt(page, '2 of 2', 25);
  await field(page).fill('power house of');
  await hitAt(page, '1 of 1', 17);
  await field(page).fill('chloroplast');
  await shown(page).getByRole('status').filter({ hasText: 'Not found' }).waitFor();

  expect(await shown(page).getByRole('button', { name: 'Next hit' }).isDisabled()).toBe(true);
});

test('the field has the keyboard the moment it appears', async () => {
  const page = await openBook();
  const frame = page.frames().find((each) => each.url().endsWith('/preview-frame'));
  const hasFocus = frame && (await watchFocus(frame, '[role=search] input'));
  await shown(page).getByRole('button', { name: 'Find in this file' }).click();

  expect(await hasFocus?.()).toBe(true);
});

test('Escape ends the search and leaves the file open', async () => {
  const page = await openBook();
  await shown(page).getByRole('button', { name: 'Find in this file' }).click();
  await field(page).fill('cell');
  await hitAt(page, '1 of 1', 17);
  await field(page).press('Escape');
  await field(page).waitFor({ state: 'detached' });
  const frame = page.frames().find((each) => each.url().endsWith('/preview-frame'));
  await waitFor('the colours to be gone', () =>
    frame?.evaluate<boolean>(`CSS.highlights.get('pdf-hit').size + CSS.highlights.get('pdf-hit-now').size === 0`),
  );

  await waitFor('the text to have the focus', () => frame?.evaluate<boolean>(`document.activeElement.tagName === 'MAIN'`));
  expect(await page.getByRole('dialog').count()).toBe(1);
});

test('Control+F finds in the PDF wherever the focus is, and letters of shortcuts are text in the field', async () => {
  const page = await openBook();
  await page.getByRole('dialog').getByRole('button', { name: 'Download' }).focus();
  await page.keyboard.press('Control+f');
  await waitFor('the field to have the focus', () => isTypedInto(field(page)));
  await page.keyboard.type('+0-');

  expect(await field(page).inputValue()).toBe('+0-');
});

test('axe finds nothing on the field, and nothing of it is cut off at 400 % zoom', async () => {
  const page = await openBook();
  await page.keyboard.press('Control+f');
  await field(page).fill('mitochondria');
  await hitAt(page, '1 of 2', 17);
  const frame = page.frames().find((each) => each.url().endsWith('/preview-frame'));
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    if (frame) found.push(...(await axeFindings(frame)));
  }
  await page.setViewportSize(NARROW);
  const edges = await waitFor('a narrow frame', () =>
    frame?.evaluate<number[] | false>(`innerWidth <= 320 && ['.pdf-find', '.pdf-tools'].flatMap((of) => {
      const { left, right } = document.querySelector(of).getBoundingClientRect();
      return [left, right];
    })`),
  );

  expect(found).toEqual([]);
  expect(Math.min(...edges)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...edges)).toBeLessThanOrEqual(320);
});
