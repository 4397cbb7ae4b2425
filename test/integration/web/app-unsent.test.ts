import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
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

const administrator = (path?: string): Promise<Page> => openSignedIn(browser, tenant, tenant.administrator, path);
const question = (page: Page): Locator => page.getByRole('alertdialog', { name: 'Discard what you entered?' });
const answer = (page: Page, name: 'Go on editing' | 'Discard'): Promise<void> =>
  question(page).getByRole('button', { name }).last().click();

/** Opens a dialog by a button of the page. The question is part of the page once the panel of uploads is. */
async function open(page: Page, button: string): Promise<Locator> {
  await page.getByRole('button', { name: button }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  return dialog;
}

/** A page that asks. */
async function ready(path: string): Promise<Page> {
  const page = await administrator(path);
  await waitFor('the parts of the page that come later', () =>
    page.evaluate(`performance
    .getEntriesByType('resource')
    .some(({ name }) => name.includes('unsent-question'))`),
  );
  return page;
}

test('Escape and the button of the corner ask before what was typed is discarded, and the caret stays where it was', async () => {
  const page = await ready('/files');
  const dialog = await open(page, 'New folder');
  const name = dialog.getByLabel('Name of the folder');
  await page.keyboard.type('Field trips');
  await page.keyboard.press('Escape');
  await question(page).waitFor();
  await answer(page, 'Go on editing');
  await question(page).waitFor({ state: 'detached' });
  await page.keyboard.type(' of June');
  const typed = await name.inputValue();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await answer(page, 'Discard');
  await dialog.waitFor({ state: 'detached' });

  await waitFor('the focus to return to the button', () => page.evaluate(`document.activeElement.textContent === 'New folder'`));
  expect([typed, (await tenant.admin.get('/folders', { query: { q: 'Field' } })).body.data]).toEqual(['Field trips of June', []]);
});

test('however often Escape is pressed, what was typed is asked about', async () => {
  const page = await ready('/files');
  const dialog = await open(page, 'New folder');
  await page.keyboard.type('Field trips');
  // Browsers let a page refuse the first one only.
  for (let times = 0; times < 7; times += 1) await page.keyboard.press('Escape');
  // What the last one does is shown with the next frame: the question, or its end.
  await waitFor('no question to be left', async () => {
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    const isAsked = (await question(page).count()) > 0;
    if (isAsked) await answer(page, 'Go on editing');
    return !isAsked;
  });

  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Field trips', exact: true }).waitFor();
});

test('an untouched form closes at once, one that was emptied too, and what was sent is not asked about', async () => {
  const page = await ready('/files');
  const dialog = await open(page, 'New folder');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await open(page, 'New folder');
  await page.keyboard.type('a');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await open(page, 'New folder');
  await page.keyboard.type('Sent');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Sent', exact: true }).waitFor();
  expect(await question(page).count()).toBe(0);
});

test('Cancel says enough: it discards without a question', async () => {
  const page = await ready('/files');
  const dialog = await open(page, 'New folder');
  await page.keyboard.type('Away');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });

  expect(await question(page).count()).toBe(0);
});

type Form = [what: string, path: () => Promise<string>, button: string, change: (form: Locator) => Promise<unknown>];
const at = (path: string) => async (): Promise<string> => path;
const fill = (label: string, text: string) => (form: Locator) => form.getByLabel(label, { exact: true }).fill(text);

const FORMS: readonly Form[] = [
  ['a person', at('/admin/people'), 'Add person', fill('User name', 'ada')],
  ['a group', at('/admin/groups'), 'Add group', fill('Description (optional)', 'First year')],
  ['a webhook', at('/admin/webhooks'), 'Add webhook', fill('What it is for (optional)', 'Of the library')],
  ['the events of a webhook', at('/admin/webhooks'), 'Add webhook', (form) => form.getByRole('checkbox').last().check()],
  ['a schedule', at('/admin/schedules'), 'Add schedule', fill('Name', 'Every night')],
  ['the connection of an LMS', at('/admin/lms'), 'Connect an LMS', (form) => form.getByRole('textbox').fill('Moodle')],
];

test.each(FORMS)('the form of %s asks before it is discarded', async (_what, pathOf, button, change) => {
  const page = await ready(await pathOf());
  const dialog = await open(page, button);
  await change(dialog);
  await page.keyboard.press('Escape');
  await question(page).waitFor();
  await answer(page, 'Discard');

  await dialog.waitFor({ state: 'detached' });
});

test('the form of a link asks, and so do the password and a tag', async () => {
  const { body: file } = await tenant.admin.upload('/files', { name: 'plan.txt', file: Buffer.from('plan') });
  const page = await ready('/files');
  const asks = async (dialog: Locator): Promise<void> => {
    await dialog
      .getByRole('button', { name: /^(Close|Cancel)/ })
      .first()
      .click();
    await question(page).waitFor();
    await answer(page, 'Discard');
    await dialog.waitFor({ state: 'detached' });
  };
  await page.getByRole('button', { name: 'Actions of plan.txt' }).click();
  await page.getByRole('menuitem', { name: /^Share/ }).click();
  const share = page.getByRole('dialog', { name: /plan\.txt/ });
  await share.getByRole('button', { name: 'New link' }).click();
  await share.getByLabel('Most downloads').fill('3');
  await asks(share);
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: /^Change password/ }).click();
  const password = page.getByRole('dialog');
  await password.getByLabel('New password').fill('four unrelated words');
  await asks(password);
  await page
    .getByRole('row', { name: /plan\.txt/ })
    .getByRole('gridcell')
    .last()
    .click({ position: { x: 2, y: 2 } });
  await page.getByRole('toolbar').getByRole('button', { name: 'Add a tag' }).click();
  const tag = page.getByRole('dialog');
  await tag.getByLabel('Tag').fill('to read');
  await asks(tag);

  expect((await tenant.admin.get(`/files/${file.id}/tags`)).body.data).toEqual([]);
});

