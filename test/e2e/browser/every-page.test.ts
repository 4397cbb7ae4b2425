import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { LookedAt } from '../../support/clients/looked-at.ts';
import { SECTIONS } from '../../../pkg/http/app-page.ts';
import { SAMPLE_PASSWORD } from '../../../pkg/local/demo/sample-data/people.ts';
import { SAMPLE_TENANT } from '../../../pkg/local/demo/sample-data/sample-data.ts';
import { type DemoTenant, signIn as apiOf } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { addressOf, firstAdministrator, signIn } from './app.ts';
import { addressOfRoute, ROUTES } from './app-routes.ts';
import { OVER_PAGES, type Samples, samplesOf } from './over-pages.ts';
import { inEnglish } from './words.ts';

/** Each page as the sample data fill it. Nothing here changes them. */
const where = await platform();
let tenant: DemoTenant;
let samples: Samples;
let browser: TestBrowser;
let shown: LookedAt;
let isSignedIn = false;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([
    apiOf(where, SAMPLE_TENANT.namespace, SAMPLE_TENANT.name),
    openBrowser('third-party blocked'),
  ]);
  samples = await samplesOf(tenant);
  const page = await browser.page();
  // What one page chose, such as cards in place of rows, does not hold for the next.
  await page.addInitScript('try { localStorage.clear(); } catch { /* a frame without an origin has none */ }');
  // Uploads that cannot arrive ask before their page is left.
  page.on('dialog', (dialog) => void dialog.accept());
  shown = await LookedAt.of(page);
}, 180_000);

afterAll(() => browser?.close());

/** Opens an address as the administrator. */
async function openSignedIn(path: string): Promise<void> {
  if (!isSignedIn) {
    await shown.open(addressOf(tenant, '/files'));
    await signIn(shown.page, await firstAdministrator(where, tenant));
    isSignedIn = true;
  }
  await shown.open(addressOf(tenant, path));
}

const CHECKED = 'has no findings of axe in light, dark and high contrast, fits at 400 %% zoom and on a phone, and does not move';

// Before anybody signs in.
test.each(['/sign-in', '/reset#a-token', '/reset'])(`%s ${CHECKED}`, async (path) => {
  await shown.open(addressOf(tenant, path));

  expect(await shown.findings()).toEqual([]);
});

test.each<[string, () => string]>([
  ['the link of a file', () => samples.link('file')],
  ['the link of a folder', () => samples.link('download')],
  ['a file request that has a password', () => samples.link('upload')],
  ['a link that does not work', () => '0'.repeat(64)],
])(`%s ${CHECKED}`, async (_what, token) => {
  await shown.open(addressOf(tenant, `/s/${token()}`));

  expect(await shown.findings()).toEqual([]);
});

test(`a file request ${CHECKED.replace('%%', '%')}`, async () => {
  await shown.open(addressOf(tenant, `/s/${samples.link('upload')}`));
  const name = shown.page.getByLabel('Your name');
  // The page's own form takes the place of what the server sent.
  await shown.page.getByRole('button', { name: 'Show password' }).waitFor();
  await shown.page.getByLabel('Password', { exact: true }).fill(SAMPLE_PASSWORD);
  await shown.page.keyboard.press('Enter');
  await name.waitFor();

  expect(await shown.findings()).toEqual([]);
});

test('each section of the app has a route, or is looked at by its name', () => {
  const ofRoutes = new Set(ROUTES.map((path) => path.split('/')[1] ?? ''));
  const others = [...SECTIONS].filter((section) => !ofRoutes.has(section));

  // Signing in, resetting, and what nobody has built yet.
  expect([ROUTES.length > 20, others]).toEqual([true, ['account', 'reset', 'sign-in']]);
});

test.each([...ROUTES, '/account'])(`%s ${CHECKED}`, async (path) => {
  await openSignedIn(addressOfRoute(path, samples));

  expect(await shown.findings()).toEqual([]);
});

test(`the API reference with a request and its reply ${CHECKED.replace('%%', '%')}`, async () => {
  await openSignedIn('/api/v1/reference#createShare');
  const create = shown.page.locator('details#createShare');
  await create.getByText('Requests are sent as').waitFor();
  await create.getByLabel('id (path, required)').fill('no-file');
  await create.getByRole('button', { name: 'Send POST' }).click();
  await create.getByRole('region', { name: 'Body of the reply' }).getByText('validation_failed').waitFor();
  await shown.settled();

  expect(await shown.findings()).toEqual([]);
});

test.each(OVER_PAGES)(`%s ${CHECKED}`, async (_what, path, reach) => {
  await openSignedIn(path(samples));
  await reach(shown.page, samples, inEnglish);
  await shown.settled();
  const frames = shown.page.frames().filter((frame) => frame !== shown.page.mainFrame());

  expect(await shown.findings(frames)).toEqual([]);
});

test('a page that was spoilt is found to be so', async () => {
  await openSignedIn('/admin/links');
  await shown.page.evaluate(`(() => {
    const [heading, main, header] = ['h1', 'main', 'header'].map((name) => document.querySelector(name));
    document.documentElement.removeAttribute('lang');
    heading.style.color = '#777';
    heading.style.backgroundColor = '#888';
    main.style.overflowX = 'clip';
    heading.style.minWidth = '30rem';
    header.style.minWidth = '30rem';
    const spoilt = (parent, style) => {
      const button = parent.appendChild(document.createElement('button'));
      button.textContent = 'x';
      button.className = 'c-button';
      button.style.cssText = 'min-block-size: 0; block-size: 12px; inline-size: 12px; padding: 0; ' + style;
    };
    spoilt(main, '');
    spoilt(main, '');
    spoilt(header, 'position: fixed; inset-block-end: -3rem');
    const move = (element, name, style) => {
      element.style.animation = name;
      for (const [property, value] of Object.entries(style)) element.style.setProperty(property, value, 'important');
    };
    move(main, 'c-slide', { 'animation-duration': '1s', 'animation-iteration-count': 'infinite' });
    // It is over before a busy page learns of its start.
    move(heading, 'c-turn', { 'animation-duration': '200ms' });
    requestAnimationFrame(() =>
      setTimeout(() => {
        for (const free = performance.now() + 1000; performance.now() < free; );
      }),
    );
  })()`);

  const found = await shown.findings();

  expect(found.map((finding) => /^[^:]+(?:: (?:h1|button|[\w-]+(?=:|$)))?/.exec(finding)?.[0])).toEqual(
    expect.arrayContaining([
      'light: html-has-lang',
      'light: color-contrast',
      'dark: color-contrast',
      'light: target-size',
      'high contrast, light: color-contrast',
      'high contrast, dark: color-contrast',
      'scrolls sideways at 400 % zoom',
      'cut off at 400 % zoom: h1',
      'out of reach at 400 % zoom: button',
      'scrolls sideways on a phone',
      'moves although nobody wants that: c-slide',
      'moves although nobody wants that: c-turn',
    ]),
  );
});
