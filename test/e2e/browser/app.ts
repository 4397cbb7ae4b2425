import type { Page } from 'playwright-core';
import type { TestBrowser } from '../../support/clients/chromium.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { type Platform, secretValues } from '../../support/programs/platform.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
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

/** Opens the menu of a file or folder in a list and chooses a command. */
export async function fromMenu(page: Page, name: string, command: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of ${name}`, exact: true }).click();
  await page.getByRole('menuitem', { name: command, exact: true }).click();
}