/** The page of the rules for links with a number that is typed and not saved; the page before it in the history is Recent. */
async function halfFilled(): Promise<{ page: Page; days: Locator }> {
  const page = await ready('/recent');
  await page.getByRole('heading', { name: 'Recent' }).waitFor();
  await page.evaluate(`history.pushState(null, '', '/admin/links'); dispatchEvent(new PopStateEvent('popstate'))`);
  const days = page.getByRole('spinbutton');
  await days.fill('30');
  return { page, days };
}

const pathOf = (page: Page): string => new URL(page.url()).pathname;

test('a link and a reload ask before they take a half-filled form away', async () => {
  const { page, days } = await halfFilled();
  await page.getByRole('link', { name: 'Files', exact: true }).click();
  await answer(page, 'Go on editing');
  const afterLink = [pathOf(page), await days.inputValue()];
  const asked = await askedBy(page, () => page.evaluate('setTimeout(() => location.reload())'));
  const afterReload = await days.inputValue();
  await page.getByRole('link', { name: 'Trash', exact: true }).click();
  await answer(page, 'Discard');
  await page.getByRole('heading', { name: 'Trash', exact: true }).waitFor();
  const silent = await page.evaluate(`dispatchEvent(new Event('beforeunload', { cancelable: true }))`);

  expect([afterLink, asked, afterReload, silent]).toEqual([['/admin/links', '30'], 'beforeunload', '30', true]);
});

test('Back asks before it takes a half-filled form away', async () => {
  const { page, days } = await halfFilled();
  await page.evaluate('history.back()');
  await question(page)
    .waitFor({ timeout: 20_000 })
    .catch(async () => {
      throw new Error(`${page.url()} ${await page.locator('main').innerText()}`);
    });
  await answer(page, 'Go on editing');
  const after = [pathOf(page), await days.inputValue()];
  await page.evaluate('history.back()');
  await answer(page, 'Discard');
  await page.getByRole('heading', { name: 'Recent' }).waitFor();

  expect([after, pathOf(page)]).toEqual([['/admin/links', '30'], '/recent']);
});

test('what a form that stays has saved is not asked about, what is typed afterwards is', async () => {
  const { page, days } = await halfFilled();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The rules are saved.').waitFor();
  const afterSaving = await page.evaluate(LEAVING);
  await days.fill('31');
  const afterTyping = await page.evaluate(LEAVING);

  expect([afterSaving, afterTyping]).toEqual([true, false]);
});

/** False: the page would ask. */
const LEAVING = `dispatchEvent(new Event('beforeunload', { cancelable: true }))`;

/** Does something at which the browser asks whether the page may be left; returns what it asked, and stays. */
async function askedBy(page: Page, act: () => Promise<unknown>): Promise<string> {
  const [dialog] = await Promise.all([page.waitForEvent('dialog'), act()]);
  await dialog.dismiss();
  return dialog.type();
}

test('an attribute that somebody has begun stays while they look at another file, and closing the panel asks', async () => {
  for (const name of ['one.txt', 'two.txt']) await tenant.admin.upload('/files', { name, file: Buffer.from(name) });
  const page = await ready('/files');
  const details = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: `Actions of ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Details' }).click();
    await page.getByRole('complementary', { name }).waitFor();
  };
  await page.setViewportSize({ width: 1400, height: 900 });
  await details('one.txt');
  await page.getByRole('button', { name: 'Add an attribute' }).click();
  await page.getByRole('complementary').getByLabel('Name', { exact: true }).fill('course');
  await details('two.txt');
  await details('one.txt');
  const kept = await page.getByRole('complementary').getByLabel('Name', { exact: true }).inputValue();
  await page.getByRole('complementary').getByLabel('Value').fill('history');
  await page.getByRole('button', { name: 'Close the details' }).click();
  await answer(page, 'Discard');
  await page.getByRole('complementary', { name: 'one.txt' }).waitFor({ state: 'detached' });
  await details('one.txt');

  expect([kept, await page.getByRole('button', { name: 'Add an attribute' }).count()]).toEqual(['course', 1]);
});

test('what was typed in several fields survives a refusal, a lost connection and a session that ends', async () => {
  const { api, user, password } = await tenant.user({ roles: ['admin'] });
  await tenant.admin.post('/groups', { name: 'Taken' });
  const page = await openSignedIn(browser, tenant, { email: user.email, password }, '/admin/groups');
  const form = await open(page, 'Add group');
  await form.getByLabel('Name').fill('Taken');
  await form.getByLabel('Description (optional)').fill('Every Monday in the hall');
  const submit = form.getByRole('button', { name: 'Add group' });
  await submit.click();
  await form.getByText('Another group has this name.').waitFor();
  await page.context().setOffline(true);
  await submit.click();
  await form.getByText('The service cannot be reached.').waitFor();
  await page.context().setOffline(false);
  await form.getByLabel('Name').fill('Free');
  await api.delete('/users/me/sessions');
  await submit.click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Free' }).waitFor();

  const { body } = await tenant.admin.get('/groups', { query: { q: 'Free' } });
  expect(body.data.map(({ description }: { description: string }) => description)).toEqual(['Every Monday in the hall']);
});

test('axe finds nothing on the question in light and dark, and at 400 % zoom nothing is cut off', async () => {
  const page = await ready('/files');
  await open(page, 'New folder');
  await page.keyboard.type('a');
  await page.keyboard.press('Escape');
  await question(page).waitFor();
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});
