import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
import { NARROW, titled } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

type Person = Awaited<ReturnType<typeof tenant.user>>;

const PASSWORD = 'pässword of a link';
const HOSTILE = '<img src=x onerror=alert(1)>.txt';
const RTL = 'עברית (1).pdf';
/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const LONG = `${'very long '.repeat(24)}.txt`;

const put = async ({ api }: Person, name: string, folder_id?: string, file = Buffer.from(name)): Promise<string> =>
  (await api.upload('/files', { name, file, fields: folder_id === undefined ? {} : { folder_id } })).body.id;
const makeFolder = async ({ api }: Person, name: string, parent_id: string | null = null): Promise<string> =>
  (await api.post('/folders', { name, parent_id })).body.id;
const share = async ({ api }: Person, path: string, terms: object = {}): Promise<{ id: string; url: string }> =>
  (await api.post(`${path}/share`, terms)).body;

/** Opens an address in a browser that has no cookies; what the page asks other sites or gets wrong fails the test that looks. */
async function open(url: string): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.page();
  await page.context().clearCookies();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => message.text().includes('Content Security Policy') && faults.push(message.text()));
  page.on('dialog', (dialog) => {
    faults.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const { referer } = request.headers();
    if (referer) faults.push(`referer ${referer} to ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults };
}

/** Waits for the page's own form of the password, which takes the place of what the server sent. */
const ownForm = (page: Page): Promise<void> => page.getByRole('button', { name: 'Show password' }).waitFor();

/** What the browser saves after an action. */
async function saved(page: Page, act: () => Promise<void>): Promise<{ name: string; content: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return { name: download.suggestedFilename(), content: await readFile(await download.path(), 'utf8') };
}

const rowNames = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('.share-open')].map((name) => name.textContent)`);

test('a file shows its name and size and is saved; the last download is said to be the last', async () => {
  const ada = await tenant.user();
  const link = await share(ada, `/files/${await put(ada, HOSTILE)}`, { max_downloads: 1 });
  const { page, faults } = await open(link.url);
  await page.getByRole('heading', { name: HOSTILE }).waitFor();
  await page.getByText('It can be used once more.').waitFor();
  await titled(page, `${HOSTILE} – Biology`);

  const file = await saved(page, () => page.getByRole('button', { name: 'Download' }).click());
  await page.getByText('The link is used up.').waitFor();

  expect([file.content, await page.getByRole('button', { name: 'Download' }).isDisabled(), faults]).toEqual([HOSTILE, true, []]);
});

test('nothing is named before the password; a wrong one is said, and a reload asks for it no more', async () => {
  const ada = await tenant.user();
  const folder = await makeFolder(ada, 'Secret plans');
  await put(ada, 'plan.txt', folder);
  const link = await share(ada, `/folders/${folder}`, { password: PASSWORD });
  const { page, faults } = await open(link.url);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByText('Enter the password.', { exact: true }).waitFor();
  await page.getByLabel('Password', { exact: true }).fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('This password is wrong.').waitFor();
  const before = `${await page.content()} ${await page.title()}`;

  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'plan.txt' }).waitFor();
  await page.reload();
  const file = await saved(page, () => page.getByRole('link', { name: 'plan.txt' }).click());

  expect([before.includes('Secret'), await page.title(), file, faults]).toEqual([
    false,
    'Secret plans – Biology',
    { name: 'plan.txt', content: 'plan.txt' },
    [],
  ]);
});

test('a folder lists folders and files, goes into one and back, keeps its place at a reload, and is saved whole', async () => {
  const ada = await tenant.user();
  const top = await makeFolder(ada, 'Course');
  const weeks = await makeFolder(ada, 'Weeks', top);
  for (const name of [HOSTILE, RTL, LONG]) await put(ada, name, top);
  await put(ada, 'week 1.txt', weeks);
  const { page, faults } = await open((await share(ada, `/folders/${top}`)).url);
  await page.getByRole('button', { name: 'Weeks' }).waitFor();
  const names = await rowNames(page);
  await page.getByRole('button', { name: 'Weeks' }).click();
  await page.getByRole('link', { name: 'week 1.txt' }).waitFor();
  await page.reload();
  const file = await saved(page, () => page.getByRole('link', { name: 'week 1.txt' }).click());
  await page.goBack();
  await page.getByRole('button', { name: 'Weeks' }).waitFor();
  await page.getByRole('searchbox', { name: 'Search in this folder' }).fill('very');
  await waitFor('one file to be found', async () => (await rowNames(page)).length === 1);
  const found = await rowNames(page);
  await page.getByRole('searchbox', { name: 'Search in this folder' }).fill('nothing of this');
  await page.getByText('Nothing found').first().waitFor();
  const zip = await saved(page, () => page.getByRole('button', { name: 'Download all as ZIP' }).click());

  expect([names[0], new Set(names)]).toEqual(['Weeks', new Set(['Weeks', HOSTILE, RTL, LONG])]);
  expect([file.content, found, zip.name, zip.content.startsWith('PK'), faults]).toEqual([
    'week 1.txt',
    [LONG],
    'Course.zip',
    true,
    [],
  ]);
});

