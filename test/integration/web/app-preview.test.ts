import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { greyPng, wav } from '../../support/data/small-media.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
import { NARROW, openSignedIn, titled } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

interface Sent {
  readonly name: string;
  readonly type: string;
  readonly file: Buffer;
}

const text = (name: string, content: string, type = 'text/plain'): Sent => ({ name, type, file: Buffer.from(content) });
const png = (name: string, width: number, height: number): Sent => ({ name, type: 'image/png', file: greyPng(width, height) });

/** A person with these files, and a page on which they are signed in. */
async function personWith(...files: Sent[]) {
  const { api, user, password } = await tenant.user();
  for (const { name, type, file } of files) await api.upload('/files', { name, type, file });
  const page = await openSignedIn(browser, tenant, { email: user.email, password });
  return { api, user, page };
}

const preview = (page: Page): Locator => page.getByRole('dialog');
const open = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const shownName = (page: Page): Promise<string | null> => preview(page).getByRole('heading').textContent();

test('Enter opens a file, arrows go to the next and the former one, and Escape closes and returns the focus', async () => {
  const { page } = await personWith(text('a.txt', 'one'), text('b.txt', 'two'), text('c.txt', 'three'));
  await page
    .getByRole('row', { name: /b\.txt/ })
    .getByRole('gridcell')
    .last()
    .click({ position: { x: 2, y: 2 } });
  await page.keyboard.press('Enter');
  await preview(page).getByText('two', { exact: true }).waitFor();
  const names = [await shownName(page)];
  await page.keyboard.press('ArrowRight');
  await preview(page).getByText('three', { exact: true }).waitFor();
  names.push(await shownName(page));
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await preview(page).getByText('one', { exact: true }).waitFor();
  await preview(page).getByText('1 of 3').waitFor();
  await titled(page, 'a.txt – Biology');

  await page.keyboard.press('Escape');
  await preview(page).waitFor({ state: 'detached' });
  await titled(page, 'Files – Biology');
  await waitFor('the focus to return to the file that was opened', () =>
    page.evaluate(`document.activeElement.closest('[role=row]')?.textContent.includes('b.txt')`),
  );

  expect(names).toEqual(['b.txt', 'c.txt']);
  expect(new URL(page.url()).search).toBe('');
});

test('a second Escape before the preview is gone closes nothing more: the list stays', async () => {
  const { page } = await personWith(text('a.txt', 'one'));
  await open(page, 'a.txt');
  await preview(page).getByText('one', { exact: true }).waitFor();
  await page.evaluate(`{
    window.isSamePage = true;
    const preview = document.querySelector('dialog.preview');
    for (let press = 0; press < 2; press += 1) preview.dispatchEvent(new Event('cancel', { cancelable: true }));
  }`);
  await preview(page).waitFor({ state: 'detached' });
  await open(page, 'a.txt');
  await preview(page).getByText('one', { exact: true }).waitFor();

  expect(await page.evaluate('window.isSamePage')).toBe(true);
});

test('the tab is named after the previewed file, though its folder’s name comes later, and then after the folder', async () => {
  const { api, page } = await personWith();
  const { body: folder } = await api.post('/folders', { name: 'Plans' });
  const { body: file } = await api.upload('/files', {
    name: 'plan.txt',
    file: Buffer.from('plan'),
    fields: { folder_id: folder.id },
  });
  const named = Promise.withResolvers<void>();
  await page.route(`**/api/v1/folders/${folder.id}`, async (route) => {
    await named.promise;
    await route.continue();
  });
  await page.goto(`${tenant.url}/files/${folder.id}?preview=${file.id}`);
  await waitFor('the name of the file', async () => (await page.title()) === 'plan.txt – Biology');
  named.resolve();
  await page.locator('h1', { hasText: 'Plans' }).waitFor({ state: 'attached' });
  const title = await page.title();
  await page.keyboard.press('Escape');

  await waitFor('the name of the folder', async () => (await page.title()) === 'Plans – Biology');
  expect(title).toBe('plan.txt – Biology');
});

