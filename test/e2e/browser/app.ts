import { readFile } from 'node:fs/promises';
import type { Locator, Page, Route } from 'playwright-core';
import type { TestBrowser } from '../../support/clients/chromium.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { type Platform, secretValues } from '../../support/programs/platform.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Somebody with an account. */
export interface Person extends Credentials {
  readonly id: string;
}

/** A tenant with the helper services of the platform. One person opens in a minute what others open in an hour. */
export function tenantWithHelpers(where: Platform): Promise<DemoTenant> {
  const url = `http://helpers.localhost:${where.port}`;
  return demoTenant(where, {
    helpers: { translateUrl: url, pdfOptimizeUrl: url, pdfTranslateUrl: url },
    limits: { requestsPerUserPerMinute: 2_000 },
  });
}

/** The address of a page of the tenant. */
export const addressOf = ({ apiUrl }: Pick<DemoTenant, 'apiUrl'>, path: string): string => new URL(path, apiUrl).href;

/** The address and password of the first administrator, which the operator has put into a Secret. */
export async function firstAdministrator(where: Platform, { namespace, name }: DemoTenant): Promise<Credentials> {
  const { email = '', password = '' } = await secretValues(where, namespace, `${name}-admin`);
  return { email, password };
}

export async function signIn(page: Page, { email, password }: Credentials): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
}

/** Opens a page of a tenant as a person; nobody is signed in there before. */
export async function openAs(browser: TestBrowser, tenant: DemoTenant, person: Credentials, path = '/files'): Promise<Page> {
  const page = await browser.page();
  await page.context().clearCookies();
  await page.goto(addressOf(tenant, path));
  await signIn(page, person);
  return page;
}

/**
 * Has the session of a tab end: its requests are refused as the server refuses them then. The cookie is not touched, so whoever
 * opens the next page, without these routes, is signed in.
 */
export async function endSession(page: Page): Promise<void> {
  const refuse = (error: string) => (route: Route) =>
    route.fulfill({ status: 401, json: { error, message: 'The session has ended.' } });
  await page.route('**/api/v1/**', refuse('unauthenticated'));
  await page.route('**/api/v1/auth/refresh', refuse('invalid_refresh_token'));
}

/** Opens the menu of a file or folder in a list and chooses a command. */
export async function fromMenu(page: Page, name: string, command: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of ${name}`, exact: true }).click();
  await page.getByRole('menuitem', { name: command, exact: true }).click();
}

/** Adds a person of this name to a tenant. */
export async function addPerson({ admin }: DemoTenant, name: string): Promise<Person> {
  const username = name.toLowerCase().replaceAll(' ', '.');
  const person = { email: `${username}@example.org`, password: 'four unrelated words' };
  const { status, body } = await admin.post('/users', { ...person, username, display_name: name, roles: ['member'] });
  if (status !== 201) throw new Error(`${name} was not added: ${status} ${JSON.stringify(body)}`);
  return { ...person, id: body.id };
}

/** A click beside a name in a list selects its row. */
export const select = (page: Page, name: string, modifiers: ('Shift' | 'ControlOrMeta')[] = []): Promise<void> =>
  page
    .getByRole('row', { name })
    .getByRole('gridcell')
    .last()
    .click({ modifiers, position: { x: 2, y: 2 } });

/** Opens the dialog in which a file or folder of a list is shared. */
export async function openShare(page: Page, name: string): Promise<Locator> {
  await fromMenu(page, name, 'Share …');
  const dialog = page.getByRole('dialog', { name: `Share “${name}”` });
  await dialog.getByText('Owns this').waitFor();
  return dialog;
}

/** What the browser saves after an action. */
export async function saved(page: Page, act: () => Promise<void>): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}
