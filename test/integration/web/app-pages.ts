import type { Frame, Locator, Page } from 'playwright-core';
import type { TestBrowser } from '../../support/clients/chromium.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Opens an address of the tenant in a browser that has no session. */
export async function openSignedOut(browser: TestBrowser, tenant: TestTenant, path = '/'): Promise<Page> {
  const page = await browser.page();
  await page.context().clearCookies();
  await page.goto(`${tenant.url}${path}`);
  return page;
}

export async function signIn(page: Page, { email, password }: Credentials): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Signs in at an address and waits for what it shows. */
export async function openSignedIn(browser: TestBrowser, tenant: TestTenant, person: Credentials, path = '/'): Promise<Page> {
  const page = await openSignedOut(browser, tenant, path);
  await signIn(page, person);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  return page;
}

/** Waits for the title of a page, which is set a moment after the page is shown. */
export async function titled(page: Page, title: string): Promise<void> {
  await waitFor(`the title “${title}”`, async () => (await page.title()) === title);
}

/** Says whether what is typed goes to this field, in whichever frame. */
export const isTypedInto = (field: Locator): Promise<boolean> =>
  field.evaluate((input) => input.ownerDocument.activeElement === input && input.ownerDocument.hasFocus());

/**
 * Watches for an element that is about to appear. Returns how to learn whether it had the focus the moment it was there: what
 * somebody types then must not go to what had the focus before.
 */
export async function watchFocus(frame: Page | Frame, selector: string): Promise<() => Promise<boolean>> {
  await frame.evaluate(`
    window.hasFocus = new Promise((resolve) => {
      new MutationObserver((_changes, observer) => {
        const shown = document.querySelector('${selector}');
        if (!shown) return;
        observer.disconnect();
        resolve(shown.contains(document.activeElement));
      }).observe(document, { subtree: true, childList: true });
    });
    undefined;
  `);
  return () => frame.evaluate<boolean>('window.hasFocus');
}

/** CSS pixels: 1280 at 400 % zoom (WCAG 2.2, 1.4.10). */
export const NARROW = { width: 320, height: 640 };
