import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { NARROW, openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

interface Grant {
  readonly user_id: string;
  readonly permission_level: string;
  readonly expires_at: string | null;
}
type Person = Awaited<ReturnType<TestTenant['user']>>;

const pageOf = ({ user, password }: Person, path = '/'): Promise<Page> =>
  openSignedIn(browser, tenant, { email: user.email, password }, path);

const addFile = async ({ api }: Person, name: string): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.from('content') })).body.id;
const addFolder = async ({ api }: Person, name: string): Promise<string> => (await api.post('/folders', { name })).body.id;

/** Opens the dialog from the menu of a file or folder in the list. */
async function openShare(page: Page, name: string): Promise<Locator> {
  await page.getByRole('button', { name: `Actions of ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Share …' }).click();
  return page.getByRole('dialog', { name: `Share “${name}”` });
}

/** Waits until the form of a link has the focus, which it takes a moment after it is shown: keys before that go elsewhere. */
const formTakesFocus = (page: Page): Promise<boolean> =>
  waitFor('the form of the link to take the focus', () =>
    page.evaluate(`document.activeElement.closest('.share-form') !== null`),
  );

/** Nothing of the dialog is beyond the edges of the screen, and its body scrolls up and down alone. */
const IS_WHOLE = `(() => {
  const body = document.querySelector('dialog[open] .c-dialog-body');
  const isOut = (part) => part.checkVisibility() && part.getBoundingClientRect().right > innerWidth + 1;
  return body.scrollWidth <= body.clientWidth && ![...body.querySelectorAll('*')].some(isOut);
})()`;

const setRules = async (share_links: object): Promise<void> => {
  const { status } = await tenant.admin.patch('/settings', { share_links });
  expect(status).toBe(200);
};

test('a link for a file is made with a password, a day and a limit, and opens the file for a stranger', async () => {
  const person = await tenant.user();
  const id = await addFile(person, 'thesis.pdf');
  const page = await pageOf(person);
  const dialog = await openShare(page, 'thesis.pdf');
  await dialog.getByText('There is no link yet.').waitFor();
  await dialog.getByRole('button', { name: 'New link' }).click();
  await dialog.getByRole('checkbox', { name: 'Ask for a password' }).check();
  await dialog.getByRole('button', { name: 'Suggest a password' }).click();
  const password = await dialog.getByLabel('Password', { exact: true }).inputValue();
  await dialog.getByLabel('Ends at the end of').fill('2099-01-31');
  await dialog.getByLabel('Most downloads').fill('3');
  await dialog.getByRole('button', { name: 'Make link' }).click();
  const url = await dialog.getByLabel('Address of the link').inputValue();

  const { body } = await person.api.get(`/files/${id}/shares`);
  const token = url.split('/').at(-1) ?? '';
  const wrong = await tenant.anonymous.get(`/s/${token}/download`, { headers: { 'x-share-password': 'wrong' } });
  const right = await tenant.anonymous.get(`/s/${token}/download`, { headers: { 'x-share-password': password } });

  expect(password).toMatch(/^\w{4}-\w{4}-\w{4}$/);
  expect(body.data).toEqual([expect.objectContaining({ url, has_password: true, max_downloads: 3 })]);
  expect(body.data[0].expires_at.slice(0, 8)).toMatch(/^2099-0[12]-$/);
  expect([wrong.status, right.status]).toEqual([401, 200]);
});

test('what cannot be is said at its field, before anything is sent', async () => {
  const person = await tenant.user();
  const id = await addFile(person, 'a.txt');
  const page = await pageOf(person);
  const dialog = await openShare(page, 'a.txt');
  await dialog.getByRole('button', { name: 'New link' }).click();
  await dialog.getByRole('checkbox', { name: 'Ask for a password' }).check();
  await dialog.getByLabel('Password', { exact: true }).fill('short');
  await dialog.getByLabel('Ends at the end of').fill('2020-01-31');
  await dialog.getByLabel('Most downloads').fill('0');
  await dialog.getByRole('button', { name: 'Make link' }).click();

  await dialog.getByText('Use at least 8 characters.').waitFor();
  await dialog.getByText('Choose today or a later day.').waitFor();
  await dialog.getByText('Enter a whole number from 1 on.').waitFor();
  expect((await person.api.get(`/files/${id}/shares`)).body.data).toEqual([]);
});

test('a day or a number that is typed in part makes no link without an end or a limit', async () => {
  const person = await tenant.user();
  const id = await addFile(person, 'a.txt');
  const page = await pageOf(person);
  const dialog = await openShare(page, 'a.txt');
  await dialog.getByRole('button', { name: 'New link' }).click();
  const [day, most] = [dialog.getByLabel('Ends at the end of'), dialog.getByLabel('Most downloads')];
  const make = dialog.getByRole('button', { name: 'Make link' });
  const focused = (): Promise<string> => page.evaluate('document.activeElement.type');
  await formTakesFocus(page);
  await day.focus();
  await page.keyboard.type('12');
  await make.click();
  await waitFor('the focus to be on the day', async () => (await focused()) === 'date');
  await day.fill('2099-01-31');
  await most.focus();
  await page.keyboard.type('3e');
  await make.click();
  await waitFor('the focus to be on the number', async () => (await focused()) === 'number');
  const made = await person.api.get(`/files/${id}/shares`);

  await most.fill('3');
  await make.click();
  await dialog.getByLabel('Address of the link').waitFor();

  expect(made.body.data).toEqual([]);
  expect((await person.api.get(`/files/${id}/shares`)).body.data).toEqual([expect.objectContaining({ max_downloads: 3 })]);
});

test('a link of a folder takes uploads alone, is switched off and on, changed and deleted', async () => {
  const person = await tenant.user();
  const id = await addFolder(person, 'Essays');
  const page = await pageOf(person);
  const dialog = await openShare(page, 'Essays');
  await dialog.getByRole('button', { name: 'New link' }).click();
  await dialog.getByRole('radio', { name: 'upload files' }).check();
  const limits = await dialog.getByLabel('Most downloads').count();
  await dialog.getByRole('button', { name: 'Make link' }).click();
  await dialog.getByText('Upload into the folder').waitFor();
  const choose = async (name: string): Promise<void> => {
    await dialog.getByRole('button', { name: 'Actions of the link' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  const link = async () => (await person.api.get(`/folders/${id}/shares`)).body.data[0];
  const made = await link();

  await choose('Switch off');
  await dialog.getByText('It is switched off.').waitFor();
  const off = await link();
  await choose('Switch on');
  await dialog.getByText('It is switched off.').waitFor({ state: 'detached' });
  await choose('Change …');
  await dialog.getByRole('checkbox', { name: 'Ask for a password' }).check();
  await dialog.getByLabel('Password', { exact: true }).fill('four words of mine');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
  const changed = await link();
  await choose('Delete …');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete link' }).click();
  await dialog.getByText('There is no link yet.').waitFor();

  expect(limits).toBe(0);
  expect([made, off, changed].map(({ mode, is_active, has_password }) => [mode, is_active, has_password])).toEqual([
    ['upload', true, false],
    ['upload', false, false],
    ['upload', true, true],
  ]);
  expect(await link()).toBeUndefined();
});

test('the address is copied, said to be so, and shown as a QR code', async () => {
  const person = await tenant.user();
  const id = await addFile(person, 'poster.png');
  const { body } = await person.api.post(`/files/${id}/share`, {});
  const page = await pageOf(person);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: tenant.url });
  const dialog = await openShare(page, 'poster.png');
  await dialog.getByRole('button', { name: 'Copy link' }).click();
  await dialog.getByRole('status').getByText('Link copied').waitFor();
  await dialog.getByRole('button', { name: 'Actions of the link' }).click();
  await page.getByRole('menuitem', { name: 'Show QR code' }).click();
  await dialog.getByRole('img', { name: 'QR code of the link' }).waitFor();

  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(body.url);
});

test('the rules of the tenant are in the form before they refuse, and a link that breaks one says so', async () => {
  const person = await tenant.user();
  const id = await addFolder(person, 'Open');
  await person.api.post(`/folders/${id}/share`, { mode: 'both' });
  await setRules({ password_required: true, max_days: 30, folder_uploads: false });
  const page = await pageOf(person);
  const dialog = await openShare(page, 'Open');
  await dialog.getByText('Links need a password here: give it one.').waitFor();
  await dialog.getByRole('button', { name: 'New link' }).click();
  await dialog.getByText('Each link needs a password here.').waitFor();
  await dialog.getByText('Links take no uploads here: an administrator').waitFor();
  const latest = await dialog.getByLabel('Ends at the end of').inputValue();
  await dialog.getByRole('button', { name: 'Make link' }).click();
  await dialog.getByText('Use at least 8 characters.').waitFor();
  await dialog.getByLabel('Password', { exact: true }).fill('four words of mine');
  await dialog.getByRole('button', { name: 'Make link' }).click();
  await dialog.getByText('See and download the folder').waitFor();

  await dialog.getByRole('button', { name: 'New link' }).click();
  await dialog.getByLabel('Password', { exact: true }).fill('four words of mine');
  const inTwentyDays = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
  await dialog.getByLabel('Ends at the end of').fill(inTwentyDays);
  await setRules({ max_days: 7 });
  await dialog.getByRole('button', { name: 'Make link' }).click();
  await dialog.getByText('The rules for links have changed.').waitFor();
  await dialog.getByRole('button', { name: 'Make link' }).click();
  await dialog.getByText('Choose a day until').waitFor();

  await setRules({ enabled: false });
  await page.reload();
  const off = await openShare(page, 'Open');
  await off.getByText('Links are switched off here.').first().waitFor();
  const offered = await off.getByRole('button', { name: 'New link' }).count();
  await setRules({ enabled: true, password_required: false, max_days: null, folder_uploads: true });

  expect(latest).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(offered).toBe(0);
});

test('a person is found by their address and gets a role, which is changed, given an end, removed and given again', async () => {
  const ada = await tenant.user();
  const bob = await tenant.user();
  await tenant.admin.patch(`/users/${bob.user.id}`, { display_name: 'Bob Bakker' });
  const id = await addFile(ada, 'plan.txt');
  const grants = async () =>
    (await ada.api.get(`/files/${id}/permissions`)).body.data.map(({ user_id, permission_level, expires_at }: Grant) => [
      user_id,
      permission_level,
      expires_at?.slice(0, 7) ?? null,
    ]);
  const page = await pageOf(ada);
  const dialog = await openShare(page, 'plan.txt');
  await dialog.getByText('Owns this').waitFor();
  await dialog.getByLabel('What they may do').selectOption('May change');
  await dialog.getByRole('combobox', { name: 'Name, group or e-mail address' }).fill('Bob');
  await dialog.getByText('Nobody was found.').waitFor();
  await dialog.getByRole('combobox', { name: 'Name, group or e-mail address' }).fill(bob.user.email);
  await dialog.getByRole('option', { name: /Bob Bakker/ }).waitFor();
  await page.keyboard.press('Enter');
  await dialog.getByText('Bob Bakker has access now.').waitFor();
  await dialog.getByLabel('What Bob Bakker may do').waitFor();
  const given = await grants();

  await dialog.getByLabel('What Bob Bakker may do').selectOption('May read');
  await dialog.getByText('The access of Bob Bakker is changed.').waitFor();
  await dialog.getByRole('button', { name: 'Actions for Bob Bakker' }).click();
  await page.getByRole('menuitem', { name: 'Set an end …' }).click();
  await dialog.getByLabel('Access ends at the end of').fill('2099-06-15');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText(/Shared directly · Until/).waitFor();
  const changed = await waitFor('the end to be stored', async () => {
    const now = await grants();
    return now[0]?.[2] === '2099-06' && now;
  });

  await dialog.getByRole('button', { name: 'Actions for Bob Bakker' }).click();
  await page.getByRole('menuitem', { name: 'Remove access' }).click();
  await dialog.getByRole('button', { name: 'Undo' }).waitFor();
  const removed = await grants();
  // The list is read again after that.
  await dialog.getByLabel('What Bob Bakker may do').waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Undo' }).click();
  await dialog.getByLabel('What Bob Bakker may do').waitFor();

  expect([given, changed, removed]).toEqual([[[bob.user.id, 'write', null]], [[bob.user.id, 'read', '2099-06']], []]);
  expect(await grants()).toEqual(changed);
});

test('a folder shows a group with its name, and who has access through a folder above', async () => {
  const ada = await tenant.user();
  const [bob, carl] = [await tenant.user(), await tenant.user()];
  const { body: group } = await tenant.admin.post('/groups', { name: 'Seminar on cells' });
  for (const { user } of [ada, bob]) await tenant.admin.put(`/groups/${group.id}/members/${user.id}`);
  const term = await addFolder(ada, 'Term');
  await ada.api.post('/folders', { name: 'Week 1', parent_id: term });
  await ada.api.post(`/folders/${term}/permissions`, { user_id: carl.user.id, permission_level: 'read' });
  const page = await pageOf(ada, `/files/${term}`);
  const dialog = await openShare(page, 'Week 1');
  await dialog.getByText('Through the folder Term').waitFor();
  await dialog.getByRole('combobox', { name: 'Name, group or e-mail address' }).fill('cells');
  await dialog.getByRole('option', { name: /Seminar on cells/ }).click();
  await dialog.getByLabel('What Seminar on cells may do').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  // The folder itself has the same in the menu of its path.
  await page.getByRole('navigation', { name: 'Path' }).getByRole('button', { name: 'Term' }).click();
  await page.getByRole('menuitem', { name: 'Share …' }).click();
  await page.getByRole('dialog', { name: 'Share “Term”' }).getByLabel(`What ${carl.user.username} may do`).waitFor();
});

test('people and links are given by keyboard alone, and the focus goes on from what was changed', async () => {
  const ada = await tenant.user();
  const { body: group } = await tenant.admin.post('/groups', { name: 'Keyboard users' });
  await tenant.admin.put(`/groups/${group.id}/members/${ada.user.id}`);
  const id = await addFile(ada, 'keys.txt');
  const page = await pageOf(ada);
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const focus = (what: string, name: string): Promise<void> =>
    waitFor(what, () => page.evaluate(`(document.activeElement.ariaLabel ?? document.activeElement.textContent) === '${name}'`));
  /** A menu takes keys once it has the focus, a moment after it opens. */
  const chooseBy = async (letter: string): Promise<void> => {
    await press('Enter');
    await waitFor('the menu to have the focus', () => page.evaluate(`document.activeElement.role === 'menuitem'`));
    await press(letter, 'Enter');
  };
  await page.getByRole('button', { name: 'Actions of keys.txt' }).focus();
  await chooseBy('s');
  const dialog = page.getByRole('dialog', { name: 'Share “keys.txt”' });
  await dialog.getByText('Owns this').waitFor();
  await press('Tab');
  await page.keyboard.type('Keyboard');
  await dialog.getByRole('option', { name: /Keyboard users/ }).waitFor();
  // Enter takes what was found for the whole text, not for its beginning.
  await dialog.getByText('1 found', { exact: true }).waitFor();
  await press('ArrowDown', 'Enter');
  await dialog.getByLabel('What Keyboard users may do').waitFor();
  await dialog.getByRole('button', { name: 'Actions for Keyboard users' }).focus();
  await chooseBy('s');
  await waitFor('the focus to be on the day', () => page.evaluate(`document.activeElement.type === 'date'`));
  await press('Enter');
  await focus('the focus to return to the menu', 'Actions for Keyboard users');
  await chooseBy('r');
  await focus('the focus to be on what undoes it', 'Undo');

  await dialog.getByRole('button', { name: 'New link' }).focus();
  await press('Enter');
  await formTakesFocus(page);
  await dialog.getByLabel('Most downloads').focus();
  await press('4', 'Enter');
  await focus('the focus to be on what copies the link', 'Copy link');
  await press('Escape');
  await dialog.waitFor({ state: 'detached' });

  expect((await ada.api.get(`/files/${id}/permissions`)).body.data).toEqual([]);
  expect((await ada.api.get(`/files/${id}/shares`)).body.data).toEqual([expect.objectContaining({ max_downloads: 4 })]);
});

test('somebody who may only read a file from now on sees why they may not share it', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const grants = `/files/${await addFile(ada, 'mine.txt')}/permissions`;
  const { body: grant } = await ada.api.post(grants, { user_id: bob.user.id, permission_level: 'admin' });
  const page = await pageOf(bob, '/shared');
  await page.getByRole('button', { name: 'Actions of mine.txt' }).waitFor();
  // The list does not learn of it.
  await page.route('**/api/v1/**', (route) =>
    route.request().headers()['if-none-match'] === undefined ? route.continue() : route.fulfill({ status: 304 }),
  );
  const lowered = await ada.api.patch(`${grants}/${grant.id}`, { permission_level: 'read' });
  const dialog = await openShare(page, 'mine.txt');

  expect(lowered.status).toBe(200);
  await dialog.getByText('You may not share this.').waitFor();
});

test('whoever may not share is offered nothing', async () => {
  const owner = await tenant.user();
  const viewer = await tenant.user({ roles: ['viewer'] });
  const id = await addFile(owner, 'read me.txt');
  await owner.api.post(`/files/${id}/permissions`, { user_id: viewer.user.id, permission_level: 'read' });
  const page = await pageOf(viewer, '/shared');
  await page.getByRole('button', { name: 'Actions of read me.txt' }).click();
  await page.getByRole('menuitem', { name: 'Details' }).waitFor();

  expect(await page.getByRole('menuitem', { name: 'Share …' }).count()).toBe(0);
});

test('axe finds nothing on the dialog in light and dark, and at 400 % zoom nothing is cut off', async () => {
  const person = await tenant.user();
  const id = await addFolder(person, 'A name that is so long that no phone can show it whole in one line');
  await person.api.post(`/folders/${id}/share`, { mode: 'both', password: 'four words of mine', max_downloads: 3 });
  const { body } = await person.api.post(`/folders/${id}/share`, { expires_at: '2099-01-01T00:00:00Z' });
  await person.api.patch(`/shares/${body.id}`, { is_active: false });
  const page = await pageOf(person);
  const dialog = await openShare(page, 'A name that is so long that no phone can show it whole in one line');
  await dialog.getByText('It is switched off.').waitFor();
  await dialog.getByRole('button', { name: 'New link' }).click();
  await dialog.getByRole('checkbox', { name: 'Ask for a password' }).check();

  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await waitFor('nothing to be cut off', () => page.evaluate(IS_WHOLE));
  expect(found).toEqual([]);
});
