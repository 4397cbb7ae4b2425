import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { NARROW, openSignedIn, openSignedOut, signIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const administrator = (path: string): Promise<Page> => openSignedIn(browser, tenant, tenant.administrator, path);

test('the first administrator is welcomed with what to do next, until they go to the files', async () => {
  const page = await administrator('/');
  await page.getByRole('heading', { name: 'Welcome to Biology' }).waitFor();
  const steps = await page.getByRole('main').getByRole('link').all();
  const links = await Promise.all(steps.map((step) => step.getAttribute('href')));
  await page.getByRole('button', { name: 'Set your own password' }).click();
  await page.getByRole('dialog', { name: 'Change password' }).getByRole('button', { name: 'Cancel' }).last().click();

  await page.getByRole('button', { name: 'Go to the files' }).click();
  await page.getByRole('navigation', { name: 'Path' }).waitFor();
  await page.reload();
  await page.getByRole('navigation', { name: 'Path' }).waitFor();

  expect(links).toEqual(['/admin/people', '/admin/lms', '/admin/links', '/admin/tenant', '/admin/schedules', '/files']);
});

test('a person changes their password, stays signed in, and is signed out elsewhere', async () => {
  const { user, password, api } = await tenant.user();
  const page = await openSignedIn(browser, tenant, { email: user.email, password });
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Change password …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change password' });
  await dialog.getByLabel('Current password').fill('not the one');
  await dialog.getByLabel('New password').fill('short');
  await dialog.getByRole('button', { name: 'Change password' }).click();
  await dialog.getByText('Use at least 8 characters.').waitFor();
  await dialog.getByLabel('New password').fill('four unrelated words make one');
  await dialog.getByRole('button', { name: 'Change password' }).click();
  await dialog.getByText('This is not your password.').waitFor();
  const findings = await axeFindings(page);
  await dialog.getByLabel('Current password').fill(password);
  await dialog.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Your password has been changed.').first().waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Trash' }).click();
  await page.getByRole('heading', { name: 'Trash' }).waitFor();

  const again = await openSignedIn(browser, tenant, { email: user.email, password: 'four unrelated words make one' });
  expect(findings).toEqual([]);
  expect([(await api.get('/me')).status, await again.getByRole('navigation', { name: 'Main' }).count()]).toEqual([401, 1]);
});

test('an administrator adds a person, who sets a password at the address and signs in', async () => {
  const page = await administrator('/admin/people');
  await page.getByRole('button', { name: 'Add person' }).click();
  const form = page.getByRole('dialog', { name: 'Add person' });
  await form.getByRole('button', { name: 'Add person' }).click();
  await form.getByText('This is needed.').first().waitFor();
  await form.getByLabel('E-mail address').fill('grace@example.org');
  await form.getByLabel('User name').fill('has spaces');
  await form.getByRole('button', { name: 'Add person' }).click();
  await form.getByText('must not hold spaces').waitFor();
  await form.getByLabel('User name').fill('grace');
  await form.getByRole('button', { name: 'Add person' }).click();
  await page.getByRole('button', { name: 'Make link' }).click();
  const address = await page.getByLabel('Address to hand on').inputValue();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('rowheader', { name: 'grace@example.org' }).waitFor();

  const hers = await openSignedOut(browser, tenant);
  await hers.goto(address);
  await hers.getByLabel('New password').fill('four unrelated words make one');
  await hers.getByRole('button', { name: 'Set password' }).click();
  await hers.getByRole('link', { name: 'Sign in' }).click();
  await signIn(hers, { email: 'grace@example.org', password: 'four unrelated words make one' });
  await hers.getByRole('navigation', { name: 'Main' }).waitFor();

  expect(await hers.getByRole('link', { name: 'Administration' }).count()).toBe(0);
});

