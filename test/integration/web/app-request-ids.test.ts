import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { INSTRUCTOR } from '../../../pkg/local/demo/lms/claims.ts';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { Browser, follow } from '../../support/lms/browser.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { NARROW, openSignedIn } from './app-pages.ts';

const { tenant, at } = lmsSuite();
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

type Person = Awaited<ReturnType<typeof tenant.user>>;

const pageOf = ({ user, password }: Person, path?: string): Promise<Page> =>
  openSignedIn(browser, tenant, { email: user.email, password }, path);
const copyButton = (within: Page | Locator): Locator => within.getByRole('button', { name: 'Copy request id' });

/** Does something, and returns the id that the reply with this status has. */
async function requestOf(page: Page, status: number, act: () => Promise<unknown>): Promise<string> {
  const [reply] = await Promise.all([page.waitForResponse((one) => one.status() === status), act()]);
  return (await reply.headerValue('x-request-id')) ?? 'none';
}

/** Copies the shown id by keyboard; returns it with what the page says then, and what the browser would paste. */
async function copied(page: Page, within: Page | Locator = page): Promise<unknown[]> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: tenant.url });
  await copyButton(within).focus();
  await page.keyboard.press('Enter');
  const said = within.locator('.c-request').getByRole('status').filter({ hasText: 'Copied' });
  await said.waitFor();
  const shown = await within.locator('.c-request code').textContent();
  return [shown, await page.evaluate('navigator.clipboard.readText()'), await hasFocus(page, copyButton(within))];
}

const hasFocus = async (page: Page, button: Locator): Promise<boolean> =>
  (await button.and(page.locator(':focus')).count()) === 1;

test('a page that fails to load shows the id of the request, which is copied by keyboard and said to be', async () => {
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/files');
  const missing = '/admin/groups/7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11';
  const id = await requestOf(page, 404, () =>
    page.evaluate(`history.pushState(null, '', '${missing}'); dispatchEvent(new PopStateEvent('popstate'))`),
  );
  await page.getByRole('alert').getByText('This does not exist any more').waitFor();

  expect(await copied(page)).toEqual([id, id, true]);
});

test('where the browser lets nobody copy, the id is selected, and the page says how to go on', async () => {
  const page = await browser.page();
  await page.addInitScript(`Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined })`);
  await page.context().clearCookies();
  await page.goto(tenant.url);
  await page.getByLabel('E-mail address').fill('nobody@example.org');
  await page.getByLabel('Password', { exact: true }).fill('wrong');
  const id = await requestOf(page, 401, () => page.keyboard.press('Enter'));
  await copyButton(page).click();
  await page.getByRole('status').getByText('Selected: press Ctrl+C').waitFor();

  expect(await page.evaluate('String(getSelection())')).toBe(id);
});

test('a toast of a failure shows the id of its request', async () => {
  const person = await tenant.user();
  const { body: file } = await person.api.upload('/files', { name: 'plan.txt', file: Buffer.from('plan') });
  const { body: link } = await person.api.post(`/files/${file.id}/share`, {});
  const page = await pageOf(person, '/links');
  await page.getByRole('button', { name: 'Actions of the link of plan.txt' }).click();
  await person.api.delete(`/shares/${link.id}`);
  const id = await requestOf(page, 404, () => page.getByRole('menuitem', { name: 'Switch off' }).click());
  const toasts = page.getByRole('region', { name: 'Notifications' });
  await toasts.getByText('This does not exist any more').waitFor();

  expect(await copied(page, toasts)).toEqual([id, id, true]);
});

test('a name that is refused at its field has the id of the request there', async () => {
  await tenant.admin.post('/groups', { name: 'Taken name' });
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/admin/groups');
  await page.getByRole('button', { name: 'Add group' }).click();
  const form = page.getByRole('dialog', { name: 'Add group' });
  await form.getByLabel('Name').fill('Taken name');
  const id = await requestOf(page, 409, () => page.keyboard.press('Enter'));
  await form.getByText('Another group has this name.').waitFor();

  expect(await copied(page, form)).toEqual([id, id, true]);
  // What describes the field is the reason alone.
  const described = await page.evaluate(
    `document.getElementById(document.querySelector('input[aria-invalid]').getAttribute('aria-describedby')).textContent`,
  );
  expect(described).toBe('Another group has this name.');
});

