import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
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

type Person = Awaited<ReturnType<TestTenant['user']>>;

const pageOf = ({ user, password }: Person): Promise<Page> =>
  openSignedIn(browser, tenant, { email: user.email, password }, '/links');

/** Makes a file (`name`) or a folder (`name/`) with a link of these terms. */
async function linkOf({ api }: Person, name: string, terms: object = {}): Promise<{ readonly id: string; readonly url: string }> {
  const isFolder = name.endsWith('/');
  const made = isFolder
    ? await api.post('/folders', { name: name.slice(0, -1) })
    : await api.upload('/files', { name, file: Buffer.from('content') });
  const { status, body } = await api.post(`/${isFolder ? 'folders' : 'files'}/${made.body.id}/share`, terms);
  expect(status).toBe(201);
  return body;
}

const row = (page: Page, name: string): Locator => page.getByRole('main').getByRole('listitem').filter({ hasText: name }).first();

async function choose(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of the link of ${name}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

test('one list has all of somebody’s links, with what they do, and for those that do not work the reason', async () => {
  const person = await tenant.user();
  const other = await tenant.user();
  await linkOf(other, 'of somebody else.txt');
  await linkOf(person, 'plain.txt');
  const limited = await linkOf(person, 'limited.txt', { max_downloads: 1, password: 'four words of mine' });
  await linkOf(person, 'Essays/', { mode: 'upload', expires_at: '2099-01-31T12:00:00Z' });
  const off = await linkOf(person, 'off.txt');
  await person.api.patch(`/shares/${off.id}`, { is_active: false });
  await tenant.anonymous.get(`/s/${limited.url.split('/').at(-1)}/download`, {
    headers: { 'x-share-password': 'four words of mine' },
  });
  const page = await pageOf(person);
  await row(page, 'plain.txt').getByText('0 downloads').waitFor();
  await row(page, 'limited.txt').getByText('All its downloads are used up.').waitFor();
  await row(page, 'limited.txt').getByText('1 of 1 downloads').waitFor();
  await row(page, 'limited.txt').getByText('Password').waitFor();
  await row(page, 'Essays').getByText('Upload into the folder').waitFor();
  await row(page, 'Essays').getByText('Until Jan 31, 2099').waitFor();
  await row(page, 'off.txt').getByText('It is switched off.').waitFor();

  expect(await page.getByText('of somebody else.txt').count()).toBe(0);
  expect(await page.getByRole('tab').count()).toBe(0);
});

test('a link is copied, shown as a QR code, changed, switched off and on, and deleted from the list', async () => {
  const person = await tenant.user();
  const link = await linkOf(person, 'poster.png');
  const page = await pageOf(person);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: tenant.url });
  await page.getByRole('button', { name: 'Copy link of poster.png' }).click();
  await page.getByRole('region', { name: 'Notifications' }).getByText('Link copied').waitFor();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  await choose(page, 'poster.png', 'Show QR code');
  await page.getByRole('dialog').getByRole('img', { name: 'QR code of the link' }).waitFor();
  await page.keyboard.press('Escape');

  await choose(page, 'poster.png', 'Change …');
  await page.getByLabel('Most downloads').fill('5');
  await page.getByRole('button', { name: 'Save' }).click();
  await row(page, 'poster.png').getByText('0 of 5 downloads').waitFor();
  await choose(page, 'poster.png', 'Switch off');
  await row(page, 'poster.png').getByText('Does not work').waitFor();
  const off = (await person.api.get(`/shares/${link.id}`)).body;
  await choose(page, 'poster.png', 'Switch on');
  await row(page, 'poster.png').getByText('Does not work').waitFor({ state: 'detached' });
  await choose(page, 'poster.png', 'Delete …');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete link' }).click();
  await page.getByText('You have made no link yet').waitFor();

  expect([copied, off.max_downloads, off.is_active]).toEqual([link.url, 5, false]);
  expect((await person.api.get(`/shares/${link.id}`)).status).toBe(404);
});

