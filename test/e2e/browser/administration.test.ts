import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { verifiesStandard } from '../../../pkg/local/demo/standard-webhooks.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { type Receiver, startReceiver } from '../../support/fakes/receiver.ts';
import { LmsFrames } from '../../support/lms/frames.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { type DemoTenant, demoTenant, type TenantObject } from '../../support/programs/demo-tenant.ts';
import { getJson, kubectlOk, platform, shellOk } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { addPerson, addressOf, type Credentials, firstAdministrator, openAs, signIn } from './app.ts';

/** What an administrator does in the pages, from the first sign-in on. */
const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
let lms: Lms;
let receiver: Receiver;
let administrator: Credentials;

beforeAll(async () => {
  [tenant, browser, lms, receiver] = await Promise.all([
    demoTenant(where, { limits: { requestsPerUserPerMinute: 2_000 } }),
    openBrowser('third-party blocked'),
    Lms.start(),
    startReceiver(),
  ]);
  administrator = await firstAdministrator(where, tenant);
}, 180_000);

afterAll(async () => {
  await Promise.all([browser?.close(), lms?.stop(), receiver?.close()]);
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

test('a webhook shows its secret once and signs with it; its delivery is seen, and is sent again with its id', async () => {
  const page = await openAs(browser, tenant, administrator, '/admin/webhooks');
  await page.getByRole('button', { name: 'Add webhook' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add webhook' });
  await form.getByLabel('Address').fill(receiver.url);
  await form.getByLabel('What it is for').fill('Catalogue');
  await form.getByRole('button', { name: 'Add webhook' }).click();
  const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('heading', { name: 'Catalogue' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Catalogue' }).waitFor();
  expect(await page.content()).not.toContain(secret);

  await tenant.admin.upload('/files', { name: 'news.txt', file: Buffer.from('news') });
  await row(page, /file\.created Delivered/).waitFor();
  await page.getByRole('button', { name: 'file.created' }).click();
  const delivery = page.getByRole('dialog', { name: 'Delivery of file.created' });
  await delivery.getByText('Answered 204').waitFor();
  await delivery.getByText('"name": "news.txt"').waitFor();
  await delivery.getByRole('button', { name: 'Deliver again' }).click();
  await waitFor('the second delivery', async () => (await row(page, /file\.created Delivered/).count()) === 2);

  const [first, second] = receiver.received;
  expect([first, second].map((one) => one && verifiesStandard(one, secret))).toEqual([true, true]);
  expect([receiver.received.length, second?.id]).toEqual([2, first?.id]);
});

test('a schedule is made with its next runs in sight, is run now, and leads to its job', async () => {
  const page = await openAs(browser, tenant, administrator, '/admin/schedules');
  await page.getByRole('button', { name: 'Add schedule' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add schedule' });
  await form.getByLabel('Name').fill('Old trash');
  await form.getByLabel('How often').selectOption('Every week');
  await form.getByLabel('Day of the week').selectOption('Friday');
  await form.getByLabel('Time', { exact: true }).fill('04:30');
  await form.getByLabel('Time zone').selectOption('Asia/Tokyo');
  await waitFor('five Fridays', async () => {
    const runs = await form.getByRole('region', { name: 'The next runs' }).getByRole('listitem').allInnerTexts();
    return runs.length === 5 && runs.every((text) => /^Friday.*0?4:30/.test(text));
  });
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Old trash' }).click();
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText('“Old trash” has begun.').first().waitFor();
  await page.getByRole('button', { name: 'Show job' }).click();

  await page.getByRole('heading', { name: /Empty the trash/ }).waitFor();
  await page.getByText('Done', { exact: true }).first().waitFor();
  const [schedule] = (await tenant.admin.get('/schedules')).body.data;
  expect((await tenant.admin.get(`/schedules/${schedule.id}/runs`)).body.data.length).toBe(1);
});

test('a new secret of a webhook is shown once; calls are signed by the former one too, unless that has leaked', async () => {
  const calls = await startReceiver();
  try {
    const webhook = { url: calls.url, events: ['user.updated'], description: 'Directory' };
    const { id, secret: first } = (await tenant.admin.post('/webhooks', webhook)).body;
    const page = await openAs(browser, tenant, administrator, `/admin/webhooks/${id}`);
    const rotate = async (former: string): Promise<string> => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'New secret …' }).click();
      const form = page.getByRole('dialog', { name: 'Make a new secret?' });
      await form.getByRole('radio', { name: former }).check();
      await form.getByRole('button', { name: 'Make secret' }).click();
      const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue();
      await page.getByRole('button', { name: 'Done' }).click();
      return secret;
    };
    const signedBy = async (...secrets: readonly string[]): Promise<boolean[]> => {
      const before = calls.received.length;
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send test' }).click();
      const call = await waitFor('the call', async () => calls.received[before]);
      return secrets.map((secret) => verifiesStandard(call, secret));
    };
    const second = await rotate('24 hours');
    await page.getByText('The former secret also signs until').waitFor();
    const overlapping = await signedBy(first, second);
    await page.reload();
    await page.getByRole('heading', { name: 'Directory' }).waitFor();
    const shownAgain = (await page.content()).includes(second);
    const third = await rotate('Not at all: it has leaked');
    await page.getByText('The former secret also signs until').waitFor({ state: 'detached' });

    expect([overlapping, shownAgain]).toEqual([[true, true], false]);
    expect(await signedBy(first, second, third)).toEqual([false, false, true]);
    await tenant.admin.delete(`/webhooks/${id}`);
  } finally {
    await calls.close();
  }
});

test('a schedule that changes files is tried before it is saved; then a run does what the trial showed', async () => {
  const { body: folder } = await tenant.admin.post('/folders', { name: 'Inbox' });
  for (const name of ['old draft.txt', 'draft.txt', 'final.txt'])
    await tenant.admin.upload('/files', { name, file: Buffer.from('text'), fields: { folder_id: folder.id } });
  const names = async (): Promise<string[]> =>
    (await tenant.admin.get(`/folders/${folder.id}/children`)).body.data.map(({ name }: { name: string }) => name).toSorted();
  const page = await openAs(browser, tenant, administrator, '/admin/schedules');
  await page.getByRole('button', { name: 'Add schedule' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add schedule' });
  await form.getByLabel('Name', { exact: true }).fill('Old drafts');
  await form.getByLabel('What it does').selectOption('Change many files');
  await form.getByRole('button', { name: 'Choose folder …' }).click();
  const chooser = page.getByRole('dialog', { name: 'Choose a folder' });
  await chooser.getByRole('button', { name: 'Inbox' }).click();
  await chooser.getByRole('button', { name: 'Choose this folder' }).click();
  await form.getByLabel('Part of the name (optional)').fill('draft');
  await form.getByRole('button', { name: 'Show what it would do' }).click();
  const trial = form.getByRole('region', { name: 'If it ran now' });
  await trial.getByText('2 files match.').waitFor();
  const found = await trial.getByRole('listitem').allInnerTexts();
  const tried = await names();
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Old drafts' }).click();
  await page.getByText('It has not run yet.').waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();

  await waitFor('the run to delete the drafts', async () => (await names()).length === 1);
  expect([found.toSorted(), tried]).toEqual([
    ['draft.txt', 'old draft.txt'],
    ['draft.txt', 'final.txt', 'old draft.txt'],
  ]);
  expect(await names()).toEqual(['final.txt']);
});

test('a webhook whose receiver does not answer is shown as failing; each attempt is listed until one arrives', async () => {
  const made = async (url: string): Promise<string> =>
    (await tenant.admin.post('/webhooks', { url, events: ['user.updated'] })).body.id;
  const page = await openAs(browser, tenant, administrator);
  const sendTest = async (id: string): Promise<void> => {
    await page.goto(addressOf(tenant, `/admin/webhooks/${id}`));
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send test' }).click();
  };
  // Nobody listens there: the next attempts fail too.
  await sendTest(await made('http://127.0.0.1:9/hook'));
  await row(page, /user\.updated Waiting \d no answer/).waitFor();
  await page.getByText('Failing', { exact: true }).waitFor();

  receiver.answer({ status: 503 }, 1);
  await sendTest(await made(receiver.url));
  await row(page, /user\.updated Delivered 2 204/).waitFor();
  await page.getByText('Healthy', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'user.updated', exact: true }).click();
  const delivery = page.getByRole('dialog', { name: 'Delivery of user.updated' });
  await delivery.getByText('Answered 204').waitFor();

  expect(await delivery.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringContaining('Answered 503'),
    expect.stringContaining('Answered 204'),
  ]);
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

test('the usage is plotted by person, type and time, and each plot is a table too', async () => {
  await tenant.admin.upload('/files', { name: 'counted.txt', file: Buffer.alloc(2_048, 'a') });
  const { body: webhook } = await tenant.admin.post('/webhooks', { url: receiver.url, events: ['user.created'] });
  await tenant.admin.post(`/webhooks/${webhook.id}/test`, {});
  await waitFor('a call to be counted', async () => {
    const { data } = (await tenant.admin.get(`/webhooks/${webhook.id}/deliveries`)).body;
    return data[0]?.status === 'delivered';
  });
  const page = await openAs(browser, tenant, administrator, '/admin/usage');
  await page.getByRole('table', { name: 'Who stores most' }).getByRole('row').nth(1).waitFor();
  await page.getByRole('table', { name: 'By type' }).getByRole('row', { name: /^Text/ }).waitFor();
  for (const name of [
    'Uploaded and still stored, by month',
    'Activity in the last 30 days',
    'Calls of webhooks in the last 7 days',
  ]) {
    await page.getByRole('img', { name }).waitFor();
    await page.getByRole('figure').filter({ hasText: name }).getByText('Show as a table').click();
    await page.getByRole('region', { name }).getByRole('row').last().waitFor();
  }
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

test('an LMS registers itself at the address that the administrator made, once', async () => {
  const page = await openAs(browser, tenant, administrator, '/admin/lms');
  await page.getByRole('button', { name: 'Connect an LMS' }).click();
  await page.getByLabel('What people call this LMS').fill('Moodle of the faculty');
  await page.getByRole('button', { name: 'Make address' }).click();
  const address = await page.getByLabel('Address for the LMS').inputValue();
  await page.getByRole('button', { name: 'Done' }).click();
  const desk = new RegistrationDesk(lms, FACES.moodle);
  const other = await browser.page();
  await other.goto(new LmsFrames(lms).url('Tools', desk.open(address)));
  const tool = other.frameLocator('iframe[name=tool]');
  await tool.getByRole('button', { name: 'Register' }).click();
  await tool.getByRole('button', { name: 'Back to the LMS' }).waitFor();

  await waitFor('the LMS in the list', async () => {
    await page.reload();
    await page.getByRole('heading', { name: 'LMSs' }).waitFor();
    await page.getByRole('main').locator('.c-skeleton').first().waitFor({ state: 'detached' });
    return (await page.getByRole('link', { name: 'Moodle of the faculty' }).count()) === 1;
  });
  await page.getByRole('link', { name: 'Moodle of the faculty' }).click();
  await page.getByText('Nobody has launched yet.').waitFor();
  await other.goto(new LmsFrames(lms).url('Tools', desk.open(address)));
  await tool.getByRole('heading').first().waitFor();

  expect([desk.tools.length, await tool.getByRole('button', { name: 'Register' }).count()]).toEqual([1, 0]);
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
