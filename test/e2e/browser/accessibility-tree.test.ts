/**
 * What assistive technology gets of each page, as a text that somebody has reviewed. A change of the pages that changes a text
 * fails here. Then `TREES=write node hack/test.ts accessibility-tree` writes the texts anew, and whoever commits them reads the
 * difference aloud, as a screen reader would:
 * - Do headings and landmarks lead through the page, in the order in which one reads it?
 * - Has each control, table, picture and frame a name that says what it is for without what stands around it?
 * - Is anything said twice, or is anything said that says nothing?
 * - Are states said (chosen, pressed, opened, sorted, wrong, current), and what a button opens? Where is the focus?
 * What is wrong is mended in pkg/web. Times, ids, addresses and names that differ from run to run are words in capitals.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { ROOT } from '../../support/backends/backends.ts';
import { compared, faultsOf, treeOf } from '../../support/clients/accessibility-tree.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { LookedAt } from '../../support/clients/looked-at.ts';
import type { DemoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { addressOf, type Credentials, firstAdministrator, signIn, tenantWithHelpers } from './app.ts';
import { makeReadSamples, type ReadSamples } from './read-samples.ts';
import { READ_PAGES, type ReadPage } from './read-pages.ts';

const FOLDER = join(import.meta.dirname, 'accessibility-tree');

const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
let lms: Lms;
let samples: ReadSamples;
let administrator: Credentials;
let shown: LookedAt;
let isSignedIn = false;

beforeAll(async () => {
  [tenant, browser, lms] = await Promise.all([tenantWithHelpers(where), openBrowser('third-party blocked'), Lms.start()]);
  administrator = await firstAdministrator(where, tenant);
  samples = await makeReadSamples(where, tenant, lms, browser);
  const page = await browser.page();
  // What one page chose, such as pictures in place of rows, does not hold for the next, nor do its uploads.
  await page.addInitScript(`try {
    localStorage.clear();
    indexedDB.deleteDatabase('carrel-uploads');
  } catch { /* a frame without an origin has none */ }`);
  // Uploads that are under way ask before their page is left.
  page.on('dialog', (dialog) => void dialog.accept());
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setTimezoneOverride', { timezoneId: 'UTC' });
  shown = await LookedAt.of(page);
}, 300_000);

afterAll(async () => {
  await Promise.all([browser?.close(), lms?.stop()]);
});

async function open({ at, isSignedOut = false, hasMore = false, isUnderWay = false, reach }: ReadPage): Promise<void> {
  const { page } = shown;
  if (hasMore) await samples.addMore();
  if (isSignedOut) await page.context().clearCookies();
  else if (!isSignedIn) {
    await shown.open(addressOf(tenant, '/files'));
    await signIn(page, administrator);
  }
  isSignedIn = !isSignedOut;
  await shown.open(addressOf(tenant, at(samples)));
  await reach?.(page);
  if (!isUnderWay) await shown.settled();
}

test.each(READ_PAGES.map((page) => [page.name, page] as const))(
  'what assistive technology gets of %s is what its reviewed text says',
  async (name, page) => {
    await open(page);

    const part = page.part ?? 'main';
    const { wanted, found } = await compared(shown.page, { file: join(FOLDER, `${name}.txt`), part, names: samples.names });

    expect(found).toBe(wanted);
    expect(faultsOf(found, part)).toEqual([]);
  },
);

test('each reviewed text is of a page', async () => {
  expect((await readdir(FOLDER)).toSorted()).toEqual(READ_PAGES.map(({ name }) => `${name}.txt`).toSorted());
});

/** Developers see the gallery; `/` shows what /files or /welcome does. */
const NOT_READ = ['/', '/design'];

/** Returns what matches the paths of a route, as preact-iso does. */
const matching = (route: string): RegExp =>
  new RegExp(`^${route.replaceAll(/\/:\w+\?/g, '(?:/[^/]+)?').replaceAll(/\/:\w+/g, '/[^/]+')}$`);

test('each route of the app is read', async () => {
  const source = await readFile(join(ROOT, 'pkg/web/app/routes.tsx'), 'utf8');
  const routes = [...source.matchAll(/\bpath: '([^']+)'/g)].map(([, path = '']) => path);
  const read = READ_PAGES.filter(({ isSignedOut }) => isSignedOut !== true).map(({ at }) => at(samples).split('?')[0] ?? '');

  const unread = routes.filter((route) => !read.some((path) => matching(route).test(path)));

  expect([routes.length > 20, unread]).toEqual([true, NOT_READ]);
});

test('a page that was spoilt has another text, and its faults are found', async () => {
  const page = READ_PAGES.find(({ name }) => name === 'people');
  if (!page) throw new Error('there is no page of people');
  await open(page);
  await shown.page.locator('main table').waitFor();
  const before = await treeOf(shown.page, 'main', samples.names);
  await shown.page.evaluate(`(() => {
    const main = document.querySelector('main');
    main.querySelector('h1').outerHTML = '<h3>People</h3>';
    main.querySelector('table').removeAttribute('aria-label');
    for (const attribute of ['aria-label', 'title']) main.querySelector('button[aria-haspopup]').removeAttribute(attribute);
    main.querySelector('a').append(' ' + main.querySelector('a').textContent);
  })()`);
  const after = await treeOf(shown.page, 'main', samples.names);

  expect(faultsOf(before, 'main')).toEqual([]);
  expect(faultsOf(after, 'main')).toEqual([
    'without a name: - table:',
    expect.stringMatching(/^without a name: - button/),
    'said twice: - link "People People"',
    'not one first heading, of level 1',
  ]);
});
