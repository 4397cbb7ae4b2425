import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { openSignedOut } from './app-pages.ts';
import { personWith, row } from './file-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

/** The page of somebody who sets a new password, with this one tried. */
async function tried(password: string, language?: string): Promise<Page> {
  const { user } = await tenant.user();
  const { body: reset } = await tenant.admin.post(`/users/${user.id}/password-reset`);
  const page = await openSignedOut(browser, tenant);
  if (language !== undefined) await page.getByRole('button', { name: language }).click();
  await page.goto(`${tenant.url}/reset#${reset.token}`);
  await page.locator('input[name=new-password]').fill(password);
  await page.getByRole('button', { name: language === undefined ? 'Set password' : 'Passwort setzen' }).click();
  return page;
}

test('a password that is common is refused in the words of the page, in English and in German', async () => {
  const page = await tried('password');
  await page.getByText('This password is one of those that attackers try first. Choose another.').waitFor();
  await page.close();
  const german = await tried('password', 'Deutsch');
  await german.getByText('Dieses Passwort probieren Angreifer als eines der ersten aus. Wählen Sie ein anderes.').waitFor();
  const text = await german.locator('form').innerText();
  await german.evaluate('localStorage.clear()');
  await german.close();

  expect(text).not.toContain('must');
});

test('a name that cannot be is refused in the words of the page, of a new folder and of a file that is renamed', async () => {
  const { page } = await personWith(browser, tenant, 'one.txt');
  const dialog = page.getByRole('dialog', { name: 'New folder' });
  await page.getByRole('button', { name: 'New folder' }).click();
  const field = dialog.getByLabel('Name of the folder');
  for (const [name, said] of Object.entries({
    'a/b': 'A name cannot contain a slash',
    'a\\b': 'A name cannot contain a slash',
    '..': 'A name cannot be “.” or “..”.',
    'a\u202Eb': 'This contains invisible characters that a name cannot have.',
    '\u2800': 'Use at least one visible character.',
  })) {
    await field.fill(name);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText(said).waitFor();
  }
  await field.fill('');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await row(page, 'one.txt')
    .getByRole('gridcell')
    .last()
    .click({ position: { x: 2, y: 2 } });
  await page.keyboard.press('F2');
  await page.getByRole('textbox', { name: 'New name of one.txt' }).fill('one/two');
  await page.keyboard.press('Enter');
  await row(page, 'one.txt').or(page.locator('.files-rename-error')).getByText('A name cannot contain a slash').first().waitFor();
});

test('a refusal for which there are no words of our own is a sentence in English, and no English in German', async () => {
  const { page } = await personWith(browser, tenant);
  const refused = async (button: RegExp, create: string): Promise<string> => {
    await page.getByRole('button', { name: button }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('Term');
    await dialog.getByRole('button', { name: create }).click();
    const text = await dialog.locator('.c-field-error').innerText();
    await dialog.getByRole('textbox').fill('');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    return text;
  };
  await page.route('**/api/v1/folders', (route) =>
    route.fulfill({
      status: 400,
      json: { error: 'validation_failed', message: 'name: is odd', details: [{ field: 'name', message: 'is odd' }] },
    }),
  );
  const english = await refused(/^New folder$/, 'Create');
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click();
  await page.getByRole('button', { name: 'Neuer Ordner' }).waitFor();
  const german = await refused(/^Neuer Ordner$/, 'Anlegen');
  await page.evaluate('localStorage.clear()');

  expect([english, german].map((text) => text.split('\n')[0])).toEqual(['This is odd.', 'Dieser Wert wird nicht angenommen.']);
});