test('a link leads to its file, to the folder of that, and to its folder', async () => {
  const person = await tenant.user();
  const { body: folder } = await person.api.post('/folders', { name: 'Term' });
  const { body: file } = await person.api.upload('/files', {
    name: 'plan.txt',
    file: Buffer.from('a'),
    fields: { folder_id: folder.id },
  });
  await person.api.post(`/files/${file.id}/share`, {});
  await person.api.post(`/folders/${folder.id}/share`, {});
  const page = await pageOf(person);
  await page.getByRole('main').getByRole('link', { name: 'plan.txt' }).click();
  await page.getByRole('dialog', { name: 'plan.txt' }).waitFor();
  await page.keyboard.press('Escape');
  await choose(page, 'plan.txt', 'Show in its folder');
  await page.getByRole('row', { name: /plan\.txt/ }).waitFor();
  const ofFile = new URL(page.url()).pathname;
  await page.goBack();
  await page.getByRole('main').getByRole('link', { name: 'Term' }).click();
  await page.getByRole('row', { name: /plan\.txt/ }).waitFor();

  expect([ofFile, new URL(page.url()).pathname]).toEqual([`/files/${folder.id}`, `/files/${folder.id}`]);
});

test('somebody who may make no links reads nothing of a command that their menus do not have', async () => {
  const page = await pageOf(await tenant.user({ roles: ['viewer'] }));
  await page.getByText('You have made no link yet').waitFor();
  const text = await page.getByRole('main').innerText();

  expect(text).toContain('Your account may not make links.');
  expect(text).not.toContain('Share …');
});

test('an administrator sees all links with who made them, without their addresses, and deletes one', async () => {
  const person = await tenant.user();
  await tenant.admin.patch(`/users/${person.user.id}`, { display_name: 'Grace Hopper' });
  const link = await linkOf(person, 'leaked.txt');
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/links');
  await page.getByText('You have made no link yet').waitFor();
  await page.getByRole('tab', { name: 'All links' }).click();
  await row(page, 'leaked.txt').getByText('by Grace Hopper').waitFor();
  const copies = await row(page, 'leaked.txt').getByRole('button', { name: /^Copy/ }).count();
  await choose(page, 'leaked.txt', 'Delete …');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete link' }).click();
  await page.getByText('by Grace Hopper').waitFor({ state: 'detached' });

  expect(copies).toBe(0);
  expect((await person.api.get(`/shares/${link.id}`)).status).toBe(404);
});

test('links are found by a part of the name, and a search that finds none says so', async () => {
  const person = await tenant.user();
  for (const name of ['Résumé.pdf', 'poster.png', 'Resumes/']) await linkOf(person, name);
  const page = await pageOf(person);
  await row(page, 'poster.png').waitFor();
  await page.getByRole('searchbox', { name: 'Search links by name' }).fill('resume');
  await row(page, 'poster.png').waitFor({ state: 'detached' });
  await page.getByRole('status').getByText('2 links').waitFor();
  const found = await page.getByRole('main').locator('.links-name').allInnerTexts();
  await page.keyboard.type(' of nobody');
  await page.getByText('No link found').first().waitFor();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await row(page, 'poster.png').waitFor();

  expect(found.toSorted()).toEqual(['Resumes', 'Résumé.pdf']);
});

