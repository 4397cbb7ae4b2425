import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { openSignedIn } from './app-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

/** A person with a file, and the page on which its details are shown. */
async function detailsOf(name: string, prepare: (api: Api, id: string) => Promise<unknown>) {
  const { api, user, password } = await tenant.user();
  const { body: file } = await api.upload('/files', { name, file: Buffer.from(name) });
  await prepare(api, file.id);
  const page = await openSignedIn(browser, tenant, { email: user.email, password }, '/files');
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.getByRole('button', { name: `Actions of ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Details' }).click();
  return { page, api, id: file.id as string };
}

type Api = Awaited<ReturnType<typeof tenant.user>>['api'];

const undo = (page: Page): Promise<void> =>
  page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click();

test('an attribute that was removed comes back by Undo, with its value', async () => {
  const { page, api, id } = await detailsOf('essay.txt', (own, file) =>
    own.put(`/files/${file}/metadata/course`, { value: { term: 'spring', week: 3 }, value_type: 'json' }),
  );
  const attributes = async (): Promise<unknown> => (await api.get(`/files/${id}/metadata`)).body.data;
  await page.getByRole('button', { name: 'Remove the attribute course' }).click();
  await page.getByText('The attribute course is removed').first().waitFor();
  const removed = await attributes();
  await undo(page);
  await page.getByRole('button', { name: 'Remove the attribute course' }).waitFor();

  expect([removed, await attributes()]).toEqual([
    [],
    [expect.objectContaining({ key: 'course', value: { term: 'spring', week: 3 } })],
  ]);
});

test('a tag that was removed comes back by Undo', async () => {
  const { page, api, id } = await detailsOf('notes.txt', async (own, file) => {
    const { body: tag } = await own.post('/tags', { name: 'to read' });
    return own.put(`/files/${file}/tags/${tag.id}`);
  });
  const tags = async (): Promise<string[]> =>
    (await api.get(`/files/${id}/tags`)).body.data.map(({ name }: { name: string }) => name);
  await page.getByRole('button', { name: 'Remove the tag to read' }).click();
  await page.getByText('Tag removed from 1 file').first().waitFor();
  const removed = await tags();
  await undo(page);
  await waitFor('the tag to be there again', async () => (await tags()).length === 1);
  await page.getByRole('button', { name: 'Remove the tag to read' }).waitFor();

  expect(removed).toEqual([]);
});

test('a person who was deactivated by a slip may sign in again after Undo', async () => {
  const { user } = await tenant.user();
  const page = await openSignedIn(browser, tenant, tenant.administrator, `/admin/people/${user.id}`);
  const isActive = async (): Promise<boolean> => (await tenant.admin.get(`/users/${user.id}`)).body.is_active;
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Deactivate' }).click();
  await page.getByText('can no longer sign in').first().waitFor();
  const before = await isActive();
  await undo(page);
  await waitFor('the person to be active', isActive);

  expect(before).toBe(false);
});
