import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page, Response } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { textPdf } from '../../support/data/pdfs.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { addressOf, type Credentials, firstAdministrator, fromMenu, openAs, openShare } from './app.ts';

interface Sent {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
  /** What the preview shows of its content. */
  readonly shows: string;
}

const ATTACK = `<script>top.ran = true; fetch('/stolen')</script><img src="/stolen" onerror="top.ran = true">`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100" onload="top.ran = true">
  <script>top.ran = true; fetch('/stolen')</script><image href="/stolen"/><rect width="200" height="100" fill="green"/></svg>`;
const sent = (name: string, mimeType: string, content: string | Uint8Array, shows = String(content)): Sent => ({
  name,
  mimeType,
  buffer: Buffer.from(content),
  shows,
});

const FOLDER = '<b onclick=top.ran=1>Földer ילדים';
/** What is searched for, the names in which it is, and what is marked in them. */
const SEARCHES: readonly (readonly [words: string, names: RegExp, marks: readonly string[]])[] = [
  ['onerror', /onerror/, ['onerror', 'onerror', 'onerror']],
  ['<svg onload', /<svg onload/, ['onload', 'svg', 'svg']],
  ['script', /script/, ['script', 'script', 'script']],
  ['%3Cb%3E', /%3Cb%3E/, ['3Cb', '3E']],
  ['עולם', /עולם/, ['עולם']],
  ['日本語', /日本語/, ['日本語']],
  ['字字字', /字字字/, ['字'.repeat(251)]],
  ['Földer', /Földer/, ['Földer']],
];

const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
let administrator: Credentials;
let files: readonly Sent[];
let folder: string;
/** Ids of the files by their names. */
let ids: ReadonlyMap<string, string>;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([
    demoTenant(where, { limits: { requestsPerUserPerMinute: 2_000, requestsPerTenantPerMinute: 10_000 } }),
    openBrowser('third-party blocked'),
  ]);
  administrator = await firstAdministrator(where, tenant);
  const pdf = await textPdf();
  pdf.addJavaScript('start', `app.launchURL('${addressOf(tenant, '/stolen')}')`);
  files = [
    sent('<img src=x onerror=top.ran=1>.html', 'text/html', ATTACK),
    sent(`"'><svg onload=top.ran=1>.svg`, 'image/svg+xml', SVG, ''),
    sent('javascript:top.ran=1.pdf', 'application/pdf', await pdf.save(), 'The teacher reads a book.'),
    sent('{{7*7}} #{7*7} &lt;b&gt; %3Cb%3E %00.md', 'text/markdown', `# Harmless\n\n${ATTACK}`, 'Harmless'),
    // What they say they are, they are not.
    sent('"><img src=x onerror=top.ran=1>.png', 'image/png', ATTACK, 'The browser cannot show this picture'),
    sent("' onerror='top.ran=1.wav", 'audio/wav', ATTACK, 'The browser cannot play this file.'),
    sent('--><script>top.ran=1<／script>.mp4', 'video/mp4', ATTACK, 'The browser cannot play this file.'),
    sent('=1+1;@SUM(A1) "quoted", next.csv', 'text/csv', 'a,b\n1,2\n', '1,2'),
    sent('שלום עולם – مرحبا بالعالم (1).txt', 'text/plain', 'שלום'),
    sent('Ünïcödé Ελληνικά Русский 日本語 हिन्दी ไทย 한국어 😀.txt', 'text/plain', 'Ελληνικά'),
    sent(`${'a long name '.repeat(20)}${'x'.repeat(11)}.txt`, 'text/plain', 'long'),
    sent(`${'字'.repeat(251)}.txt`, 'text/plain', 'wide'),
  ];
}, 180_000);

afterAll(() => browser?.close());

const NAMES = (): readonly string[] => files.map(({ name }) => name).toSorted();

