import type { Locator, Page } from 'playwright-core';
import type { TestBrowser } from '../../support/clients/chromium.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { openSignedIn } from './app-pages.ts';

export type Person = Awaited<ReturnType<TestTenant['user']>>;

/** Makes files (`folder/name` in a folder), each with its path as its content. A path that ends in a slash is a folder alone. */
export async function add({ api }: Person, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const [folder, name] = path.includes('/') ? path.split('/') : [undefined, path];
    const made = folder && (await api.post('/folders', { name: folder, on_conflict: 'reuse' })).body;
    if (name) await api.upload('/files', { name, file: Buffer.from(path), fields: made ? { folder_id: made.id } : {} });
  }
}

/** A person with these files, and a page on which they are signed in. */
export async function personWith(
  browser: TestBrowser,
  tenant: TestTenant,
  ...paths: string[]
): Promise<{ person: Person; page: Page }> {
  const person = await tenant.user();
  await add(person, paths);
  return { person, page: await pageOf(browser, tenant, person) };
}

export const pageOf = (browser: TestBrowser, tenant: TestTenant, { user, password }: Person, path = '/'): Promise<Page> =>
  openSignedIn(browser, tenant, { email: user.email, password }, path);

export const row = (page: Page, name: string): Locator => page.getByRole('row', { name: new RegExp(name) });

/** Clicks the last cell of a row, beside its button: that selects. */
export const select = (page: Page, name: string, modifiers: ('Shift' | 'ControlOrMeta')[] = []): Promise<void> =>
  row(page, name)
    .getByRole('gridcell')
    .last()
    .click({ modifiers, position: { x: 2, y: 2 } });

export const toolbar = (page: Page, name: string): Locator =>
  page.getByRole('toolbar', { name: 'Selected files' }).getByRole('button', { name, exact: true });

export const namesOn = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('[role=rowheader] .files-open')].map((name) => name.textContent)`);

/** The paths of all of somebody's files, in order. */
export const pathsOf = async ({ api }: Person): Promise<string[]> =>
  (await api.get('/files', { query: { limit: 200 } })).body.data.map(({ path }: { path: string }) => path).sort();
