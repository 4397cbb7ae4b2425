import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { encode } from 'uqr';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import {
  addPerson,
  addressOf,
  type Credentials,
  firstAdministrator,
  openAs,
  openShare,
  type Person,
  saved,
  select,
} from './app.ts';

/** Who gives access to what, and what others see of it. Whoever shares has one browser, and everybody else another. */
const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
let others: TestBrowser;
let administrator: Credentials;
let grace: Person;
let hiro: Person;

beforeAll(async () => {
  [tenant, browser, others] = await Promise.all([
    demoTenant(where, { limits: { requestsPerUserPerMinute: 2_000 } }),
    openBrowser('third-party blocked'),
    openBrowser('third-party blocked'),
  ]);
  administrator = await firstAdministrator(where, tenant);
  [grace, hiro] = await Promise.all([addPerson(tenant, 'Grace Okoro'), addPerson(tenant, 'Hiro Tanaka')]);
  const { body: circle } = await tenant.admin.post('/groups', { name: 'Reading circle' });
  await tenant.admin.put(`/groups/${circle.id}/members/${hiro.id}`);
}, 180_000);

afterAll(async () => {
  await Promise.all([browser?.close(), others?.close()]);
});

const makeFolder = async (name: string, parent_id: string | null = null, api = tenant.admin): Promise<string> =>
  (await api.post('/folders', { name, parent_id })).body.id;
const put = async (name: string, folder_id?: string, api = tenant.admin): Promise<string> => {
  const fields = folder_id === undefined ? {} : { folder_id };
  return (await api.upload('/files', { name, file: Buffer.from(`This is ${name}.`), type: 'text/plain', fields })).body.id;
};

/** A page of somebody who has no account; `url` is that of a link. */
async function stranger(url: string): Promise<Page> {
  const page = await others.page();
  await page.context().clearCookies();
  // Its dialog of files cannot be driven; the input that other browsers have can.
  await page.addInitScript('delete window.showOpenFilePicker');
  await page.goto(url);
  return page;
}

/** Gives access to who is found by this name. */
async function give(dialog: Locator, name: string): Promise<void> {
  await dialog.getByRole('combobox', { name: 'Name, group or e-mail address' }).fill(name);
  await dialog.getByRole('option', { name }).click();
  await dialog.getByLabel(`What ${name} may do`).waitFor();
}

async function closed(dialog: Locator): Promise<void> {
  await dialog.page().keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}

/** Makes a link by the form that is open. Returns its address. */
async function makeLink(dialog: Locator): Promise<string> {
  await dialog.getByRole('button', { name: 'Make link' }).click();
  return dialog.getByLabel('Address of the link').inputValue();
}

/** The dark squares of the QR code of a text, within the white margin that cameras need. */
const squaresOf = (text: string): string[] =>
  encode(text, { ecc: 'M', border: 4 }).data.flatMap((line, y) => line.flatMap((isDark, x) => (isDark ? [`${x} ${y}`] : [])));

/** Those that are drawn. */
const drawnSquares = async (code: Locator): Promise<string[]> =>
  [...((await code.locator('path').getAttribute('d')) ?? '').matchAll(/M(\d+ \d+)h1v1h-1z/g)].map(([, at = '']) => at);

test('a person and a group get access; each of them sees what they were given, until it is taken back', async () => {
  const seminar = await makeFolder('Seminar');
  await put('plan.txt', seminar);
  const poem = await put('poem.txt', await makeFolder('Readings', seminar));
  const page = await openAs(browser, tenant, administrator, `/files/${seminar}`);
  const ofFile = await openShare(page, 'plan.txt');
  await ofFile.getByLabel('What they may do').selectOption('May change');
  await give(ofFile, 'Grace Okoro');
  await closed(ofFile);
  const ofFolder = await openShare(page, 'Readings');
  await give(ofFolder, 'Reading circle');

  const hers = await openAs(others, tenant, grace, '/shared');
  await select(hers, 'plan.txt');
  await hers.keyboard.press('F2');
  await hers.getByLabel('New name of plan.txt').waitFor();
  await hers.keyboard.type('agenda');
  await hers.keyboard.press('Enter');
  await hers.getByRole('button', { name: 'agenda.txt', exact: true }).waitFor();
  const foldersOfHers = await hers.getByRole('row', { name: 'Readings' }).count();
  await hers.close();

  const his = await openAs(others, tenant, hiro, '/shared');
  await his.getByRole('link', { name: 'Readings', exact: true }).click();
  await his.getByRole('button', { name: 'poem.txt', exact: true }).click();
  await his.getByRole('dialog', { name: 'poem.txt' }).getByText('This is poem.txt.').waitFor();
  const api = await tenant.anonymous.login(hiro.email, hiro.password);
  const renamed = await api.patch(`/files/${poem}`, { name: 'mine.txt' });

  await ofFolder.getByRole('button', { name: 'Actions for Reading circle' }).click();
  await page.getByRole('menuitem', { name: 'Remove access' }).click();
  await ofFolder.getByLabel('What Reading circle may do').waitFor({ state: 'detached' });
  await his.goto(addressOf(tenant, '/shared'));
  await his.getByText('Nobody has shared anything with you yet').waitFor();
  await closed(ofFolder);
  await page.getByRole('row', { name: 'agenda.txt' }).waitFor();

  expect([foldersOfHers, renamed.status, (await api.get(`/files/${poem}`)).status]).toEqual([0, 403, 404]);
});