/** What no page may do: run what a file holds, show a question of a script, fail, or ask for what a file names. */
function watched(page: Page): string[] {
  const faults: string[] = [];
  const { origin } = new URL(tenant.apiUrl);
  page.on('pageerror', (error) => void faults.push(error.message));
  page.on('dialog', (dialog) => {
    faults.push(`asks ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('response', (reply) => {
    const url = reply.url();
    if (/stolen/.test(url) || !(url.startsWith(origin) || /^(?:blob|data):/.test(url))) faults.push(`asks for ${url}`);
  });
  return faults;
}

interface Opened {
  readonly page: Page;
  readonly faults: string[];
  /** The documents of frames that show a file. */
  readonly framed: Response[];
}

async function open(path: string): Promise<Opened> {
  const page = await browser.page();
  const faults = watched(page);
  const framed: Response[] = [];
  page.on('response', (reply) => {
    if (reply.url().endsWith('/preview-frame')) framed.push(reply);
  });
  await page.goto(addressOf(tenant, path));
  return { page, faults, framed };
}

/** The frame with a file has no origin, and a policy by which it runs files of the build alone and reaches nothing. */
async function expectShutIn({ page, framed }: Opened): Promise<void> {
  const { origin } = new URL(tenant.apiUrl);
  const frame = await waitFor('the frame', () => page.frames().find((one) => one.url().endsWith('/preview-frame')));
  const policy = await framed[0]?.headerValue('content-security-policy');

  expect(await frame.evaluate('self.origin')).toBe('null');
  expect(policy).toMatch(/^sandbox allow-scripts; default-src 'none'; /);
  expect(policy).toContain("connect-src 'none'");
  expect(policy).toContain(`script-src ${origin}/assets/ 'wasm-unsafe-eval';`);
  expect(policy).toContain(`frame-ancestors ${origin}`);
  expect(await framed[0]?.headerValue('connection-allowlist')).toBe(`("${origin}/assets/*")`);
}

const textsOf = async (page: Page, selector: string): Promise<readonly string[]> =>
  (await page.locator(selector).allTextContents()).toSorted();
const ranOn = (page: Page): Promise<unknown> => page.evaluate('window.ran');

test('files of hostile and foreign names arrive by the page with their names and bytes', async () => {
  expect(files.filter(({ name }) => name.length > 200).map(({ name }) => name.length)).toEqual([255, 255]);
  ({
    body: { id: folder },
  } = await tenant.admin.post('/folders', { name: FOLDER }));
  const page = await openAs(browser, tenant, administrator, `/files/${folder}`);
  const faults = watched(page);
  await page.evaluate('window.showOpenFilePicker = undefined');
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('menuitem', { name: 'Upload files' }).click();
  await (await choosing).setFiles(files.map(({ name, mimeType, buffer }) => ({ name, mimeType, buffer })));
  const panel = page.getByRole('region', { name: 'Uploads' });
  await panel
    .getByText(/\d files? (?:uploaded|could not be uploaded)/)
    .first()
    .waitFor();
  expect(await panel.innerText()).toContain(`${files.length} files uploaded`);

  await waitFor('all names in the list', async () => (await textsOf(page, '.files-open')).length === files.length);
  expect(await textsOf(page, '.files-open')).toEqual(NAMES());
  const { body } = await tenant.admin.get('/files', { query: { folder_id: folder, limit: 100 } });
  ids = new Map(body.data.map(({ name, id }: { name: string; id: string }) => [name, id]));
  for (const { name, buffer } of files) {
    const { bytes } = await tenant.admin.get(`/files/${ids.get(name)}/download`);
    expect([name, bytes.equals(buffer)]).toEqual([name, true]);
  }
  expect([await ranOn(page), faults]).toEqual([undefined, []]);
});

test('the preview shows each file by its name, and runs nothing of it', async () => {
  for (const { name, shows, mimeType } of files) {
    const opened = await open(`/files/${folder}?preview=${ids.get(name)}`);
    const { page, faults } = opened;
    const dialog = page.getByRole('dialog', { name, exact: true });
    await dialog.waitFor();
    if (mimeType === 'image/svg+xml') await dialog.getByRole('img', { name, exact: true }).waitFor();
    else if (/pdf|markdown/.test(mimeType)) {
      await page.frameLocator('iframe').getByText(shows).first().waitFor();
      await expectShutIn(opened);
    } else await dialog.getByText(shows).first().waitFor();

    expect([name, await ranOn(page), faults]).toEqual([name, undefined, []]);
    await page.close();
  }
});

test('a search finds each name as it is, marks the words in it, and says what was searched for', async () => {
  for (const [words, found, marks] of SEARCHES) {
    const names = [...NAMES(), FOLDER].filter((name) => found.test(name));
    const { page, faults } = await open(`/search?q=${encodeURIComponent(words)}`);
    await waitFor(`what ${words} finds`, async () => (await textsOf(page, '.files-open')).length === names.length);

    expect([await textsOf(page, '.files-open'), await textsOf(page, '.files-open mark')]).toEqual([names, marks]);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(`Results for “${words}”`);
    expect([words, await ranOn(page), faults]).toEqual([words, undefined, []]);
    await page.close();
  }
});

test('the details and the dialog that shares say each name as it is', async () => {
  const { page, faults } = await open(`/files/${folder}`);
  for (const { name } of files) {
    await fromMenu(page, name, 'Details');
    const details = page.getByRole('complementary', { name, exact: true });
    await details.waitFor();
    const title = await details.getByRole('heading', { level: 2 }).first().textContent();
    const dialog = await openShare(page, name);
    const question = await dialog.getByRole('heading', { level: 2 }).textContent();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    expect([title, question]).toEqual([name, `Share “${name}”`]);
  }

  expect([await ranOn(page), faults]).toEqual([undefined, []]);
});

test('the list of links has each name as it is', async () => {
  for (const id of ids.values()) await tenant.admin.post(`/files/${id}/share`, {});
  const { page, faults } = await open('/links');
  const named = async (): Promise<string[]> => [...new Set(await textsOf(page, '.links-name'))];
  await waitFor('the links of all files', async () => (await named()).length === files.length);

  expect(await named()).toEqual(NAMES());
  expect([await ranOn(page), faults]).toEqual([undefined, []]);
});

test('the page of a link shows each name, and what is saved has the bytes', async () => {
  for (const { name, buffer } of files) {
    const { body: link } = await tenant.admin.post(`/files/${ids.get(name)}/share`, {});
    const { page, faults } = await open(new URL(link.url).pathname);
    await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download', exact: true }).click(),
    ]);

    const saved = await readFile(await download.path());
    expect([name, saved.equals(buffer), await ranOn(page), faults]).toEqual([name, true, undefined, []]);
    // Browsers replace what no file system takes.
    if (/^[\p{L}\p{M} ()–😀\d]+\.txt$/u.test(name) && name.length < 200) expect(download.suggestedFilename()).toBe(name);
    await page.close();
  }
});

test('a public folder, the items of a job and the audit log have each name as it is', async () => {
  const { body: link } = await tenant.admin.post(`/folders/${folder}/share`, {});
  const { body: copies } = await tenant.admin.post('/folders', { name: 'Copies' });
  const items = [...ids.values()].map((id) => ({ type: 'file', id }));
  const { body: job } = await tenant.admin.post('/batch', { operation: 'copy', items, arguments: { folder_id: copies.id } });

  const shared = await open(new URL(link.url).pathname);
  await waitFor(
    'all names in the public folder',
    async () => (await textsOf(shared.page, '.share-open')).length === files.length,
  );
  const jobs = await open(`/jobs/${job.id}`);
  await waitFor('all items of the job', async () => (await textsOf(jobs.page, '.jobs-item-name')).length === files.length);
  const audit = await open('/admin/audit?what=file.upload');
  await audit.page.getByRole('heading', { name: 'Audit log' }).waitFor();
  await waitFor('all uploads', async () => {
    const names = new Set(await textsOf(audit.page, '.audit-target'));
    return files.every(({ name }) => names.has(name));
  });

  expect([await textsOf(shared.page, '.share-open'), await textsOf(jobs.page, '.jobs-item-name')]).toEqual([NAMES(), NAMES()]);
  for (const { page, faults } of [shared, jobs, audit]) expect([await ranOn(page), faults]).toEqual([undefined, []]);
});

test('the trash has each name as it is', async () => {
  for (const id of ids.values()) await tenant.admin.delete(`/files/${id}`);
  const { page, faults } = await open('/trash');
  await waitFor('all files in the trash', async () => (await textsOf(page, '.files-open')).length === files.length);

  expect(await textsOf(page, '.files-open')).toEqual(NAMES());
  expect([await ranOn(page), faults]).toEqual([undefined, []]);
});
