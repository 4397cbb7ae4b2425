import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { within } from '../../support/wait.ts';
import { addPerson, addressOf, type Credentials, firstAdministrator, openAs, type Person, signIn } from './app.ts';

/** How a session begins and ends while people work, and what the API reference does with it. */
const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
/** The browser of administrators. */
let other: TestBrowser;
let administrator: Credentials;
let grace: Person;

beforeAll(async () => {
  [tenant, browser, other] = await Promise.all([
    demoTenant(where, { limits: { requestsPerUserPerMinute: 2_000 } }),
    openBrowser('third-party blocked'),
    openBrowser('third-party blocked'),
  ]);
  administrator = await firstAdministrator(where, tenant);
  grace = await addPerson(tenant, 'Grace Okoro');
}, 180_000);

afterAll(async () => {
  await Promise.all([browser?.close(), other?.close()]);
});

const again = (page: Page) => page.getByRole('dialog', { name: 'Sign in again' });
const password = (page: Page) => again(page).getByLabel('Password', { exact: true });

test('a session that ends while somebody types takes nothing away: it is sent once they have signed in again', async () => {
  const page = await openAs(browser, tenant, grace);
  await page.getByRole('button', { name: 'New folder' }).click();
  const name = page.getByLabel('Name of the folder');
  // However slow this machine is: no time goes by between the letters.
  await page.evaluate('{ const at = performance.now(); performance.now = () => at; }');
  await page.keyboard.type('Field trips of the fi');
  const refused = page.waitForResponse((reply) => reply.url().endsWith('/auth/refresh') && reply.status() === 401);
  const api = await tenant.anonymous.login(grace.email, grace.password);
  await api.delete('/users/me/sessions');
  await refused;
  await page.keyboard.type('rst year');
  const meanwhile = [await name.inputValue(), await again(page).count()];

  await page.evaluate('delete performance.now');
  await password(page).fill('not the password');
  await page.keyboard.press('Enter');
  await again(page).getByRole('alert').getByText('E-mail address or password is wrong.').waitFor();
  await password(page).fill(grace.password);
  await page.keyboard.press('Enter');
  await again(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Create' }).click();

  await page.getByRole('link', { name: 'Field trips of the first year', exact: true }).waitFor();
  expect(meanwhile).toEqual(['Field trips of the first year', 0]);
});

test('without a connection the page says so and keeps what was typed, and goes on by itself when there is one', async () => {
  const page = await openAs(browser, tenant, grace);
  await page.getByRole('button', { name: 'New folder' }).click();
  await page.getByLabel('Name of the folder').fill('Away from the network');
  await page.context().setOffline(true);
  try {
    await page.locator('.connection-note').getByText('You are offline.').waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByText('The service cannot be reached.').waitFor();
  } finally {
    await page.context().setOffline(false);
  }
  await page.locator('.connection-note').waitFor({ state: 'detached' });
  const kept = await page.getByLabel('Name of the folder').inputValue();
  await page.getByRole('button', { name: 'Create' }).click();

  await page.getByRole('link', { name: 'Away from the network', exact: true }).waitFor();
  expect(kept).toBe('Away from the network');
});

test('the API reference opens from the menu of the account, and sends requests as whoever is signed in', async () => {
  const page = await openAs(browser, tenant, grace);
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'API reference' }).click();
  await page.waitForURL('**/api/v1/reference');
  const operation = page.locator('details#createFolder');
  await operation.locator('> summary').click();
  await operation.getByText('Requests are sent as Grace Okoro.').waitFor();
  await operation.getByLabel('Body (JSON)').fill('{"name":"Made by a program"}');
  await operation.getByRole('button', { name: 'Send POST' }).click();
  await operation.getByRole('region', { name: 'Reply', exact: true }).getByText('201', { exact: true }).waitFor();
  await page.goto(addressOf(tenant, '/files'));
  await page.getByRole('link', { name: 'Made by a program', exact: true }).waitFor();

  await page.context().clearCookies();
  await page.goto(addressOf(tenant, '/api/v1/reference#getCurrentUser'));
  const me = page.locator('details#getCurrentUser');
  await me.getByText('Nobody is signed in').waitFor();
  await me.getByRole('button', { name: 'Send GET' }).click();
  await me.getByRole('region', { name: 'Reply', exact: true }).getByText('401', { exact: true }).waitFor();
});