test('a change of roles does not overwrite what somebody else changed meanwhile', async () => {
  const { user } = await tenant.user({ email: 'shared@example.org' });
  const page = await administrator('/admin/people');
  await page.getByRole('searchbox', { name: 'Search by name or e-mail address' }).fill('shared@example.org');
  const actions = page.getByRole('button', { name: /^Actions for/ });
  await waitFor('one person to be found', async () => (await actions.count()) === 1);
  await tenant.admin.patch(`/users/${user.id}`, { display_name: 'Shared' });

  await actions.click();
  await page.getByRole('menuitem', { name: 'Change roles' }).click();
  await page.getByRole('checkbox', { name: 'Instructor' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').getByText('This was changed elsewhere meanwhile.').waitFor();

  expect((await tenant.admin.get(`/users/${user.id}`)).body.roles).toEqual(user.roles);
});

test('text that is being typed survives the end of the session, and is sent after signing in', async () => {
  const { user, api, password } = await tenant.user({ roles: ['admin'] });
  const page = await openSignedIn(browser, tenant, { email: user.email, password }, '/admin/people');
  await page.getByRole('button', { name: 'Add person' }).click();
  const form = page.getByRole('dialog', { name: 'Add person' });
  await form.getByLabel('E-mail address').fill('edsger@example.org');
  await form.getByLabel('User name').fill('edsger');
  await api.delete('/users/me/sessions');
  await form.getByRole('button', { name: 'Add person' }).click();

  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByLabel('Password', { exact: true }).fill('wrong');
  await page.keyboard.press('Enter');
  await again.getByRole('alert').waitFor();
  await again.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');

  await page.getByRole('dialog', { name: 'Password of edsger' }).waitFor();
  const { body } = await tenant.admin.get('/users?email=edsger%40example.org');
  expect(body.data.map(({ username }: { username: string }) => username)).toEqual(['edsger']);
});

test('an address for an LMS is shown once, and the rules for links are saved', async () => {
  const page = await administrator('/admin/lms');
  await page.getByText('No LMS is connected yet.').waitFor();
  await page.getByRole('button', { name: 'Connect an LMS' }).click();
  await page.getByRole('button', { name: 'Make address' }).click();
  const address = await page.getByLabel('Address for the LMS').inputValue();
  await page.getByRole('button', { name: 'Done' }).click();

  await page.getByRole('link', { name: 'Rules for links' }).click();
  await page.getByRole('checkbox', { name: 'Each link needs a password' }).check();
  await page.getByLabel('Links end after (days)').fill('30');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The rules are saved.').waitFor();

  expect(address).toContain(tenant.url);
  expect((await tenant.admin.get('/settings')).body.share_links).toMatchObject({ password_required: true, max_days: 30 });
});

test('a number of days that is typed in part does not remove the rule', async () => {
  await tenant.admin.patch('/settings', { share_links: { max_days: 30 } });
  const page = await administrator('/admin/links');
  await page.getByLabel('Links end after (days)').fill('');
  await page.keyboard.type('4e');
  await page.getByRole('checkbox', { name: 'Links may take uploads into a folder' }).uncheck();
  await page.getByRole('button', { name: 'Save' }).click();
  await waitFor('the focus to be on the number', () => page.evaluate<boolean>(`document.activeElement.type === 'number'`));
  const kept = await tenant.admin.get('/settings');
  await page.getByLabel('Links end after (days)').fill('40');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The rules are saved.').waitFor();

  expect(kept.body.share_links).toMatchObject({ max_days: 30, folder_uploads: true });
  expect((await tenant.admin.get('/settings')).body.share_links).toMatchObject({ max_days: 40, folder_uploads: false });
});

test('what is entered while the rules for links are being saved stays, and is saved by the next Save', async () => {
  const page = await administrator('/admin/links');
  const days = page.getByLabel('Links end after (days)');
  const held = Promise.withResolvers<void>();
  await page.route('**/api/v1/settings', async (route) => {
    if (route.request().method() === 'PATCH') await held.promise;
    await route.continue();
  });
  const save = page.getByRole('button', { name: 'Save' });
  const saved = () =>
    page.waitForResponse((one) => one.url().endsWith('/settings') && one.request().method() === 'PATCH' && one.ok());
  await days.fill('50');
  const sent = page.waitForRequest((one) => one.method() === 'PATCH');
  await save.click();
  await sent;
  await days.fill('60');
  const done = saved();
  held.resolve();
  await done;
  await page.getByText('The rules are saved.').waitFor();
  const first = await tenant.admin.get('/settings');

  await Promise.all([saved(), save.click()]);

  expect([first.body.share_links.max_days, await days.inputValue()]).toEqual([50, '60']);
  expect((await tenant.admin.get('/settings')).body.share_links.max_days).toBe(60);
});

test('the form of a schedule says that one’s tags could not be loaded, rather than that there are none', async () => {
  const page = await administrator('/admin/schedules');
  await page.route('**/api/v1/tags?*', (route) => route.abort());
  await page.getByRole('button', { name: 'Add schedule' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add schedule' });
  await form.getByLabel('What it does').selectOption('Change many files');
  await form.getByLabel('What happens to them').selectOption('Add a tag');
  await form.getByRole('alert').getByText('The service cannot be reached').waitFor();
  const untold = await form.getByRole('option', { name: 'You have no tags yet' }).count();
  await page.unroute('**/api/v1/tags?*');
  await form.getByRole('button', { name: 'Try again' }).click();
  await form.getByRole('option', { name: 'You have no tags yet' }).waitFor({ state: 'attached' });

  expect([untold, await form.getByRole('alert').count()]).toEqual([0, 0]);
});

test.each([
  ['the welcome', '/welcome'],
  ['the people', '/admin/people'],
  ['the LMSs', '/admin/lms'],
  ['the rules for links', '/admin/links'],
])('axe finds nothing on %s in light and dark, and at 400 %% zoom nothing is cut off', async (_what, path) => {
  const page = await administrator(path);
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('main').locator('.c-skeleton').waitFor({ state: 'detached' });
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});