test('a link with a password, an end and a limit is copied and shown as a QR code, and serves as often as it says', async () => {
  const folder = await makeFolder('Theses');
  await put('thesis.txt', folder);
  const page = await openAs(browser, tenant, administrator, `/files/${folder}`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(tenant.apiUrl).origin });
  const dialog = await openShare(page, 'thesis.txt');
  await dialog.getByRole('button', { name: 'New link' }).click();
  await dialog.getByRole('checkbox', { name: 'Ask for a password' }).check();
  await dialog.getByRole('button', { name: 'Suggest a password' }).click();
  const password = await dialog.getByLabel('Password', { exact: true }).inputValue();
  await dialog.getByLabel('Ends at the end of').fill('2099-01-31');
  await dialog.getByLabel('Most downloads').fill('2');
  const url = await makeLink(dialog);
  await dialog.getByRole('button', { name: 'Copy link' }).click();
  await dialog.getByRole('status').getByText('Link copied').waitFor();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  await dialog.getByRole('button', { name: 'Actions of the link' }).click();
  await page.getByRole('menuitem', { name: 'Show QR code' }).click();
  const code = dialog.getByRole('img', { name: 'QR code of the link' });
  await code.waitFor();
  const drawn = await drawnSquares(code);

  const visitor = await stranger(url);
  const field = visitor.getByLabel('Password', { exact: true });
  // The page's own form takes the place of what the server sent.
  await visitor.getByRole('button', { name: 'Show password' }).waitFor();
  await field.fill('not the password');
  await visitor.keyboard.press('Enter');
  await visitor.getByRole('status').getByText('This password is wrong.').waitFor();
  await field.fill(password);
  await visitor.keyboard.press('Enter');
  await visitor.getByText('It can be used 2 more times.').waitFor();
  await visitor.getByText(/^The link ends on /).waitFor();
  const download = visitor.getByRole('button', { name: 'Download' });
  const first = await saved(visitor, () => download.click());
  await visitor.getByText('It can be used once more.').waitFor();
  await saved(visitor, () => download.click());
  await visitor.getByText('The link is used up.').waitFor();
  await visitor.reload();
  await visitor.getByRole('heading', { name: 'This link does not work' }).waitFor();

  await page.goto(addressOf(tenant, '/links'));
  const link = page.getByRole('main').getByRole('listitem').filter({ hasText: 'thesis.txt' }).first();
  await link.getByText('All its downloads are used up.').waitFor();
  await link.getByText('2 of 2 downloads').waitFor();
  expect([copied, first.name, first.bytes.toString()]).toEqual([url, 'thesis.txt', 'This is thesis.txt.']);
  expect(drawn).toEqual(squaresOf(url));
});

