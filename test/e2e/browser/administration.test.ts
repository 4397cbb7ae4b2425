import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { type Receiver, startReceiver } from '../../support/fakes/receiver.ts';
import { type DemoTenant, demoTenant, type TenantObject } from '../../support/programs/demo-tenant.ts';
import { getJson, kubectlOk, platform, shellOk } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { addPerson, type Credentials, firstAdministrator, openAs, signIn } from './app.ts';

/** What an administrator does in the pages for people, from the first sign-in on, and for the institution. */
const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
let receiver: Receiver;
let administrator: Credentials;

beforeAll(async () => {
  [tenant, browser, receiver] = await Promise.all([
    demoTenant(where, { limits: { requestsPerUserPerMinute: 2_000 } }),
    openBrowser('third-party blocked'),
    startReceiver(),
  ]);
  administrator = await firstAdministrator(where, tenant);
}, 180_000);

afterAll(async () => {
  await Promise.all([browser?.close(), receiver?.close()]);
});

const row = (page: Page, name: RegExp): Locator => page.getByRole('row', { name });
const GRACE = { email: 'grace@example.org', password: 'four unrelated words make one' };

/** Adds a person and returns the address at which they set their password. */
async function addGrace(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Add person' }).click();
  const form = page.getByRole('dialog', { name: 'Add person' });
  await form.getByLabel('E-mail address').fill(GRACE.email);
  await form.getByLabel('User name').fill('grace');
  await form.getByLabel('Name that others see').fill('Grace Okoro');
  await form.getByRole('button', { name: 'Add person' }).click();
  await page.getByRole('button', { name: 'Make link' }).click();
  const address = await page.getByLabel('Address to hand on').inputValue();
  await page.getByRole('button', { name: 'Done' }).click();
  return address;
}

test('the first administrator is welcomed, adds a person, and puts them into a group that opens a folder', async () => {
  const page = await openAs(browser, tenant, administrator, '/');
  await page.getByRole('heading', { name: /^Welcome to/ }).waitFor();
  await page.getByRole('link', { name: 'Add people' }).click();
  const address = await addGrace(page);
  await page.getByRole('link', { name: 'Groups' }).click();
  await page.getByRole('button', { name: 'Add group' }).click();
  await page.getByRole('dialog', { name: 'Add group' }).getByLabel('Name').fill('Reading circle');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Reading circle' }).waitFor();
  await page.getByRole('combobox', { name: 'Add a person' }).fill('grace');
  await page.getByRole('option', { name: 'Grace Okoro' }).click();
  await page.getByRole('button', { name: 'Remove Grace Okoro' }).waitFor();
  const { body: folder } = await tenant.admin.post('/folders', { name: 'Texts for the circle' });
  const [group] = (await tenant.admin.get('/groups')).body.data;
  await tenant.admin.post(`/folders/${folder.id}/permissions`, { group_id: group.id, permission_level: 'read' });

  await page.context().clearCookies();
  await page.goto(address);
  await page.getByLabel('New password').fill(GRACE.password);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await signIn(page, GRACE);
  await page.getByRole('link', { name: 'Shared with me' }).click();
  await row(page, /Texts for the circle/).waitFor();

  expect(await page.getByRole('link', { name: 'Administration' }).count()).toBe(0);
});

test('a person gets another quota, is kept out, and is deleted, and somebody else gets their files', async () => {
  const [ida, heir] = [await addPerson(tenant, 'Ida Novak'), await addPerson(tenant, 'Jan Kowalski')];
  const hers = await tenant.anonymous.login(ida.email, ida.password);
  await hers.upload('/files', { name: 'thesis.txt', file: Buffer.from('thesis') });
  const page = await openAs(browser, tenant, administrator, '/admin/people');
  await page.getByRole('searchbox', { name: 'Search by name or e-mail address' }).fill('ida');
  await page.getByRole('link', { name: 'Ida Novak' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByLabel('Unit').selectOption('GB');
  await page.getByLabel('Storage they may use').fill('2.5');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('of 2.5 GB').first().waitFor();
  const choose = async (command: string): Promise<void> => {
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: command, exact: true }).click();
  };
  await choose('Deactivate');
  await page.getByText('Inactive', { exact: true }).waitFor();
  const signedIn = await tenant.anonymous.post('/auth/login', { email: ida.email, password: ida.password });
  await choose('Delete');
  const dialog = page.getByRole('alertdialog', { name: 'Delete Ida Novak?' });
  await dialog.getByText('They have 1 file').waitFor();
  await dialog.getByRole('combobox').fill('jan');
  await page.getByRole('option', { name: 'Jan Kowalski' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Ida Novak is deleted.').first().waitFor();

  const { data } = (await (await tenant.anonymous.login(heir.email, heir.password)).get('/files')).body;
  expect([signedIn.status, data.map(({ name }: { name: string }) => name)]).toEqual([401, ['thesis.txt']]);
});

test('the audit log shows what one person did, and saves it as a table', async () => {
  const theirs = await tenant.anonymous.login(GRACE.email, GRACE.password);
  await theirs.post('/folders', { name: 'Drafts' });
  const page = await openAs(browser, tenant, administrator, '/admin/audit');
  await page.getByRole('combobox', { name: 'Who' }).fill('grace');
  await page.getByRole('option', { name: 'Grace Okoro' }).click();
  await page.getByLabel('What').selectOption('Made a folder');
  await waitFor('one entry', async () => (await page.getByRole('main').locator('summary').count()) === 1);
  await page.getByRole('button', { name: 'Export' }).click();
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: /CSV/ }).click()]);

  const lines = (await readFile(await saved.path(), 'utf8')).trimEnd().split('\r\n');
  expect([lines.length, lines[1]]).toEqual([2, expect.stringContaining(',folder.create,folder,')]);
});