test('a preview has an address: a reload shows it again among the files of its folder, and Back closes it', async () => {
  const { page } = await personWith(text('a.txt', 'one'), text('b.txt', 'two'));
  await open(page, 'b.txt');
  await preview(page).getByText('two', { exact: true }).waitFor();
  await page.reload();
  await preview(page).getByText('two', { exact: true }).waitFor();
  await preview(page).getByText('2 of 2').waitFor();
  await preview(page).getByRole('button', { name: 'Previous file' }).click();
  await preview(page).getByText('one', { exact: true }).waitFor();

  await page.goBack();
  await preview(page).waitFor({ state: 'detached' });
});

test('a picture fits the window, grows and shrinks by keys and buttons, and fits again', async () => {
  const { page } = await personWith(png('cells.png', 3000, 2000));
  await open(page, 'cells.png');
  const picture = preview(page).getByRole('img', { name: 'cells.png' });
  await picture.waitFor();
  const width = async (): Promise<number> => Math.round((await picture.boundingBox())?.width ?? 0);
  const fitted = await width();
  await preview(page).getByRole('button', { name: 'Full size' }).click();
  await waitFor('full size', async () => (await width()) === 3000);
  await page.keyboard.press('-');
  await waitFor('three quarters', async () => (await width()) === 2250);
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  await waitFor('half as much again', async () => (await width()) === 4500);
  await page.keyboard.press('0');
  await waitFor('the size that fits', async () => (await width()) === fitted);

  expect(fitted).toBeLessThan(page.viewportSize()?.width ?? 0);
});

test('code is shown as plain text with the numbers of its lines, which wrap or not', async () => {
  const long = 'x'.repeat(3000);
  const { page } = await personWith(text('page.html', `<script>top.ran = true</script>\n${long}\n</html>`, 'text/html'));
  await open(page, 'page.html');
  await preview(page).getByText('<script>top.ran = true</script>').waitFor();
  const lines = await preview(page).locator('[data-line]').count();
  const wide = (): Promise<boolean> =>
    page.evaluate(`(stage => stage.scrollWidth > stage.clientWidth)(document.querySelector('.preview-stage'))`);
  const wrapped = await wide();
  await preview(page).getByRole('button', { name: 'Wrap lines' }).click();
  await waitFor('the long line to be one', wide);

  expect([lines, wrapped, await page.evaluate('window.ran')]).toEqual([3, false, undefined]);
});

test('a long text shows its first MiB, and more when asked', async () => {
  const lines = range(30_000).map((n) => `line ${n + 1} of many ${'.'.repeat(60)}`);
  const { page } = await personWith(text('long.log', lines.join('\n')));
  const sizes: (string | undefined)[] = [];
  page.on('response', (reply) => {
    if (reply.url().endsWith('/download')) sizes.push(reply.headers()['content-length']);
  });
  await open(page, 'long.log');
  await preview(page).locator('[data-line="1"]').waitFor();
  const asked = [...sizes];
  await waitFor('the last line', () =>
    page.evaluate(`(() => {
      if (document.querySelector('[data-line="30000"]')) return true;
      document.querySelector('.preview-more button')?.click();
      return false;
    })()`),
  );

  expect([asked, sizes.length]).toEqual([['1048576'], 3]);
});

test('a recording plays from any position, by ranges', async () => {
  const { page } = await personWith({ name: 'tone.wav', type: 'audio/wav', file: wav(600) });
  const ranges: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/tickets/')) ranges.push(request.headers()['range']);
  });
  await open(page, 'tone.wav');
  const audio = 'document.querySelector("dialog audio")';
  await waitFor('the length', () => page.evaluate(`${audio}?.duration === 600`));
  await page.evaluate(`${audio}.currentTime = 500; ${audio}.muted = true; void ${audio}.play()`);
  await waitFor('it to play there', () => page.evaluate(`${audio}.currentTime > 500.1`));

  expect(ranges.length).toBeGreaterThan(0);
  expect(ranges).not.toContain(undefined);
});

