import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const UNREACHABLE = 'The service cannot be reached.';
const REPLACED = 'Load it again.';

/** A page of a person with one file, on which all is there that comes without being asked for, and nothing else is kept. */
async function pageWithFile(): Promise<Page> {
  const { user, api, password } = await tenant.user();
  await api.upload('/files', { name: 'one.txt', file: Buffer.from('one') });
  const page = await openSignedIn(browser, tenant, { email: user.email, password }, '/files');
  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  await page.getByRole('row', { name: /one\.txt/ }).waitFor();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.clearBrowserCache');
  await page.evaluate('window.isSameDocument = true');
  return page;
}

const isSameDocument = (page: Page): Promise<boolean> => page.evaluate('window.isSameDocument === true');

/** Does something while there is no connection. */
async function offline(page: Page, act: () => Promise<void>): Promise<void> {
  await page.context().setOffline(true);
  try {
    await act();
  } finally {
    await page.context().setOffline(false);
  }
}

/** Lets nothing through of these files, and no answer to whether the service is there; returns how to end that. */
async function cutOff(page: Page, assets: string): Promise<() => Promise<void>> {
  await page.route(assets, (route) => route.abort());
  await page.route(`${tenant.url}/`, (route) => (route.request().method() === 'HEAD' ? route.abort() : route.continue()));
  return async () => {
    await page.unroute(assets);
    await page.unroute(`${tenant.url}/`);
  };
}

const go = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();
const heading = (page: Page, name: string): Promise<void> => page.getByRole('heading', { name, level: 1 }).waitFor();
/** Waits for what is said in place of a page. */
async function failure(page: Page, text: string): Promise<void> {
  await heading(page, 'Something went wrong');
  await page.getByRole('main').getByRole('alert').getByText(text).waitFor();
}

test('without a connection a page that is not loaded yet says so in the shell, and comes once there is one', async () => {
  const page = await pageWithFile();
  await offline(page, async () => {
    await go(page, 'Jobs');
    await failure(page, UNREACHABLE);
    await page.getByRole('searchbox').or(page.getByRole('combobox')).first().waitFor();
    await page.getByRole('button', { name: /^Account/ }).waitFor();
  });
  await heading(page, 'Jobs');

  expect([await isSameDocument(page), await page.getByRole('main').getByRole('alert').count()]).toEqual([true, 0]);
  await page.close();
});

test('from a page that cannot be loaded one goes to another and back, and then it is asked for anew', async () => {
  const page = await pageWithFile();
  await offline(page, async () => {
    await go(page, 'Jobs');
    await failure(page, UNREACHABLE);
    await page.goBack();
    await heading(page, 'Files');
  });
  const end = await cutOff(page, '**/assets/jobs-page-*.js');
  await go(page, 'Jobs');
  await failure(page, UNREACHABLE);
  await go(page, 'Trash');
  await heading(page, 'Trash');
  await end();
  await page.goBack();
  await heading(page, 'Jobs');

  expect(await isSameDocument(page)).toBe(true);
  await page.close();
});

test.each([
  ['script', '**/assets/jobs-page-*.js'],
  ['part that pages share', '**/assets/job-row-*.js'],
  ['style', '**/assets/*.css'],
])('the button of a page whose %s could not be reached asks for it again', async (_, assets) => {
  const page = await pageWithFile();
  const end = await cutOff(page, assets);
  await go(page, 'Jobs');
  await failure(page, UNREACHABLE);
  await end();
  await page.getByRole('main').getByRole('button', { name: 'Try again' }).click();
  await heading(page, 'Jobs');
  const styles: boolean[] = await page.evaluate(
    `[...document.querySelectorAll('link[rel=stylesheet]')].map((link) => !!link.sheet)`,
  );

  expect([await isSameDocument(page), styles.length > 1, styles.every(Boolean)]).toEqual([true, true, true]);
  await page.close();
});

