import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { signIn } from './app-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

type Person = Awaited<ReturnType<typeof tenant.user>>;

async function personWith(...names: string[]): Promise<Person> {
  const person = await tenant.user();
  for (const name of names) await person.api.upload('/files', { name, file: Buffer.from(name) });
  return person;
}

/** A page on which they are signed in, and which never asks for others' changes: it shows what was done on it. */
async function pageOf(person: Person, path = '/'): Promise<Page> {
  const page = await browser.page();
  await page.context().clearCookies();
  await page.addInitScript(`{
    const { setInterval } = window;
    window.setInterval = (run, ms, ...rest) => setInterval(run, ms >= 4_000 ? 3_600_000 : ms, ...rest);
  }`);
  await page.goto(`${tenant.url}${path}`);
  await enter(page, person);
  return page;
}

async function enter(page: Page, { user, password }: Person): Promise<void> {
  await signIn(page, { email: user.email, password });
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
}

/** Holds back the requests for an address; returns the function that releases them. */
async function hold(page: Page, address: string): Promise<() => void> {
  let release = (): void => undefined;
  const gone = new Promise<void>((resolve) => (release = resolve));
  await page.route(address, async (route) => {
    await gone;
    await route.continue();
  });
  return release;
}

const row = (page: Page, name: string): Locator => page.getByRole('row', { name: new RegExp(name) });
/** A click beside a name selects its row. */
const select = (page: Page, name: string): Promise<void> =>
  row(page, name)
    .getByRole('gridcell')
    .last()
    .click({ position: { x: 2, y: 2 } });

test('a move goes on while its folder is opened, and shows there at once', async () => {
  const person = await personWith('one.txt');
  const { body: folder } = await person.api.post('/folders', { name: 'There' });
  const page = await pageOf(person);
  const begin = await hold(page, '**/api/v1/batch');
  await select(page, 'one.txt');
  await page.getByRole('toolbar').getByRole('button', { name: 'Move …' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'There' }).click();
  await page.getByText('There are no folders in here.').waitFor();
  await page.getByRole('button', { name: 'Move here' }).click();
  await row(page, 'one.txt').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'There', exact: true }).click();
  await page.getByText('This folder is empty').waitFor();
  begin();

  await row(page, 'one.txt').waitFor();
  await page.getByText('1 item moved').first().waitFor();
  expect(new URL(page.url()).pathname).toBe(`/files/${folder.id}`);
});

test('what was deleted on one page is taken back on another, and shows there at once', async () => {
  const page = await pageOf(await personWith('one.txt', 'two.txt'));
  await select(page, 'one.txt');
  await page.keyboard.press('Delete');
  await page.getByText('1 item moved to the trash').first().waitFor();
  await page.getByRole('link', { name: 'Recent' }).click();
  await row(page, 'two.txt').waitFor();
  const left = await row(page, 'one.txt').count();
  await page.getByRole('button', { name: 'Undo' }).click();
  await row(page, 'one.txt').waitFor();

  expect(left).toBe(0);
});

test('what can be undone and what was cut ends with the session of whoever did it', async () => {
  const [first, second] = [await personWith('one.txt', 'two.txt'), await personWith('three.txt')];
  const page = await pageOf(first);
  await select(page, 'one.txt');
  await page.keyboard.press('ControlOrMeta+x');
  await select(page, 'two.txt');
  await page.keyboard.press('Delete');
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  const toasts = await page.getByRole('region', { name: 'Notifications' }).getByRole('button').count();
  await enter(page, second);
  await row(page, 'three.txt').waitFor();
  await page.getByRole('button', { name: 'My files' }).click();
  await page.getByRole('menuitem', { name: 'New folder' }).waitFor();

  expect([toasts, await page.getByRole('menuitem', { name: 'Paste' }).count()]).toEqual([0, 0]);
});
