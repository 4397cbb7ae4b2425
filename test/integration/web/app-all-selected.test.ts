import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { range, waitFor } from '../../support/wait.ts';
import { add, namesOn, pageOf, pathsOf, personWith, row, select } from './file-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

/** More than a page of the list holds. */
const LONG = range(205).map((n) => `file ${n + 100}.txt`);

const selectAll = async (page: Page, name: string): Promise<void> => {
  await select(page, name);
  await page.keyboard.press('ControlOrMeta+a');
  await page.getByRole('toolbar', { name: 'Selected files' }).waitFor();
};
const undo = (page: Page): Promise<void> =>
  page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click();
const intoRoot = (page: Page): Promise<void> =>
  page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'My files' }).click();

test('of a long list the menu of a row, a right click and a drag are for all that is selected, loaded or not', async () => {
  const person = await tenant.user();
  const { body: long } = await person.api.post('/folders', { name: 'Long' });
  for (let from = 0; from < LONG.length; from += 30)
    await Promise.all(
      LONG.slice(from, from + 30).map((name) =>
        person.api.upload('/files', { name, file: Buffer.from(name), fields: { folder_id: long.id } }),
      ),
    );
  const page = await pageOf(browser, tenant, person, `/files/${long.id}`);
  await selectAll(page, 'file 101.txt');
  await page.getByText('All selected').first().waitFor();
  await page.getByRole('button', { name: 'Actions of file 101.txt' }).click();
  const offersOne = await page.getByRole('menuitem', { name: 'Rename' }).count();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByText('205 items moved to the trash').first().waitFor();
  await undo(page);
  await page.getByText('205 items restored').first().waitFor();
  await page.reload();

  await selectAll(page, 'file 101.txt');
  await row(page, 'file 102.txt').dragTo(page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'My files' }));
  await page.getByText('Drop: all selected items move to My files').first().waitFor({ state: 'attached' });
  await page.getByText('205 items moved').first().waitFor();
  await undo(page);
  await page.getByText('205 items are back where they were').first().waitFor();
  await page.reload();

  // The rest of the list comes when somebody has left it.
  const { promise: isLeft, resolve: left } = Promise.withResolvers<void>();
  await page.route(/cursor=/, async (route) => {
    await isLeft;
    await route.continue();
  });
  await selectAll(page, 'file 101.txt');
  await row(page, 'file 103.txt').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Cut' }).click();
  await intoRoot(page);
  await row(page, 'Long').waitFor();
  left();
  await page.getByText('205 items cut').first().waitFor();
  await row(page, 'Long')
    .getByRole('gridcell')
    .last()
    .click({ position: { x: 2, y: 2 } });
  await page.keyboard.press('ControlOrMeta+v');
  await page.getByText('205 items moved').first().waitFor();

  const children = (await person.api.get(`/folders/${long.id}/children`)).body.data;
  expect([offersOne, children]).toEqual([0, []]);
});

test('among pictures the menus and a drag are for all that is selected, except what was taken out of it', async () => {
  const person = await tenant.user();
  await add(person, ['In/one.txt', 'In/three.txt', 'In/two.txt', 'In/There.txt']);
  const { body } = await person.api.get('/folders');
  const page = await pageOf(browser, tenant, person, `/files/${body.data[0].id}`);
  await page.getByRole('button', { name: 'Pictures', exact: true }).click();
  await page.getByRole('gridcell').first().focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.getByRole('checkbox', { name: 'Select three.txt' }).uncheck();
  await page.getByText('3 selected').first().waitFor();
  await page.getByRole('button', { name: 'Actions of one.txt' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByText('3 items moved to the trash').first().waitFor();
  const left = await pathsOf(person);
  await undo(page);
  await page.getByText('3 items restored').first().waitFor();
  await row(page, 'one.txt').waitFor();

  await page.getByRole('gridcell').first().focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.getByText('4 selected').first().waitFor();
  await row(page, 'two.txt').dragTo(page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'My files' }));
  await page.getByText('4 items moved').first().waitFor();
  await page.evaluate('localStorage.clear()');

  expect([left, await pathsOf(person)]).toEqual([['/In/three.txt'], ['/There.txt', '/one.txt', '/three.txt', '/two.txt']]);
});

test('what is taken out of “All selected” is alone in its own menu', async () => {
  const { page, person } = await personWith(browser, tenant, 'one.txt', 'three.txt', 'two.txt');
  await selectAll(page, 'one.txt');
  await page.getByRole('checkbox', { name: 'Select two.txt' }).uncheck();
  await page.getByText('2 selected').first().waitFor();
  await page.getByRole('button', { name: 'Actions of two.txt' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByText('1 item moved to the trash').first().waitFor();
  await waitFor('the others alone', async () => (await namesOn(page)).join() === 'one.txt,three.txt');

  expect(await pathsOf(person)).toEqual(['/one.txt', '/three.txt']);
});