test('a folder of more files than a page has is listed to its end as one scrolls; only rows near the screen exist', async () => {
  const ada = await tenant.user();
  const top = await makeFolder(ada, 'Many');
  await Promise.all(range(230).map((at) => put(ada, `${String(at).padStart(3, '0')}.txt`, top)));
  const { page } = await open((await share(ada, `/folders/${top}`)).url);
  const table = page.getByRole('table', { name: 'Many' });
  await page.getByRole('link', { name: '000.txt' }).waitFor();
  await page.getByText('200 items are loaded, more follow').waitFor();
  const before = [await table.getAttribute('aria-rowcount'), (await rowNames(page)).length < 60];
  await waitFor('the last file', async () => {
    await page.keyboard.press('End');
    return (await rowNames(page)).at(-1) === '229.txt';
  });
  await page.getByText('230 items', { exact: true }).waitFor();
  const last = page.getByRole('row', { name: '229.txt' });
  const after = [
    await table.getAttribute('aria-rowcount'),
    (await rowNames(page)).length < 60,
    await last.getAttribute('aria-rowindex'),
  ];
  await last.getByRole('link').focus();
  // Rows come as those on the screen go, so each step waits for its row.
  for (const name of range(30).map((step) => `${228 - step}.txt`)) {
    await page.keyboard.press('Shift+Tab');
    await waitFor(`${name} to have the focus`, () => page.evaluate(`document.activeElement.textContent === '${name}'`));
  }
  await page.keyboard.press('Home');
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
  await waitFor('the opposite order', async () => (await rowNames(page))[0] === '229.txt');

  expect([before, after]).toEqual([
    ['-1', true],
    ['231', true, '231'],
  ]);
});

test('a visit of a folder is one request, and a download asks once whether it would begin', async () => {
  const ada = await tenant.user();
  const top = await makeFolder(ada, 'Course');
  const weeks = await makeFolder(ada, 'Weeks', top);
  await put(ada, 'plan.txt', top);
  await put(ada, 'week 1.txt', weeks);
  const { url } = await share(ada, `/folders/${top}`);
  const asked: string[] = [];
  const page = await browser.page();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/assets/')) asked.push(`${request.method()} ${pathname.split('/').at(-1)}`);
  });
  await page.goto(url);
  await page.getByRole('link', { name: 'plan.txt' }).waitFor();
  const visit = asked.splice(0).length;
  await saved(page, () => page.getByRole('link', { name: 'plan.txt' }).click());
  const download = asked.splice(0);
  await page.getByRole('button', { name: 'Weeks' }).click();
  await page.getByRole('link', { name: 'week 1.txt' }).waitFor();
  const below = asked.splice(0);
  await put(ada, 'new.txt', top);
  await page.goBack();
  await page.getByRole('link', { name: 'new.txt' }).waitFor();

  expect([visit, download, below, asked]).toEqual([1, ['HEAD download'], ['GET children'], ['GET children']]);
});

test('a link that ends while its page is open says so, and nothing else', async () => {
  const ada = await tenant.user();
  const top = await makeFolder(ada, 'Ended');
  await put(ada, 'plan.txt', top);
  const link = await share(ada, `/folders/${top}`);
  const { page } = await open(link.url);
  await page.getByRole('link', { name: 'plan.txt' }).waitFor();
  await ada.api.patch(`/shares/${link.id}`, { is_active: false });

  await page.getByRole('link', { name: 'plan.txt' }).click();
  await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
  const shown = await page.locator('body').textContent();
  const reply = await page.reload();
  await page.getByText(`Request ${reply?.headers()['x-request-id']}`, { exact: true }).waitFor();

  expect([shown?.includes('Ended'), reply?.status(), (await page.content()).includes('Ended')]).toEqual([false, 404, false]);
});