test('a rule for links counts at once: a link without a password stops working', async () => {
  const { body: file } = await tenant.admin.upload('/files', { name: 'open.txt', file: Buffer.from('open') });
  const { body: link } = await tenant.admin.post(`/files/${file.id}/share`, {});
  const page = await openAs(browser, tenant, administrator, '/admin/links');
  const stranger = await browser.page();
  await stranger.goto(link.url);
  await stranger.getByRole('heading', { name: 'open.txt' }).waitFor();

  await page.getByRole('checkbox', { name: 'Each link needs a password' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The rules are saved.').first().waitFor();
  await stranger.reload();
  await stranger.getByRole('heading', { name: 'This link does not work' }).waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Links' }).click();
  await page.getByText('Links need a password here: give it one.').waitFor();

  expect((await tenant.admin.get('/settings')).body.share_links).toMatchObject({ password_required: true });
});

test('the settings of the institution say what the Tenant says, and their lines for a shell change it', async () => {
  const displayName = `Queen's “Hall”`;
  const resource = ['tenant', tenant.name, '-n', tenant.namespace];
  const specified = () => getJson<TenantObject & { readonly spec: object }>(where, ...resource);
  await kubectlOk(where, ['patch', ...resource, '--type', 'merge', '-p', JSON.stringify({ spec: { displayName } })]);
  const page = await openAs(browser, tenant, administrator, '/admin/tenant');
  const setting = (label: string): Locator =>
    page.locator('.tenant-setting').filter({ has: page.getByRole('term').filter({ hasText: new RegExp(`^${label}$`) }) });
  const says = (label: string, text: string): Promise<unknown> =>
    waitFor(`“${label}” to be ${text}`, async () => {
      await page.reload();
      await page.getByRole('heading', { name: 'Limits' }).waitFor();
      return (await setting(label).getByRole('definition').innerText()).includes(text);
    });
  const lineOf = async (label: string): Promise<string> => {
    await setting(label).locator('summary').click();
    return setting(label).locator('code').innerText();
  };

  await says('Name', displayName);
  const before = await specified();
  for (const label of ['Name', 'Database', 'Requests of one person', 'Trash', 'Versions of a file'])
    await shellOk(where, await lineOf(label));
  const same = await specified();
  await shellOk(where, (await lineOf('Storage of all people together')).replace('100Gi', '3Gi'));
  await says('Storage of all people together', 'of 3 GB');
  await shellOk(where, (await lineOf('Trash')).replace('30d', '36h'));
  await says('Trash', '36 hours');
  const after = await specified();
  const shown = await shellOk(where, await page.locator('code').last().innerText());

  expect(same.metadata.generation).toBe(before.metadata.generation);
  expect(after.spec).toMatchObject({ displayName, trashRetention: '36h', limits: { storage: '3Gi' } });
  expect(shown).toContain('trashRetention: 36h');
});

const PLOTS = [
  'Uploaded and still stored, by month',
  'Activity in the last 30 days',
  'Requests in the last 30 days',
  'Calls of webhooks in the last 7 days',
];

/** Says of each plot whether its table has a value above 0 in its last row, or in that before it: a day may just have ended. */
const haveValues = (page: Page): Promise<boolean[]> =>
  Promise.all(
    PLOTS.map(async (name) => {
      const rows = (await page.getByRole('figure', { name }).locator('tbody tr').all()).slice(-2);
      const cells = await Promise.all(rows.map((each) => each.locator('td').allTextContents()));
      return cells.flat().some((text) => /[1-9]/.test(text));
    }),
  );

test('the usage is plotted by person, type and time, and each plot is a table too', async () => {
  await tenant.admin.upload('/files', { name: 'counted.txt', file: Buffer.alloc(2_048, 'a') });
  const { body: webhook } = await tenant.admin.post('/webhooks', { url: receiver.url, events: ['user.created'] });
  await tenant.admin.post(`/webhooks/${webhook.id}/test`, {});
  await waitFor('a call to be counted', async () => {
    const { data } = (await tenant.admin.get(`/webhooks/${webhook.id}/deliveries`)).body;
    return data[0]?.status === 'delivered';
  });
  const { body: me } = await tenant.admin.get('/users/me');
  const page = await openAs(browser, tenant, administrator, '/admin/usage');
  let looks = 0;
  // Servers add what they have counted once a minute.
  await waitFor('a value in the table of each plot', async () => {
    // The reply is cached for 5 minutes, or until something of its reader changes.
    await tenant.admin.patch(`/users/${me.id}`, { display_name: `Look ${(looks += 1)}` });
    await page.reload();
    await page.getByRole('figure').first().waitFor();
    return (await haveValues(page)).every((hasValue) => hasValue);
  });
  await page.getByRole('table', { name: 'Who stores most' }).getByRole('row').nth(1).waitFor();
  await page.getByRole('table', { name: 'By type' }).getByRole('row', { name: /^Text/ }).waitFor();
  for (const name of PLOTS) {
    await page.getByRole('img', { name }).waitFor();
    await page.getByRole('figure').filter({ hasText: name }).getByText('Show as a table').click();
    await page.getByRole('region', { name }).getByRole('row').last().waitFor();
  }
});
