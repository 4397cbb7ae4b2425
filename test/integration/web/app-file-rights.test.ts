import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { looksOf } from '../../support/clients/list-looks.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { add, namesOn, pageOf, type Person, personWith, row, select } from './file-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

const menuOf = async (page: Page, name: string): Promise<string[]> => {
  await page.getByRole('button', { name: `Actions of ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Details' }).waitFor();
  const items = await page.getByRole('menuitem').locator('.c-menu-label').allTextContents();
  await page.keyboard.press('Escape');
  return items;
};
const buttonsOf = (page: Page): Promise<(string | null)[]> =>
  page
    .getByRole('toolbar', { name: 'Selected files' })
    .getByRole('button')
    .evaluateAll((buttons) => buttons.map((button) => button.ariaLabel ?? button.textContent));

interface Shared {
  readonly owner: Person;
  readonly reader: Person;
  readonly grant: (level: string) => Promise<unknown>;
}

/** A folder of somebody, with one file, that another person has at this level. */
async function shared(level: string, role?: string): Promise<Shared> {
  const [owner, reader] = [await tenant.user(), await tenant.user(role === undefined ? {} : { roles: [role] })];
  await add(owner, ['Plans/plan.txt']);
  const { id } = (await owner.api.get('/folders')).body.data[0];
  const grant = (permission_level: string): Promise<unknown> =>
    owner.api.post(`/folders/${id}/permissions`, { user_id: reader.user.id, permission_level });
  await grant(level);
  return { owner, reader, grant };
}

test('what somebody may only read offers no change in menus, keys and the bar, until they may change it', async () => {
  const { owner, reader, grant } = await shared('read');
  const page = await pageOf(browser, tenant, reader, '/shared');
  const ofFolder = await menuOf(page, 'Plans');
  await row(page, 'Plans').getByRole('link', { name: 'Plans' }).click();
  await page.getByRole('navigation', { name: 'Path' }).getByRole('button', { name: 'Plans' }).waitFor();
  await select(page, 'plan.txt');
  const [ofFile, bar] = [await menuOf(page, 'plan.txt'), await buttonsOf(page)];
  const uploads = await page.getByRole('button', { name: 'Upload' }).count();
  await select(page, 'plan.txt');
  await page.keyboard.press('Delete');
  await page.getByText('You may read this, but not change it').first().waitFor();
  await page.keyboard.press('F2');
  const fields = await page.getByRole('textbox', { name: 'New name of plan.txt' }).count();
  const left = (await owner.api.get('/files')).body.data.length;
  await grant('write');
  await page.reload();
  await select(page, 'plan.txt');
  await page.getByRole('button', { name: 'Upload' }).waitFor();
  await page.getByRole('toolbar', { name: 'Selected files' }).getByRole('button', { name: 'Delete' }).waitFor();
  const later = await buttonsOf(page);

  const changes = ['Rename', 'Move …', 'Cut', 'Delete', 'Share …'];
  expect([...ofFolder, ...ofFile, ...bar].filter((label) => changes.includes(label ?? ''))).toEqual([]);
  expect([ofFolder, ofFile].every((items) => items.includes('Copy …') && items.includes('Download'))).toBe(true);
  expect([uploads, fields, left]).toEqual([0, 0, 1]);
  expect(changes.slice(1, 4).every((label) => later.includes(label))).toBe(true);
});

test('what may be done with the open folder comes and goes with the rights, which costs no request while they stay', async () => {
  const { reader, grant } = await shared('read');
  const page = await pageOf(browser, tenant, reader, '/shared');
  await row(page, 'Plans').getByRole('link', { name: 'Plans' }).click();
  await row(page, 'plan.txt').waitFor();
  const [looks, ways] = [looksOf(page), [] as string[]];
  page.on('request', (request) => request.url().endsWith('/path') && ways.push(request.url()));
  const tools = [page.getByRole('button', { name: 'Upload', exact: true }), page.getByRole('button', { name: 'New folder' })];
  const shown = (isShown: boolean): Promise<void[]> =>
    Promise.all(tools.map((tool) => tool.waitFor({ state: isShown ? 'visible' : 'detached' })));
  await waitFor('a look that finds nothing', () => looks.length > 0);
  const inVain = ways.length;
  await grant('write');
  await shown(true);
  await grant('read');
  await shown(false);

  expect([inVain, ways.length]).toEqual([0, 2]);
});

test('in an empty folder the buttons come when its page is seen again', async () => {
  const [owner, reader] = [await tenant.user(), await tenant.user()];
  const { id } = (await owner.api.post('/folders', { name: 'Empty' })).body;
  const grant = (permission_level: string): Promise<unknown> =>
    owner.api.post(`/folders/${id}/permissions`, { user_id: reader.user.id, permission_level });
  await grant('read');
  const page = await pageOf(browser, tenant, reader, `/files/${id}`);
  await page.getByText('This folder is empty').waitFor();
  const before = await page.getByRole('button', { name: 'Upload', exact: true }).count();
  await grant('write');
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();

  expect(before).toBe(0);
});

test('the menus of a file and its folder offer sharing to whoever may share, not to one who may only change', async () => {
  const { reader, grant } = await shared('write');
  const page = await pageOf(browser, tenant, reader, '/shared');
  const path = page.getByRole('navigation', { name: 'Path' }).getByRole('button', { name: 'Plans' });
  const offers = async (): Promise<boolean[]> => {
    const ofFile = await menuOf(page, 'plan.txt');
    await path.click();
    await page.getByRole('menuitem', { name: 'Download' }).waitFor();
    const ofFolder = await page.getByRole('menuitem').locator('.c-menu-label').allTextContents();
    await page.keyboard.press('Escape');
    return [ofFile, ofFolder].map((items) => items.includes('Share …'));
  };
  const inList = (await menuOf(page, 'Plans')).includes('Share …');
  await row(page, 'Plans').getByRole('link', { name: 'Plans' }).click();
  await path.waitFor();
  const byWriter = await offers();
  await grant('admin');
  await page.reload();
  const byAdmin = await offers();

  expect([inList, byWriter, byAdmin]).toEqual([false, [false, false], [true, true]]);
});

test('a viewer, who may change no files at all, is offered neither change nor copy', async () => {
  const { reader } = await shared('write', 'viewer');
  const page = await pageOf(browser, tenant, reader, '/shared');
  const items = await menuOf(page, 'Plans');

  expect(items.filter((label) => ['Rename', 'Move …', 'Copy …', 'Cut', 'Delete'].includes(label))).toEqual([]);
});

test('the heading of sizes sorts the largest files first, then the smallest; folders stay first', async () => {
  const { page, person } = await personWith(browser, tenant, 'Zoo/', 'Atlas/');
  for (const [name, size] of Object.entries({ small: 10, large: 3_000, middle: 200 }))
    await person.api.upload('/files', { name, file: Buffer.alloc(size) });
  await row(page, 'middle').waitFor();
  const heading = page.getByRole('columnheader', { name: 'Size' });
  const order = async (expected: string, how: string): Promise<void> => {
    await heading.getByRole('button').click();
    await waitFor(`the order ${expected}`, async () => (await namesOn(page)).join() === expected);
    expect(await heading.getAttribute('aria-sort')).toBe(how);
  };

  await order('Atlas,Zoo,large,middle,small', 'descending');
  await order('Atlas,Zoo,small,middle,large', 'ascending');
});