test('the button of a page whose script is gone loads the new build, and leaves nothing while no server answers', async () => {
  const page = await pageWithFile();
  await page.route('**/assets/jobs-page-*.js', (route) => route.fulfill({ status: 404 }));
  await go(page, 'Jobs');
  await failure(page, REPLACED);
  const retry = page.getByRole('main').getByRole('button', { name: 'Try again' });
  await offline(page, async () => {
    await retry.click();
    await page.getByRole('region', { name: 'Notifications' }).getByText(UNREACHABLE).waitFor();
    await failure(page, REPLACED);
  });
  const wasSame = await isSameDocument(page);
  await page.unroute('**/assets/jobs-page-*.js');
  await retry.click();
  await heading(page, 'Jobs');

  expect([wasSame, await isSameDocument(page)]).toEqual([true, false]);
  await page.close();
});

test('an error of one page leaves the shell, and the other pages, as they are', async () => {
  const page = await pageWithFile();
  await page.route('**/api/v1/jobs?*', (route) => route.fulfill({ json: { data: [null], pagination: { has_more: false } } }));
  await go(page, 'Jobs');
  await failure(page, REPLACED);
  await go(page, 'Trash');
  await heading(page, 'Trash');
  const [mains, isSame] = [await page.locator('main').count(), await isSameDocument(page)];
  await page.unroute('**/api/v1/jobs?*');
  await go(page, 'Jobs');
  await heading(page, 'Jobs');

  expect([mains, isSame, await isSameDocument(page)]).toEqual([1, true, true]);
  await page.close();
});

test('uploads that could not be reached when the page was opened come by themselves once there is a connection', async () => {
  const page = await pageWithFile();
  const end = await cutOff(page, '**/assets/uploads-*.js');
  await page.reload();
  await page.getByRole('region', { name: 'Notifications' }).getByText(UNREACHABLE).waitFor();
  await page.evaluate('window.isSameDocument = true');
  await end();
  await offline(page, () => page.getByText('You are offline.').first().waitFor());
  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  await waitFor('the notification to go', async () => (await page.getByText(UNREACHABLE).count()) === 0);

  expect(await isSameDocument(page)).toBe(true);
  await page.close();
});

test.each([
  [
    'Share',
    'Share “one.txt”',
    async (page: Page) => {
      await page.getByRole('button', { name: 'Actions of one.txt' }).click();
      await page.getByRole('menuitem', { name: 'Share …' }).click();
    },
  ],
  ['the preview', 'one.txt', (page: Page) => page.getByRole('button', { name: 'one.txt', exact: true }).click()],
  [
    'Move',
    /Move/,
    async (page: Page) => {
      await page.getByRole('button', { name: 'Actions of one.txt' }).click();
      await page.getByRole('menuitem', { name: 'Move …' }).click();
    },
  ],
] as const)('%s says without a connection that there is none, and opens once there is one', async (_, name, open) => {
  const page = await pageWithFile();
  const toasts = page.getByRole('region', { name: 'Notifications' });
  await offline(page, async () => {
    await open(page);
    await toasts.getByText(UNREACHABLE).waitFor();
  });
  await waitFor('the address of the list', () => !page.url().includes('preview'));
  await open(page);
  await page.getByRole('dialog', { name }).waitFor();

  expect(await toasts.getByText(REPLACED).count()).toBe(0);
  await page.close();
});

test('Share says to load the page again if its script is gone', async () => {
  const page = await pageWithFile();
  await page.route('**/assets/share-dialog-*.js', (route) => route.fulfill({ status: 404 }));
  await page.getByRole('button', { name: 'Actions of one.txt' }).click();
  await page.getByRole('menuitem', { name: 'Share …' }).click();

  await page.getByRole('region', { name: 'Notifications' }).getByText(REPLACED).waitFor();
  await page.close();
});

test('cards that are chosen without a connection are shown once there is one', async () => {
  const page = await pageWithFile();
  await offline(page, async () => {
    await page.getByRole('button', { name: 'Pictures' }).click();
    await page.getByRole('region', { name: 'Notifications' }).getByText(UNREACHABLE).waitFor();
  });
  await page.locator('.files-card').first().waitFor();
  await page.evaluate('localStorage.clear()');

  expect(await isSameDocument(page)).toBe(true);
  await page.close();
});