test('what cannot be shown says why, what it is, and is downloaded', async () => {
  const { page } = await personWith(
    { name: 'a.zip', type: 'application/zip', file: Buffer.from('PK') },
    text('empty.txt', ''),
    { name: 'fake.png', type: 'image/png', file: Buffer.from('<script>top.ran = true</script>') },
    { name: 'program.txt', type: 'text/plain', file: Buffer.from([0x7f, 0, 1, 2]) },
    png('large.png', 12_000, 10_000),
    png('vast.png', 30_000, 30_000),
  );
  await open(page, 'a.zip');
  await preview(page).getByText('There is no preview of this kind of file.').waitFor();
  const saving = page.waitForEvent('download');
  await preview(page).getByRole('region').getByRole('button', { name: 'Download' }).click();
  const saved = await readFile(await (await saving).path(), 'utf8');
  await page.keyboard.press('ArrowRight');
  await preview(page).getByText('This file is empty.').waitFor();
  await page.keyboard.press('ArrowRight');
  await preview(page).getByText('The browser cannot show this picture').waitFor();
  await page.keyboard.press('ArrowRight');
  await preview(page).getByText('too large to show here: 12,000 × 10,000 points').waitFor();
  await page.keyboard.press('ArrowRight');
  await preview(page).getByText('This file is no text.').waitFor();
  await page.keyboard.press('ArrowRight');
  await preview(page).getByText('The browser cannot show this picture').waitFor();

  expect([saved, await page.evaluate('window.ran')]).toEqual(['PK', undefined]);
});

test('a picture of too many points is not decoded for a thumbnail', async () => {
  const { page } = await personWith(png('large.png', 10_000, 6_000), png('small.png', 300, 200));
  await page.getByRole('button', { name: 'small.png', exact: true }).waitFor();
  await page.evaluate(`{
    const { createImageBitmap: decode } = window;
    const { revokeObjectURL: end } = URL;
    Object.assign(window, { decoded: 0, ended: 0, createImageBitmap: (file) => (decoded += 1, decode(file)) });
    URL.revokeObjectURL = (url) => (ended += 1, end(url));
  }`);
  await page.getByRole('button', { name: 'Pictures', exact: true }).click();
  await waitFor('both pictures to be read', () => page.evaluate('ended === 2'));
  await waitFor('the thumbnail', () => page.evaluate(`document.querySelectorAll('.files-thumbnail img').length === 1`));

  expect(await page.evaluate('decoded')).toBe(1);
});

test('a picture with a script runs nothing and asks for nothing', async () => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100" onload="top.ran = true">
    <script>top.ran = true; fetch('/stolen')</script><image href="/stolen"/><rect width="200" height="100" fill="green"/>
    <foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml" src="/stolen"/></foreignObject></svg>`;
  const { page } = await personWith({ name: 'a.svg', type: 'image/svg+xml', file: Buffer.from(svg) });
  const asked: string[] = [];
  page.on('request', (request) => void asked.push(request.url()));
  await open(page, 'a.svg');
  await preview(page).getByRole('img', { name: 'a.svg' }).waitFor();
  await page.keyboard.press('Escape');
  await preview(page).waitFor({ state: 'detached' });

  expect([await page.evaluate('window.ran'), asked.filter((url) => url.includes('stolen'))]).toEqual([undefined, []]);
});

/** Comes back to the page, so that it looks at once for changes. */
const comeBack = (page: Page): Promise<unknown> => page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);

test('a file that somebody changes while it is shown says so, and shows the new version when asked', async () => {
  const { api, page } = await personWith(text('a.txt', 'one'), text('b.txt', 'other'));
  const { body } = await api.get('/files');
  const { id } = body.data.find(({ name }: { name: string }) => name === 'a.txt');
  await open(page, 'a.txt');
  await preview(page).getByText('one', { exact: true }).waitFor();
  await api.upload(`/files/${id}`, { method: 'PUT', name: 'a.txt', type: 'text/plain', file: Buffer.from('two') });
  await comeBack(page);
  await preview(page).getByText('This file has changed since you opened it.').waitFor();
  const before = await preview(page).getByText('one', { exact: true }).count();
  await preview(page).getByRole('button', { name: 'Show the new version' }).click();
  await preview(page).getByText('two', { exact: true }).waitFor();
  await page.keyboard.press('ArrowRight');
  await preview(page).getByText('other', { exact: true }).waitFor();

  expect(before).toBe(1);
  expect(await preview(page).getByText('This file has changed').count()).toBe(0);
});