test('a link for a new password, from an administrator, works once and ends the sessions of the former one', async () => {
  const hers = await openAs(browser, tenant, await addPerson(tenant, 'Eva Prieto'));
  await hers.getByRole('button', { name: 'New folder' }).click();
  await hers.getByLabel('Name of the folder').fill('By the new password');
  const page = await openAs(other, tenant, administrator, '/admin/people');
  await page.getByRole('button', { name: 'Actions for Eva Prieto' }).click();
  await page.getByRole('menuitem', { name: 'Link to set a password' }).click();
  await page.getByRole('button', { name: 'Make link' }).click();
  const link = await page.getByLabel('Address to hand on').inputValue();
  const set = async (to: string): Promise<{ readonly tab: Page; readonly requestId: string | null }> => {
    const tab = await browser.page();
    await tab.goto(link);
    await tab.getByLabel('New password').fill(to);
    const [reply] = await Promise.all([
      tab.waitForResponse((one) => one.url().endsWith('/auth/password-reset')),
      tab.getByRole('button', { name: 'Set password' }).click(),
    ]);
    return { tab, requestId: await reply.headerValue('x-request-id') };
  };
  const { tab: first } = await set('five other unrelated words');
  await first.getByText('Your new password is set.').waitFor();
  const address = first.url();
  const { tab: second, requestId } = await set('once more by the same link');
  await second.getByRole('alert').getByText('This link no longer works').waitFor();
  await second.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(tenant.apiUrl).origin });
  await second.getByRole('button', { name: 'Copy request id' }).click();
  await second.locator('.c-request').getByRole('status').getByText('Copied').waitFor();
  const copied = await second.evaluate<string>('navigator.clipboard.readText()');

  // A page asks for changes, and finds out, while it is seen.
  await hers.bringToFront();
  await password(hers).fill('five other unrelated words');
  await hers.keyboard.press('Enter');
  await again(hers).waitFor({ state: 'detached' });
  await hers.getByRole('button', { name: 'Create' }).click();
  await hers.getByRole('link', { name: 'By the new password', exact: true }).waitFor();
  expect(address).toBe(addressOf(tenant, '/reset'));
  expect([requestId, copied]).toEqual([expect.stringMatching(/./), requestId]);
});

test('the colours that somebody chooses stay, ? lists the shortcuts, and signing out ends the session in all tabs', async () => {
  const dora = await addPerson(tenant, 'Dora Lima');
  const page = await openAs(browser, tenant, dora);
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitemradio', { name: 'High contrast' }).click();
  await page.reload();
  await page.getByRole('navigation', { name: 'Path' }).waitFor();
  const contrast = await page.evaluate('document.documentElement.dataset.contrast');
  await page.keyboard.press('?');
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await shortcuts.getByText('Rename').waitFor();
  await page.keyboard.press('Escape');
  await shortcuts.waitFor({ state: 'detached' });
  const tab = await browser.page();
  await tab.goto(addressOf(tenant, '/recent'));
  await tab.getByRole('heading', { name: 'Recent' }).waitFor();

  await page.bringToFront();
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await again(tab).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goto(addressOf(tenant, '/recent'));
  await signIn(page, dora);
  await page.getByRole('heading', { name: 'Recent' }).waitFor();
  await again(tab).waitFor({ state: 'detached' });

  expect(contrast).toBe('more');
});

test('while a server is slow the page says that it still waits, and shows the list once the server answers', async () => {
  const api = await tenant.anonymous.login(grace.email, grace.password);
  const { body: shelf } = await api.post('/folders', { name: 'Shelf' });
  await api.upload('/files', { name: 'atlas.txt', file: Buffer.from('atlas'), fields: { folder_id: shelf.id } });
  const page = await browser.page();
  await page.context().clearCookies();
  // For all tabs of this browser: this test is the last of the file.
  await page.clock.install();
  await page.goto(addressOf(tenant, '/files'));
  await signIn(page, grace);
  const folder = page.getByRole('link', { name: 'Shelf', exact: true });
  await folder.waitFor();
  const [held, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(`**/folders/${shelf.id}/children?*`, async (route) => {
    asked.resolve();
    await held.promise;
    await route.continue().catch(() => undefined); // the page may have asked anew
  });
  await folder.click();
  await within('the request for the list', asked.promise);
  await page.clock.fastForward(4_000);
  const note = page.locator('.slow-note');
  await note.getByText('The network or the server is slow; still waiting.').waitFor();
  const early = await page.getByRole('row', { name: 'atlas.txt' }).count();
  held.resolve();

  await page.getByRole('row', { name: 'atlas.txt' }).waitFor();
  await note.waitFor({ state: 'detached' });
  expect(early).toBe(0);
});