test('a name that is refused in its row has the id of the request, which is reached with Tab', async () => {
  const person = await tenant.user();
  for (const name of ['essay.txt', 'other.txt']) await person.api.upload('/files', { name, file: Buffer.from(name) });
  const page = await pageOf(person);
  await page.getByRole('button', { name: 'Actions of essay.txt' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.keyboard.type('other');
  const id = await requestOf(page, 409, () => page.keyboard.press('Enter'));
  await copyButton(page).waitFor();
  await page.keyboard.press('Tab');
  await waitFor('the focus to be on the button', () => hasFocus(page, copyButton(page)));
  const said = await copied(page);
  await page.keyboard.press('Escape');
  await copyButton(page).waitFor({ state: 'detached' });

  expect(said).toEqual([id, id, true]);
});

test('the row of an upload that failed has a button that copies the id of its request', async () => {
  const [owner, sender] = [await tenant.user(), await tenant.user()];
  const { body: folder } = await owner.api.post('/folders', { name: 'Inbox' });
  const grants = `/folders/${folder.id}/permissions`;
  const { body: grant } = await owner.api.post(grants, { user_id: sender.user.id, permission_level: 'write' });
  const page = await pageOf(sender, `/files/${folder.id}`);
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.evaluate('window.showOpenFilePicker = undefined');
  await owner.api.delete(`${grants}/${grant.id}`);
  await owner.api.post(grants, { user_id: sender.user.id, permission_level: 'read' });
  const refused: (string | null)[] = [];
  page.on('response', (reply) => {
    if (reply.status() === 403) void reply.headerValue('x-request-id').then((id) => refused.push(id));
  });
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('menuitem', { name: 'Upload files' }).click();
  await (await choosing).setFiles([{ name: 'essay.txt', mimeType: 'text/plain', buffer: Buffer.from('essay') }]);
  const button = page.getByRole('region', { name: 'Uploads' }).getByRole('button', { name: /^Copy request id: / });
  await button.waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: tenant.url });
  await button.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Copied').waitFor();

  expect(refused).toContain(await page.evaluate('navigator.clipboard.readText()'));
});

test('the page of a link shows the id of a request that failed', async () => {
  const person = await tenant.user();
  const { body: folder } = await person.api.post('/folders', { name: 'Handouts' });
  const { body: file } = await person.api.upload('/files', {
    name: 'week 1.txt',
    file: Buffer.from('a'),
    fields: { folder_id: folder.id },
  });
  const { body: link } = await person.api.post(`/folders/${folder.id}/share`, {});
  const page = await browser.page();
  await page.goto(link.url);
  await page.getByRole('link', { name: 'week 1.txt' }).waitFor();
  await person.api.delete(`/files/${file.id}`);
  const id = await requestOf(page, 404, () => page.getByRole('link', { name: 'week 1.txt' }).click());
  await page.getByRole('alert').getByText('This does not exist any more').waitFor();

  expect(await copied(page)).toEqual([id, id, true]);
});

test('the page of a launch shows the id of a request that failed', async () => {
  const course = { id: 'req-1', title: 'Requests' };
  const { headers } = await follow(new Browser(), at.lms.open(at.clientId, { roles: [INSTRUCTOR], course }));
  const entry = String(headers.location);
  const api = tenant.anonymous.as(new URL(entry).searchParams.get('token') ?? '');
  const [{ id: group }] = (await api.get('/folders', { query: { q: 'Requests' } })).body.data;
  const { body: file } = await api.upload('/files', { name: 'notes.txt', file: Buffer.from('a'), fields: { folder_id: group } });
  const page = await browser.page();
  await page.goto(entry);
  const download = page.getByRole('button', { name: 'Download notes.txt' });
  await download.waitFor();
  await api.delete(`/files/${file.id}`);
  const id = await requestOf(page, 404, () => download.click());
  await page.getByRole('alert').waitFor();

  expect(await copied(page)).toEqual([id, id, true]);
});

test('a failure without a reply has no id, and nothing to copy', async () => {
  const page = await pageOf(await tenant.user());
  await page.getByRole('button', { name: 'New folder' }).click();
  await page.getByLabel('Name of the folder').fill('Away');
  await page.context().setOffline(true);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('The service cannot be reached.').waitFor();
  const count = await copyButton(page).count();
  await page.context().setOffline(false);

  expect(count).toBe(0);
});

test('axe finds nothing on a refused form in light and dark, and at 400 % zoom nothing is cut off', async () => {
  await tenant.admin.post('/groups', { name: 'Taken too' });
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/admin/groups');
  await page.getByRole('button', { name: 'Add group' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Taken too');
  await page.keyboard.press('Enter');
  await copyButton(page).click();
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});