test('strangers save what is in the folder of a link, and by a file request they send files and see nothing', async () => {
  const top = await makeFolder('Public');
  const course = await makeFolder('Course', top);
  await put('week 1.txt', await makeFolder('Weeks', course));
  await put('secret.txt', await makeFolder('Essays', top));
  const page = await openAs(browser, tenant, administrator, `/files/${top}`);
  const ofCourse = await openShare(page, 'Course');
  await ofCourse.getByRole('button', { name: 'New link' }).click();
  const toRead = await makeLink(ofCourse);
  await closed(ofCourse);
  const ofEssays = await openShare(page, 'Essays');
  await ofEssays.getByRole('button', { name: 'New link' }).click();
  await ofEssays.getByRole('radio', { name: 'upload files' }).check();
  const toSend = await makeLink(ofEssays);
  await ofEssays.getByText('Upload into the folder').waitFor();
  await closed(ofEssays);

  const reader = await stranger(toRead);
  const all = await saved(reader, () => reader.getByRole('button', { name: 'Download all as ZIP' }).click());
  await reader.getByRole('button', { name: 'Weeks' }).click();
  const one = await saved(reader, () => reader.getByRole('link', { name: 'week 1.txt' }).click());

  const sender = await stranger(toSend);
  await sender.getByRole('heading', { name: 'Send files to “Essays”' }).waitFor();
  await sender.getByLabel('Your name').fill('Ida Novak');
  const choosing = sender.waitForEvent('filechooser');
  await sender.getByRole('button', { name: 'Choose files' }).click();
  const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(`This is ${name}.`) });
  await (await choosing).setFiles([file('essay.txt'), file('notes.txt')]);
  await sender.getByText('2 files sent', { exact: true }).waitFor();
  const shownToSender = await sender.locator('body').innerText();

  await page.getByRole('link', { name: 'Essays', exact: true }).click();
  await page.getByRole('row', { name: 'notes.txt' }).waitFor();
  await select(page, 'essay.txt');
  await page.keyboard.press('Alt+Enter');
  const details = page.getByRole('complementary', { name: 'essay.txt' });
  await details.getByText('Sent by', { exact: true }).waitFor();
  await details.getByText('Ida Novak', { exact: true }).waitFor();
  expect([all.name, all.bytes.subarray(0, 2).toString(), one.bytes.toString()]).toEqual([
    'Course.zip',
    'PK',
    'This is week 1.txt.',
  ]);
  expect([/essay\.txt/, /secret/].map((name) => name.test(shownToSender))).toEqual([true, false]);
});

test('rules of an administrator are in the form of a link, end links that break them, and any link can be ended', async () => {
  const hersByApi = await tenant.anonymous.login(grace.email, grace.password);
  const { body: old } = await hersByApi.post(`/files/${await put('old.txt', undefined, hersByApi)}/share`, {});
  await put('poster.txt', undefined, hersByApi);
  const page = await openAs(browser, tenant, administrator, '/admin/links');
  await page.getByRole('checkbox', { name: 'Each link needs a password' }).check();
  await page.getByLabel('Links end after (days)').fill('30');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The rules are saved.').first().waitFor();

  const hers = await openAs(others, tenant, grace);
  const ofOld = await openShare(hers, 'old.txt');
  await ofOld.getByText('Links need a password here: give it one.').waitFor();
  await closed(ofOld);
  const dialog = await openShare(hers, 'poster.txt');
  await dialog.getByRole('button', { name: 'New link' }).click();
  await dialog.getByText('Each link needs a password here.').waitFor();
  await dialog.getByText(/^At the latest on /).waitFor();
  await dialog.getByRole('button', { name: 'Make link' }).click();
  await dialog.getByText('Use at least 8 characters.').waitFor();
  await dialog.getByLabel('Password', { exact: true }).fill('four words of mine');
  const url = await makeLink(dialog);
  await hers.close();
  const broken = await stranger(old.url);
  await broken.getByRole('heading', { name: 'This link does not work' }).waitFor();
  const visitor = await stranger(url);
  await visitor.getByRole('heading', { name: 'This link has a password' }).waitFor();

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Links', exact: true }).click();
  await page.getByRole('tab', { name: 'All links' }).click();
  const link = page.getByRole('main').getByRole('listitem').filter({ hasText: 'poster.txt' }).first();
  await link.getByText('by Grace Okoro').waitFor();
  const copies = await link.getByRole('button', { name: /^Copy/ }).count();
  await page.getByRole('button', { name: 'Actions of the link of poster.txt' }).click();
  await page.getByRole('menuitem', { name: 'Delete …' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete link' }).click();
  await link.waitFor({ state: 'detached' });
  await visitor.reload();
  await visitor.getByRole('heading', { name: 'This link does not work' }).waitFor();
  const { share_links } = (await tenant.admin.get('/settings')).body;
  await tenant.admin.patch('/settings', { share_links: { password_required: false, max_days: null } });

  expect([copies, share_links.password_required, share_links.max_days]).toEqual([0, true, 30]);
});
