import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

interface Shared {
  readonly page: Page;
  readonly dialog: Locator;
  /** What the person may do, as the dialog shows it. */
  readonly level: Locator;
  /** The same as the server has it; undefined: nothing. */
  readonly granted: () => Promise<string | undefined>;
  readonly grantId: string;
  readonly changeElsewhere: (permission_level: string) => Promise<unknown>;
}

/** The dialog of a file to which Bob has access, which he may read. */
async function shared(): Promise<Shared> {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  await tenant.admin.patch(`/users/${bob.user.id}`, { display_name: 'Bob' });
  const { id } = (await ada.api.upload('/files', { name: 'plan.txt', file: Buffer.from('x') })).body;
  const path = `/files/${id}/permissions`;
  const grantId = (await ada.api.post(path, { user_id: bob.user.id, permission_level: 'read' })).body.id;
  const page = await openSignedIn(browser, tenant, { email: ada.user.email, password: ada.password });
  await page.getByRole('button', { name: 'Actions of plan.txt' }).click();
  await page.getByRole('menuitem', { name: 'Share …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Share “plan.txt”' });
  const level = dialog.getByLabel('What Bob may do');
  await level.waitFor();
  return {
    page,
    dialog,
    level,
    granted: async () => (await ada.api.get(path)).body.data[0]?.permission_level,
    grantId,
    changeElsewhere: (permission_level) => ada.api.patch(`${path}/${grantId}`, { permission_level }),
  };
}

/** Holds the requests that change a grant, until they are let through one by one. */
async function held({ page, grantId }: Shared) {
  const waiting: (() => void)[] = [];
  const methods: string[] = [];
  await page.route(`**/permissions/${grantId}`, async (route) => {
    methods.push(route.request().method());
    const turn = Promise.withResolvers<void>();
    waiting.push(turn.resolve);
    await turn.promise;
    await route.continue();
  });
  return {
    methods,
    next: async (): Promise<void> => {
      const release = await waitFor('a request to be held', () => waiting.shift() ?? false);
      release();
    },
  };
}

test('what somebody may do is changed twice, and removed, one after the other however slow the network is', async () => {
  const share = await shared();
  const { page, dialog, level } = share;
  const requests = await held(share);
  await level.selectOption('May change');
  await level.selectOption('May share');
  await waitFor('the first change to be sent', () => requests.methods.length > 0);
  const shown = await level.inputValue();
  await requests.next();
  await requests.next();
  await waitFor('the second change to be stored', async () => (await share.granted()) === 'admin');
  await dialog.getByText('The access of Bob is changed.').waitFor();
  const kept = await level.inputValue();

  await level.selectOption('May read');
  await dialog.getByRole('button', { name: 'Actions for Bob' }).click();
  await page.getByRole('menuitem', { name: 'Remove access' }).click();
  await requests.next();
  await requests.next();
  await dialog.getByRole('button', { name: 'Undo' }).waitFor();

  expect([shown, kept]).toEqual(['admin', 'admin']);
  expect(requests.methods).toEqual(['PATCH', 'PATCH', 'PATCH', 'DELETE']);
  expect(await dialog.getByRole('alert').count()).toBe(0);
  expect(await share.granted()).toBeUndefined();
});

test('a change that is refused since somebody else made one is not said to be done, and the next one is made', async () => {
  const share = await shared();
  const { dialog, level } = share;
  await level.selectOption('May change');
  const done = dialog.getByText('The access of Bob is changed.');
  await done.waitFor();
  const requests = await held(share);
  await level.selectOption('May read');
  await waitFor('the sentence of the former change to go', async () => (await done.count()) === 0);
  await share.changeElsewhere('admin');
  await requests.next();
  await dialog.getByText('This was changed elsewhere meanwhile.').waitFor();
  const said = await done.count();
  await waitFor('the level that the other gave', async () => (await level.inputValue()) === 'admin');
  await level.selectOption('May read');
  await requests.next();
  await done.waitFor();

  expect(said).toBe(0);
  expect(await share.granted()).toBe('read');
});