test('links that have ended are deleted at once after a question, also those that the list has not loaded', async () => {
  const person = await tenant.user();
  const old = await linkOf(person, 'used up first.txt', { max_downloads: 1 });
  await tenant.anonymous.get(`/s/${old.url.split('/').at(-1)}/download`);
  const off = await linkOf(person, 'off.txt');
  await person.api.patch(`/shares/${off.id}`, { is_active: false });
  const { body: folder } = await person.api.post('/folders', { name: 'Many' });
  for (const _ of range(6)) await Promise.all(range(10).map(() => person.api.post(`/folders/${folder.id}/share`, {})));
  const changed = await linkOf(person, 'prolonged.txt', { max_downloads: 1 });
  const last = await linkOf(person, 'used up last.txt', { max_downloads: 1 });
  for (const { url } of [changed, last]) await tenant.anonymous.get(`/s/${url.split('/').at(-1)}/download`);
  const page = await pageOf(person);
  await page.getByRole('button', { name: 'Delete ended links …' }).click();
  const question = page.getByRole('alertdialog', { name: 'Delete 3 links that have ended?' });
  await question.waitFor();
  const named = await question.getByRole('listitem').allInnerTexts();
  await person.api.patch(`/shares/${changed.id}`, { max_downloads: 5 });
  await question.getByRole('button', { name: 'Delete 3 links' }).click();
  await page.getByText('2 links are deleted. 1 link was changed meanwhile and stays.').waitFor();
  await question.waitFor({ state: 'detached' });
  await row(page, 'used up last.txt').waitFor({ state: 'detached' });
  await row(page, 'prolonged.txt').getByText('1 of 5 downloads').waitFor();
  await page.getByRole('button', { name: 'Delete ended links …' }).waitFor({ state: 'detached' });

  expect(named.toSorted()).toEqual(['prolonged.txt', 'used up first.txt', 'used up last.txt']);
  const statuses = [old, off, changed, last].map(async ({ id }) => (await person.api.get(`/shares/${id}`)).status);
  expect(await Promise.all(statuses)).toEqual([404, 200, 200, 404]);
});

test('where an ended link cannot be deleted, the question stays with what is left, and goes on', async () => {
  const person = await tenant.user();
  for (const name of ['one.txt', 'two.txt']) {
    const { url } = await linkOf(person, name, { max_downloads: 1 });
    await tenant.anonymous.get(`/s/${url.split('/').at(-1)}/download`);
  }
  const page = await pageOf(person);
  let isSpoilt = false;
  await page.route('**/api/v1/shares/*', async (route) => {
    if (isSpoilt) return route.abort('connectionfailed');
    isSpoilt = route.request().method() === 'DELETE';
    return route.continue();
  });
  await page.getByRole('button', { name: 'Delete ended links …' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete 2 links' }).click();
  const left = page.getByRole('alertdialog', { name: 'Delete a link that has ended?' });
  await left.getByText('The service cannot be reached.').waitFor();
  await page.unrouteAll();
  await left.getByRole('button', { name: 'Delete 1 link' }).click();

  await page.getByText('You have made no link yet').waitFor();
});

test('of 120 links the last one is reached by scrolling', async () => {
  const person = await tenant.user();
  const { body } = await person.api.upload('/files', { name: 'first.txt', file: Buffer.from('a') });
  await person.api.post(`/files/${body.id}/share`, { max_downloads: 77 });
  const { body: folder } = await person.api.post('/folders', { name: 'Many' });
  for (const each of range(12))
    await Promise.all(range(10).map(() => person.api.post(`/folders/${folder.id}/share`, { max_downloads: each + 1 })));
  const page = await pageOf(person);
  await waitFor('the link that was made first', async () => {
    await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
    return (await page.getByText('0 of 77 downloads').count()) === 1;
  });
});

test('axe finds nothing on the links in light and dark, and at 400 % zoom nothing is cut off', async () => {
  const person = await tenant.user({ roles: ['admin'] });
  await linkOf(person, 'A name that is so long that no phone can show it whole in one line.pdf', { max_downloads: 3 });
  await linkOf(person, 'Essays/', { mode: 'both', password: 'four words of mine', expires_at: '2099-01-31T12:00:00Z' });
  const off = await linkOf(person, 'off.txt');
  await person.api.patch(`/shares/${off.id}`, { is_active: false });
  const page = await pageOf(person);
  await page.getByRole('tab', { name: 'All links' }).click();
  await page.getByText('It is switched off.').waitFor();
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});

test('axe finds nothing on the question before ended links are deleted, and at 400 % zoom nothing is cut off', async () => {
  const person = await tenant.user();
  for (const at of range(7)) {
    const { url } = await linkOf(person, `${at} of a name that is so long that no phone shows it whole.pdf`, {
      max_downloads: 1,
    });
    await tenant.anonymous.get(`/s/${url.split('/').at(-1)}/download`);
  }
  const page = await pageOf(person);
  await page.getByRole('button', { name: 'Delete ended links …' }).click();
  await page.getByRole('alertdialog').getByText('and 2 more').waitFor();
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete ended links …' }).waitFor();
  await fits(page);

  expect(found).toEqual([]);
});
