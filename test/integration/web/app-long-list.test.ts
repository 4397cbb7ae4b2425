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
function answersOf(names: string[]) {
  const asked: string[] = [];
  const answer = async (route: Route): Promise<void> => {
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
  return { asked, answer };
}

const namesOf = (count: number): string[] => range(count).map((n) => `file ${1_000 + n}.txt`);

/** Opens the files of a new person, whose list `answer` gives. */
async function openFiles(answer: (route: Route) => Promise<void>): Promise<Page> {
  const page = await pageOf(browser, tenant, await tenant.user(), '/jobs');
  await page.route('**/api/v1/folders/root/children?*', answer);
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Files' }).click();
  await row(page, 'file 1000').waitFor();
  return page;
}

const scrollToEnd = (page: Page): Promise<unknown> => page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
/** The page looks for changes when it is seen again. */
const look = (page: Page): Promise<unknown> => page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);

/** Where the page is scrolled to, and the name of the row with the focus. */
const positionOn = (page: Page): Promise<{ readonly top: number; readonly focused: string | undefined }> =>
  page.evaluate(`({ top: scrollY, focused: document.activeElement?.closest('tr')?.querySelector('.files-open')?.textContent })`);

test('a list of which more than ten pages are loaded keeps its place and its focus when somebody else changes it', async () => {
  const names = namesOf(3_000);
  const { asked, answer } = answersOf(names);
  const page = await openFiles(answer);
  await waitFor('12 pages', async () => {
    await scrollToEnd(page);
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
  const { asked, answer } = answersOf(namesOf(1_000));
  const held = new Map<string, () => void>();
  let isHolding = false;
  const page = await openFiles(async (route) => {
    const cursor = new URL(route.request().url()).searchParams.get('cursor') ?? '';
    if (isHolding) await new Promise<void>((resume) => held.set(cursor, resume));
    held.delete(cursor);
    await answer(route);
  });
  const isHeld = (cursor: string): Promise<boolean> =>
    waitFor(`the request behind "${cursor}"`, () => {
      // Every few seconds the page looks for changes by itself, and one request waits for the other.
      for (const [other, resume] of held) if (other !== cursor) resume();
      return held.has(cursor);
    });
  isHolding = true;
  await scrollToEnd(page);
  await isHeld('file 1199.txt');
  // A look for changes waits behind the second page.
  await look(page);
  await isHeld('');
  await scrollToEnd(page);
  await row(page, 'file 1399').waitFor();
  isHolding = false;
  held.get('')?.();
  await waitFor('the third page', async () => asked.includes('file 1399.txt'));

  expect(new Set(asked)).toEqual(new Set(['', 'file 1199.txt', 'file 1399.txt']));
});

test('what is scrolled to after a look for changes has failed is loaded when the next one succeeds', async () => {
  const { asked, answer } = answersOf(namesOf(1_000));
  let isFailing = false;
  const json = { error: 'unavailable', message: 'The storage is not available. Try again later.', request_id: 'look' };
  const page = await openFiles((route) => (isFailing ? route.fulfill({ status: 503, json }) : answer(route)));
  isFailing = true;
  await look(page);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await scrollToEnd(page);
  await row(page, 'file 1199.txt').waitFor();
  isFailing = false;
  await waitFor('the second page', async () => asked.includes('file 1199.txt'));

  expect(new Set(asked)).toEqual(new Set(['', 'file 1199.txt']));
});