test('a file that is gone is said to be, its row goes, and nothing of it is said in another folder', async () => {
  const ada = await tenant.user();
  const top = await makeFolder(ada, 'Course');
  const weeks = await makeFolder(ada, 'Weeks', top);
  const plan = await put(ada, 'plan.txt', top);
  await put(ada, 'week 1.txt', weeks);
  const { page } = await open((await share(ada, `/folders/${top}`)).url);
  await page.getByRole('link', { name: 'plan.txt' }).waitFor();
  await ada.api.delete(`/files/${plan}`);
  await page.getByRole('link', { name: 'plan.txt' }).click();
  await page.getByRole('alert').waitFor();
  await waitFor('the row to go', async () => (await rowNames(page)).join() === 'Weeks');
  const focused = await page.evaluate('document.activeElement.localName');
  const alerts = [await page.getByRole('alert').count()];
  for (const go of [() => page.getByRole('button', { name: 'Weeks' }).click(), () => page.goBack(), () => page.goForward()]) {
    await go();
    await page
      .getByRole('link', { name: 'week 1.txt' })
      .or(page.getByRole('button', { name: 'Weeks' }))
      .waitFor();
    alerts.push(await page.getByRole('alert').count());
  }

  expect([focused, alerts]).toEqual(['h1', [1, 0, 0, 0]]);
});

test('what is renamed while its link is open is still saved: a file, and one in a folder', async () => {
  const ada = await tenant.user();
  const rename = async (path: string, name: string): Promise<void> => {
    expect((await ada.api.patch(path, { name })).status).toBe(200);
  };
  const [draft, term] = [await put(ada, 'draft.txt'), await makeFolder(ada, 'Term')];
  const [plan, weeks] = [await put(ada, 'plan.txt', term), await makeFolder(ada, 'Weeks', term)];
  await put(ada, 'week 1.txt', weeks);
  const { page: ofFile } = await open((await share(ada, `/files/${draft}`)).url);
  await ofFile.getByRole('heading', { name: 'draft.txt' }).waitFor();
  await rename(`/files/${draft}`, 'final.txt');
  const file = await saved(ofFile, () => ofFile.getByRole('button', { name: 'Download' }).click());
  await ofFile.reload();
  await ofFile.getByRole('heading', { name: 'final.txt' }).waitFor();

  const { page: ofFolder } = await open((await share(ada, `/folders/${term}`)).url);
  await ofFolder.getByRole('link', { name: 'plan.txt' }).waitFor();
  await rename(`/files/${plan}`, 'plan of may.txt');
  await rename(`/folders/${weeks}`, 'Weeks of may');
  await rename(`/folders/${term}`, 'May');
  const within = await saved(ofFolder, () => ofFolder.getByRole('link', { name: 'plan.txt' }).click());
  await ofFolder.getByRole('button', { name: 'Weeks', exact: true }).click();
  await ofFolder.getByRole('link', { name: 'week 1.txt' }).waitFor();
  await ofFolder.goBack();
  await ofFolder.reload();
  await ofFolder.getByRole('link', { name: 'plan of may.txt' }).waitFor();
  await titled(ofFolder, 'May – Biology');

  expect([file, within]).toEqual([
    { name: 'final.txt', content: 'draft.txt' },
    { name: 'plan of may.txt', content: 'plan.txt' },
  ]);
  expect(await rowNames(ofFolder)).toEqual(['Weeks of may', 'plan of may.txt']);
});

