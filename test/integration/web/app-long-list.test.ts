import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
import { namesOn, pageOf, row, select } from './file-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const PAGE = 200;

const fileOf = (name: string) => ({
  type: 'file',
  id: name,
  name,
  path: `/${name}`,
  owner: { id: 'ada', name: 'Ada' },
  access: 'admin',
  updated_at: '2026-03-04T12:00:00Z',
  size: 1,
  mime_type: 'text/plain',
  version: 1,
  etag: '1',
  folder: null,
  uploaded_by: null,
});

/** Answers as the API does for a folder with these files, whatever becomes of them; `asked` are the cursors. */
function answersOf(names: string[], asked: string[]) {
  return async (route: Route): Promise<void> => {
    const cursor = new URL(route.request().url()).searchParams.get('cursor') ?? '';
    asked.push(cursor);
    const behind = names.toSorted().filter((name) => name > cursor);
    const shown = behind.slice(0, PAGE);
    const etag = `"${Buffer.from(shown.join()).toString('base64url').slice(-60)}-${shown.length}-${shown[0]}"`;
    if (route.request().headers()['if-none-match'] === etag) return route.fulfill({ status: 304 });
    const isMore = behind.length > PAGE;
    const pagination = { has_more: isMore, next_cursor: isMore ? shown.at(-1) : null };
    return route.fulfill({ headers: { etag }, json: { data: shown.map(fileOf), pagination } });
  };
}

/** Where the page is scrolled to, and the name of the row with the focus. */
const positionOn = (page: Page): Promise<{ readonly top: number; readonly focused: string | undefined }> =>
  page.evaluate(`({ top: scrollY, focused: document.activeElement?.closest('tr')?.querySelector('.files-open')?.textContent })`);

test('a list of which more than ten pages are loaded keeps its place and its focus when somebody else changes it', async () => {
  const person = await tenant.user();
  const page = await pageOf(browser, tenant, person, '/jobs');
  const names = range(3_000).map((n) => `file ${1_000 + n}.txt`);
  const asked: string[] = [];
  await page.route('**/api/v1/folders/root/children?*', answersOf(names, asked));
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Files' }).click();
  await row(page, 'file 1000').waitFor();
  await waitFor('12 pages', async () => {
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    return new Set(asked).size >= 12;
  });
  const shown = await waitFor('their rows', async () => {
    const now = await namesOn(page);
    return (now[0] ?? '') > 'file 3000.txt' && now;
  });
  const name = shown[Math.floor(shown.length / 2)] ?? '';
  await select(page, name.replace('.', '\\.'));
  const before = await positionOn(page);
  names.push(name.replace('.txt', ' a new one.txt'), 'file 0999.txt');
  await row(page, 'a new one').waitFor();
  const after = await positionOn(page);
  const rows = Number(await page.getByRole('grid').getAttribute('aria-rowcount'));

  expect(before.focused).toBe(name);
  expect(after).toEqual(before);
  expect(rows).toBe(-1);
  expect((await namesOn(page)).indexOf(name)).toBeGreaterThan(0);
});

test('what is scrolled to while a look for changes runs is loaded after it, without another scroll', async () => {
  const person = await tenant.user();
  const page = await pageOf(browser, tenant, person, '/jobs');
  const asked: string[] = [];
  const answer = answersOf(
    range(1_000).map((n) => `file ${1_000 + n}.txt`),
    asked,
  );
  const held: (() => void)[] = [];
  let isHolding = false;
  await page.route('**/api/v1/folders/root/children?*', async (route) => {
    if (isHolding) await new Promise<void>((resume) => held.push(resume));
    await answer(route);
  });
  const holding = (count: number) => waitFor(`${count} requests that wait`, async () => held.length === count);
  const scroll = (): Promise<unknown> => page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Files' }).click();
  await row(page, 'file 1000').waitFor();
  isHolding = true;
  await scroll();
  await holding(1);
  // A look for changes waits behind the second page.
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  held[0]?.();
  await holding(2);
  await scroll();
  await row(page, 'file 1399').waitFor();
  isHolding = false;
  held[1]?.();
  await waitFor('the third page', async () => asked.includes('file 1399.txt'));

  expect(new Set(asked)).toEqual(new Set(['', 'file 1199.txt', 'file 1399.txt']));
});

test('what is scrolled to after a look for changes has failed is loaded when the next one succeeds', async () => {
  const person = await tenant.user();
  const page = await pageOf(browser, tenant, person, '/jobs');
  const asked: string[] = [];
  const answer = answersOf(
    range(1_000).map((n) => `file ${1_000 + n}.txt`),
    asked,
  );
  let isFailing = false;
  const json = { error: { code: 'unavailable', message: 'The storage is not available. Try again later.' } };
  await page.route('**/api/v1/folders/root/children?*', (route) =>
    isFailing ? route.fulfill({ status: 503, json }) : answer(route),
  );
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Files' }).click();
  await row(page, 'file 1000').waitFor();
  isFailing = true;
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  await row(page, 'file 1199.txt').waitFor();
  isFailing = false;
  await waitFor('the second page', async () => asked.includes('file 1199.txt'));

  expect(new Set(asked)).toEqual(new Set(['', 'file 1199.txt']));
});
