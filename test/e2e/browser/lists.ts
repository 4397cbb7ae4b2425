import type { Locator, Page } from 'playwright-core';
import type { TestBrowser } from '../../support/clients/chromium.ts';
import type { DemoTenant } from '../../support/programs/demo-tenant.ts';
import { waitFor } from '../../support/wait.ts';
import { addPerson, openAs } from './app.ts';

export type Api = DemoTenant['admin'];

/** Uploads a file, whose content is its name unless it is given. Returns its id. */
export async function put(api: Api, name: string, file: Buffer = Buffer.from(name), folder?: string): Promise<string> {
  const fields = folder === undefined ? {} : { folder_id: folder };
  return (await api.upload('/files', { name, file, fields })).body.id;
}

/** A person with these files (`folder/name` in a folder; `folder/` alone), and a page on which they are signed in. */
export async function personWith(
  browser: TestBrowser,
  tenant: DemoTenant,
  name: string,
  ...paths: string[]
): Promise<{ readonly api: Api; readonly page: Page }> {
  const person = await addPerson(tenant, name);
  const api = await tenant.anonymous.login(person.email, person.password);
  for (const path of paths) {
    const [folder, file] = path.includes('/') ? path.split('/') : [undefined, path];
    const made = folder && (await api.post('/folders', { name: folder, on_conflict: 'reuse' })).body.id;
    if (file) await put(api, file, Buffer.from(file), made);
  }
  return { api, page: await openAs(browser, tenant, person) };
}

export const row = (page: Page, name: string): Locator => page.getByRole('row', { name });

export const namesOn = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('[role=rowheader] .files-open')].map((name) => name.textContent)`);

/** Waits until a list has these names alone, in this order. */
export const listed = (page: Page, ...names: string[]): Promise<boolean> =>
  waitFor(`the list ${names.join()}`, async () => (await namesOn(page)).join() === names.join());

/** Waits for a message, which is shown for some seconds. */
export const said = (page: Page, text: string): Promise<void> =>
  page.getByRole('region', { name: 'Notifications' }).getByText(text).first().waitFor();
