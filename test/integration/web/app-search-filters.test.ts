import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { add, namesOn, pageOf, type Person } from './file-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const filter = (page: Page, name: string): Locator => page.getByLabel(name, { exact: true });
const chosenIn = (field: Locator): Promise<string | null> => field.locator('option:checked').textContent();
const inAddress = (page: Page, name: string): string | null => new URL(page.url()).searchParams.get(name);
const shows = (page: Page, ...names: string[]): Promise<boolean> =>
  waitFor(`${names.join(', ')} alone`, async () => (await namesOn(page)).toSorted().join() === names.toSorted().join());

/** Makes a file older than it is. */
async function age({ api }: Person, name: string, days: number): Promise<void> {
  const { body } = await api.get('/files', { query: { q: name } });
  await tenant.db.query('UPDATE files SET created_at = now() - make_interval(days => $2) WHERE uuid = $1', [
    body.data[0].id,
    days,
  ]);
}

test('a search is limited to what was created within a day, a week or a month, also after a reload', async () => {
  const person = await tenant.user();
  const names = ['cells of today.txt', 'cells of this week.txt', 'cells of this month.txt', 'cells of last term.txt'];
  const [today = '', week = '', month = '', term = ''] = names;
  await add(person, names);
  await age(person, week, 3);
  await age(person, month, 20);
  await age(person, term, 100);
  const page = await pageOf(browser, tenant, person, '/search?q=cells');
  await shows(page, ...names);

  const created = filter(page, 'Created');
  await created.selectOption('Last 24 hours');
  await shows(page, today);
  const ofDay = inAddress(page, 'created');
  await created.selectOption('Last 30 days');
  await shows(page, today, week, month);
  await created.selectOption('Last 7 days');
  await shows(page, today, week);
  await page.reload();
  await shows(page, today, week);
  const kept = [inAddress(page, 'q'), inAddress(page, 'created'), await chosenIn(created)];
  await created.selectOption('Any');
  await shows(page, ...names);

  expect([ofDay, kept, inAddress(page, 'created')]).toEqual(['day', ['cells', 'week', 'Last 7 days'], null]);
});

test('a search that begins in a folder is limited to all below it, also after a reload, and goes everywhere again', async () => {
  const person = await tenant.user();
  const { api } = person;
  await add(person, ['cells.txt', 'Elsewhere/cells elsewhere.txt', 'Notes/cells in notes.txt']);
  const { data } = (await api.get('/folders', { query: { q: 'Notes' } })).body;
  const { body: below } = await api.post('/folders', { name: 'Below', parent_id: data[0].id });
  await api.upload('/files', { name: 'cells below.txt', file: Buffer.from('a'), fields: { folder_id: below.id } });
  const everything = ['cells below.txt', 'cells elsewhere.txt', 'cells in notes.txt', 'cells.txt'];
  const page = await pageOf(browser, tenant, person, `/files/${data[0].id}`);
  await shows(page, 'Below', 'cells in notes.txt');
  await page.getByRole('searchbox', { name: 'Search files' }).fill('cells');
  await shows(page, ...everything);

  const where = filter(page, 'Where');
  const before = await chosenIn(where);
  await where.selectOption('In this folder');
  await shows(page, 'cells below.txt', 'cells in notes.txt');
  await page.reload();
  await shows(page, 'cells below.txt', 'cells in notes.txt');
  const kept = [inAddress(page, 'folder'), await chosenIn(where)];
  await where.selectOption('Everywhere');
  await shows(page, ...everything);

  expect([before, kept]).toEqual(['Everywhere', [data[0].id, 'In this folder']]);
});

test('a search that begins elsewhere offers no folder to be limited to', async () => {
  const person = await tenant.user();
  await add(person, ['cells.txt']);
  const page = await pageOf(browser, tenant, person, '/search?q=cells');
  await shows(page, 'cells.txt');

  expect([await filter(page, 'Created').count(), await filter(page, 'Where').count()]).toEqual([1, 0]);
});

test('filters narrow each other, the address carries all of them to another tab, and each can be taken back alone', async () => {
  const person = await tenant.user();
  const { api } = person;
  await add(person, ['Lab/cells.txt', 'Lab/cells.png', 'Lab/old cells.txt', 'Lab/untagged cells.txt', 'cells outside.txt']);
  await age(person, 'old cells.txt', 20);
  const [{ id: lab }] = (await api.get('/folders', { query: { q: 'Lab' } })).body.data;
  const { body: tag } = await api.post('/tags', { name: 'exam' });
  for (const { id, name } of (await api.get('/files', { query: { limit: 100 } })).body.data)
    if (name !== 'untagged cells.txt') await api.put(`/files/${id}/tags/${tag.id}`);
  const page = await pageOf(browser, tenant, person, `/search?folder=${lab}&q=cells`);
  await shows(page, 'cells.png', 'cells.txt', 'cells outside.txt', 'old cells.txt', 'untagged cells.txt');

  await filter(page, 'Where').selectOption('In this folder');
  await shows(page, 'cells.png', 'cells.txt', 'old cells.txt', 'untagged cells.txt');
  await filter(page, 'Kind').selectOption('Text');
  await shows(page, 'cells.txt', 'old cells.txt', 'untagged cells.txt');
  await filter(page, 'Created').selectOption('Last 7 days');
  await shows(page, 'cells.txt', 'untagged cells.txt');
  await filter(page, 'Tag').selectOption('exam');
  await shows(page, 'cells.txt');
  const tab = await browser.page();
  await tab.goto(page.url());
  await shows(tab, 'cells.txt');
  const names = ['Where', 'Kind', 'Created', 'Tag'];
  const carried = await Promise.all(names.map((name) => chosenIn(filter(tab, name))));

  await filter(tab, 'Kind').selectOption('Any');
  await shows(tab, 'cells.png', 'cells.txt');
  await filter(tab, 'Tag').selectOption('Any');
  await shows(tab, 'cells.png', 'cells.txt', 'untagged cells.txt');
  await filter(tab, 'Created').selectOption('Any');
  await shows(tab, 'cells.png', 'cells.txt', 'old cells.txt', 'untagged cells.txt');
  await filter(tab, 'Where').selectOption('Everywhere');
  await shows(tab, 'cells.png', 'cells.txt', 'cells outside.txt', 'old cells.txt', 'untagged cells.txt');

  expect(carried).toEqual(['In this folder', 'Text', 'Last 7 days', 'exam']);
});