test('a file that somebody renames or deletes while it is shown has its new name, and then says that it is gone', async () => {
  const { api, page } = await personWith(text('a.txt', 'one'));
  const { body } = await api.get('/files');
  const [{ id }] = body.data;
  await open(page, 'a.txt');
  await preview(page).getByText('one', { exact: true }).waitFor();
  await api.patch(`/files/${id}`, { name: 'renamed.txt' });
  await comeBack(page);
  await preview(page).getByRole('heading', { name: 'renamed.txt' }).waitFor();
  const note = await preview(page).getByText('This file has changed').count();
  await api.delete(`/files/${id}`);
  await comeBack(page);
  await preview(page).getByText('This file is no longer there').waitFor();

  expect([note, await preview(page).getByText('one', { exact: true }).count()]).toEqual([0, 1]);
});

test('parts of two versions of a text are never shown as one', async () => {
  const lines = (word: string): string => `${word} ${'.'.repeat(60)}\n`.repeat(20_000);
  const { api, page } = await personWith(text('long.log', lines('old')));
  const { body } = await api.get('/files');
  await open(page, 'long.log');
  await preview(page).locator('[data-line="1"]').waitFor();
  const file = Buffer.from(lines('new'));
  await api.upload(`/files/${body.data[0].id}`, { method: 'PUT', name: 'long.log', type: 'text/plain', file });
  await waitFor('the note', () =>
    page.evaluate(`(() => {
      document.querySelector('.preview-more button')?.click();
      return document.querySelector('.preview-change') !== null;
    })()`),
  );

  expect(await preview(page).getByText('new ..').count()).toBe(0);
});

test('a text of 100 MB opens by its first MiB', async () => {
  const { page } = await personWith({
    name: 'vast.log',
    type: 'text/plain',
    file: Buffer.alloc(100 * 1024 * 1024, 'a line of a log\n'),
  });
  const sizes: (string | undefined)[] = [];
  page.on('response', (reply) => {
    if (reply.url().endsWith('/download')) sizes.push(reply.headers()['content-length']);
  });
  await open(page, 'vast.log');
  await preview(page).locator('[data-line="10000"]').waitFor({ state: 'attached' });
  await preview(page)
    .getByText(/of 100 MB shown/)
    .waitFor({ state: 'attached' });

  expect(sizes).toEqual(['1048576']);
});

test('a file that one may not see says so in place of its content', async () => {
  const { page } = await personWith();
  const other = await tenant.user();
  const { body } = await other.api.upload('/files', { name: 'private.txt', file: Buffer.from('private') });
  await page.goto(`${tenant.url}/?preview=${body.id}`);

  await preview(page).getByRole('alert').waitFor();
  expect(await preview(page).textContent()).not.toContain('private');
});

test.each([
  ['a picture', png('a.png', 3000, 2000), (page: Page) => preview(page).getByRole('img', { name: 'a.png' })],
  ['a text', text('a.txt', `first\n${'word '.repeat(400)}`), (page: Page) => preview(page).getByText('first')],
  ['a recording', { name: 'a.wav', type: 'audio/wav', file: wav(3) }, (page: Page) => preview(page).locator('audio')],
  ['a card', text('a.bin', '', 'application/x-unknown'), (page: Page) => preview(page).getByText('This file is empty.')],
])('axe finds nothing on %s in light and dark, and at 400 %% zoom nothing is cut off', async (_what, file, shown) => {
  const { page } = await personWith(file, text('z.txt', 'z'));
  await open(page, file.name);
  await shown(page).waitFor();

  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await waitFor('nothing to be cut off', () =>
    page.evaluate(`(stage => stage.scrollWidth <= stage.clientWidth)(document.querySelector('.preview-stage'))`),
  );

  expect(found).toEqual([]);
});
