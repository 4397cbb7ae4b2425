import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { getDocumentProxy } from 'unpdf';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { looksOf, vainLooksUntil } from '../../support/clients/list-looks.ts';
import { imageHeavyPdf, textPdf } from '../../support/data/pdfs.ts';
import { zipBytes } from '../../support/data/zip-bytes.ts';
import type { DemoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addressOf, type Credentials, firstAdministrator, fromMenu, openAs, select, signIn, tenantWithHelpers } from './app.ts';

/** What people do with files by the helper services of the platform, and beside each other. */
const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
let administrator: Credentials;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([tenantWithHelpers(where), openBrowser('third-party blocked')]);
  administrator = await firstAdministrator(where, tenant);
}, 180_000);

afterAll(() => browser?.close());

const upload = async (name: string, file: Uint8Array, type: string): Promise<string> =>
  (await tenant.admin.upload('/files', { name, file: Buffer.from(file), type })).body.id;

async function fileOf(name: string): Promise<{ readonly id: string; readonly size: number }> {
  const { body } = await tenant.admin.get('/files', { query: { q: name, limit: 100 } });
  return body.data.find((file: { name: string }) => file.name === name);
}
const bytesOf = async ({ id }: { id: string }): Promise<Buffer> => (await tenant.admin.get(`/files/${id}/download`)).bytes;

async function textOf(pdf: Uint8Array): Promise<string> {
  const document = await getDocumentProxy(Uint8Array.from(pdf));
  const { items } = await (await document.getPage(1)).getTextContent();
  return items.flatMap((item) => ('str' in item ? [item.str] : [])).join('');
}

const shown = (page: Page, name: string): Promise<void> =>
  page
    .getByRole('button', { name, exact: true })
    .or(page.getByRole('link', { name, exact: true }))
    .first()
    .waitFor();

test('a text and a PDF are translated from their menus, and a PDF is made smaller', async () => {
  await upload('lesson.txt', Buffer.from('The teacher reads a book.'), 'text/plain');
  await upload('letter.pdf', await (await textPdf()).save(), 'application/pdf');
  const pictures = await imageHeavyPdf();
  const heavy = await upload('pictures.pdf', pictures, 'application/pdf');
  const page = await openAs(browser, tenant, administrator);
  await shown(page, 'lesson.txt');

  await fromMenu(page, 'letter.pdf', 'Translate …');
  const ofPdf = page.getByRole('dialog', { name: 'Translate “letter.pdf”' });
  await ofPdf.getByLabel('Into').selectOption('Spanish');
  // Their ends are said for some seconds, whenever they come.
  const ends = Promise.all([
    page.getByText('“letter.pdf” is translated.').first().waitFor(),
    page
      .getByText(/“pictures\.pdf” is smaller/)
      .first()
      .waitFor(),
  ]);
  ends.catch(() => undefined); // another step may fail first
  await ofPdf.getByRole('button', { name: 'Translate' }).click();
  await fromMenu(page, 'pictures.pdf', 'Optimise PDF …');
  await page.getByRole('dialog').getByRole('button', { name: 'Optimise' }).click();
  await fromMenu(page, 'lesson.txt', 'Translate …');
  const ofText = page.getByRole('dialog', { name: 'Translate “lesson.txt”' });
  await ofText.getByLabel('Into').selectOption('Spanish');
  await ofText.getByRole('button', { name: 'Translate' }).click();
  await waitFor('the translation', async () => /profesor/.test(await ofText.getByLabel('Translation').inputValue()));
  await ofText.getByRole('button', { name: 'Save as a new file' }).click();
  await shown(page, 'lesson (es).txt');
  await ends;

  const { body: versions } = await tenant.admin.get(`/files/${heavy}/versions`);
  const { data } = (await tenant.admin.get('/files', { query: { q: 'letter', limit: 100 } })).body;
  const translated = data.find(({ name }: { name: string }) => name !== 'letter.pdf');
  expect([versions.data.length, (await fileOf('pictures.pdf')).size < pictures.length]).toEqual([2, true]);
  expect([String(await bytesOf(await fileOf('lesson (es).txt'))), await textOf(await bytesOf(translated))]).toEqual([
    expect.stringContaining('profesor'),
    expect.stringContaining('profesor'),
  ]);
});

test('an archive is unpacked beside itself, and its job leads to the new folder', async () => {
  const archive = zipBytes(range(3).map((n) => ({ name: `week ${n}/plan.txt`, content: `Plan ${n}.` })));
  await upload('course.zip', archive, 'application/zip');
  const page = await openAs(browser, tenant, administrator);
  await shown(page, 'course.zip');
  await fromMenu(page, 'course.zip', 'Unpack here …');
  await page.getByRole('dialog').getByRole('button', { name: 'Unpack' }).click();
  await page.getByText('“course.zip” is unpacked: 3 files.').first().waitFor();

  await page.getByRole('button', { name: 'Show job' }).first().click();
  await page.getByText('week 2/plan.txt').waitFor();
  await page.getByRole('link', { name: 'Open folder' }).click();
  await shown(page, 'week 2');
});

test('what two people in two browsers do in one folder shows at the other one with the next look', async () => {
  const { body: folder } = await tenant.admin.post('/folders', { name: 'Together' });
  const grace = { email: 'grace@example.org', password: 'four unrelated words' };
  const { body: user } = await tenant.admin.post('/users', { ...grace, username: 'grace', roles: ['member'] });
  await tenant.admin.post(`/folders/${folder.id}/permissions`, { user_id: user.id, permission_level: 'write' });
  const second = await openBrowser('third-party blocked');
  try {
    const mine = await openAs(browser, tenant, administrator, `/files/${folder.id}`);
    const hers = await second.page();
    await hers.goto(addressOf(tenant, `/files/${folder.id}`));
    await signIn(hers, grace);
    for (const page of [mine, hers]) await page.getByText('This folder is empty').waitFor();
    const [myLooks, herLooks] = [looksOf(mine), looksOf(hers)];

    const choosing = hers.waitForEvent('filechooser');
    await hers.evaluate('window.showOpenFilePicker = undefined');
    await hers.getByRole('button', { name: 'Upload', exact: true }).click();
    await hers.getByRole('menuitem', { name: 'Upload files' }).click();
    await (await choosing).setFiles({ name: 'draft.txt', mimeType: 'text/plain', buffer: Buffer.from('draft') });
    await hers.getByText('1 file uploaded').first().waitFor();
    const added = await vainLooksUntil(mine, myLooks, 'draft.txt');

    await shown(hers, 'draft.txt');
    await select(mine, 'draft.txt');
    await mine.keyboard.press('F2');
    await mine.getByLabel('New name of draft.txt').waitFor();
    await mine.keyboard.type('final');
    const [saved] = await Promise.all([
      mine.waitForResponse((reply) => reply.request().method() === 'PATCH'),
      mine.keyboard.press('Enter'),
    ]);
    const renamed = await vainLooksUntil(hers, herLooks, 'final.txt');
    const { body: files } = await tenant.admin.get('/files', { query: { folder_id: folder.id } });

    await shown(mine, 'final.txt');
    await select(mine, 'final.txt');
    await Promise.all([mine.getByText('1 item moved to the trash').first().waitFor(), mine.keyboard.press('Delete')]);
    const deleted = await vainLooksUntil(hers, herLooks, '');

    expect([saved.status(), files.data.map(({ name }: { name: string }) => name)]).toEqual([200, ['final.txt']]);
    expect([added, renamed, deleted]).toEqual([0, 0, 0]);
  } finally {
    await second.close();
  }
});