test('a picture is shown and counts as a download; a link with a limit of them, and what could run, show none', async () => {
  const ada = await tenant.user();
  const put = async (name: string, type: string, file: Buffer): Promise<string> =>
    (await ada.api.upload('/files', { name, type, file })).body.id;
  const picture = await put('dot.png', 'image/png', PNG);
  const drawing = await put('dot.svg', 'image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
  const sound = await put('dot.mp3', 'audio/mpeg', Buffer.from('no sound'));
  const links = [
    await share(ada, `/files/${picture}`, { password: PASSWORD }),
    await share(ada, `/files/${picture}`, { max_downloads: 3 }),
    await share(ada, `/files/${drawing}`),
    await share(ada, `/files/${sound}`),
  ];
  const shown: (string | undefined)[] = [];
  for (const { url } of links) {
    const { page } = await open(url);
    const [password, download] = [page.getByLabel('Password', { exact: true }), page.getByRole('button', { name: 'Download' })];
    await password.or(download).first().waitFor();
    if (await password.isVisible()) {
      await ownForm(page);
      await password.fill(PASSWORD);
      await page.keyboard.press('Enter');
      await download.waitFor();
    }
    shown.push(await page.evaluate(`document.querySelector('.share-preview')?.localName`));
    if (shown.at(-1) !== 'img') continue;
    await waitFor('the picture to be drawn', () => page.evaluate<boolean>(`document.querySelector('img').naturalWidth === 1`));
  }
  const counts = await Promise.all(links.map(async ({ id }) => (await ada.api.get(`/shares/${id}`)).body.download_count));

  expect([shown, counts]).toEqual([
    ['img', undefined, undefined, 'audio'],
    [1, 0, 0, 0],
  ]);
});

test('the keyboard alone goes through a folder, into one and back, and downloads', async () => {
  const ada = await tenant.user();
  const top = await makeFolder(ada, 'Course');
  await put(ada, 'week 1.txt', await makeFolder(ada, 'Weeks', top));
  const { page } = await open((await share(ada, `/folders/${top}`)).url);
  await page.getByRole('button', { name: 'Weeks' }).waitFor();
  const stops: (string | null)[] = [];
  while (stops.at(-1) !== 'Weeks' && stops.length < 10) {
    await page.keyboard.press('Tab');
    stops.push(await page.evaluate(`document.activeElement.placeholder ?? document.activeElement.textContent`));
  }
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'week 1.txt' }).waitFor();
  const heading = await page.evaluate(`document.activeElement.localName + ' ' + document.activeElement.textContent`);
  await page.keyboard.press('Tab');
  const wayBack = await page.evaluate('document.activeElement.textContent');
  await page.getByRole('link', { name: 'week 1.txt' }).focus();
  const file = await saved(page, () => page.keyboard.press('Enter'));

  expect(stops).toEqual(['Download all as ZIP', 'Search in this folder', 'Name', 'Changed', 'Weeks']);
  expect([heading, wayBack, file.name]).toEqual(['h1 Weeks', 'Course', 'week 1.txt']);
});

test('without scripts a file is saved by its form, with its password, and a folder as an archive', async () => {
  const ada = await tenant.user();
  const [file, folder] = [await put(ada, 'plan.txt'), await makeFolder(ada, 'Course')];
  await put(ada, 'inside.txt', folder);
  const links = [await share(ada, `/files/${file}`, { password: PASSWORD }), await share(ada, `/folders/${folder}`)];
  const page = await browser.page();
  await page.route('**/*.js', (route) => route.abort());
  await page.goto(links[0]?.url ?? '');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Download' }).click();
  await page.getByText('This password is wrong.').waitFor();
  await page.getByLabel('Password').fill(PASSWORD);
  const plan = await saved(page, () => page.getByRole('button', { name: 'Download' }).click());
  await page.goto(links[1]?.url ?? '');
  const zip = await saved(page, () => page.getByRole('link', { name: 'Download all as ZIP' }).click());

  expect([plan, zip.name]).toEqual([{ name: 'plan.txt', content: 'plan.txt' }, 'Course.zip']);
});

test('axe finds nothing on any of the pages in light and dark, and at 400 % zoom nothing is cut off', async () => {
  const ada = await tenant.user();
  const top = await makeFolder(ada, 'Course');
  for (const name of [HOSTILE, RTL, LONG]) await put(ada, name, top);
  const file = await put(ada, LONG);
  const pages = [
    [(await share(ada, `/files/${file}`, { expires_at: '2099-01-31T12:00:00Z' })).url, 'Download'],
    [(await share(ada, `/files/${file}`, { password: PASSWORD })).url, 'Open'],
    [(await share(ada, `/folders/${top}`, { max_downloads: 3 })).url, 'Download all as ZIP'],
  ] as const;
  const found: string[] = [];
  for (const [url, button] of pages) {
    const { page } = await open(url);
    await page.getByRole('button', { name: button }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      found.push(...(await axeFindings(page)));
    }
    await page.setViewportSize(NARROW);
    await fits(page);
  }

  expect(found).toEqual([]);
});
