import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { pathsOf, type Person, personWith, row, select } from './file-pages.ts';

/** Files that are changed elsewhere while somebody types a new name for them. */
const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

interface Typing {
  readonly page: Page;
  readonly person: Person;
  readonly id: string;
  readonly field: Locator;
  /** How many times the page has asked for another name. */
  readonly asked: () => number;
}

/** Somebody who has typed `mine.txt` as the new name of `plan.txt`, and not yet pressed Enter. */
async function typing(): Promise<Typing> {
  const { page, person } = await personWith(browser, tenant, 'plan.txt');
  const { id } = (await person.api.get('/files')).body.data[0];
  let asked = 0;
  page.on('request', (request) => {
    if (request.method() === 'PATCH') asked += 1;
  });
  await select(page, 'plan.txt');
  await page.keyboard.press('F2');
  const field = page.getByLabel('New name of plan.txt');
  await field.fill('mine.txt');
  return { page, person, id, field, asked: () => asked };
}

async function renameElsewhere({ person, id }: Typing, name: string): Promise<void> {
  const { etag } = (await person.api.get(`/files/${id}`)).body;
  const { status } = await person.api.patch(`/files/${id}`, { name }, { headers: { 'if-match': `"${etag}"` } });
  expect(status).toBe(200);
}

/** Waits until the file has this path: its row shows a new name before the reply comes. */
const isStored = ({ person }: Typing, path: string): Promise<unknown> =>
  waitFor(`the path ${path}`, async () => (await pathsOf(person)).join() === path);

const refusal = (page: Page): Locator => page.locator('.files-rename-error');
/** What the page says once it has said or done something about the name. */
const answer = async ({ page, field }: Typing): Promise<string> => {
  await waitFor('an answer', async () => (await refusal(page).count()) > 0 || (await field.count()) === 0);
  return (await refusal(page).count()) > 0 ? refusal(page).innerText() : 'renamed';
};

test('a file of which a new version came while its name was typed gets the name that was typed', async () => {
  const shown = await typing();
  await shown.person.api.upload('/files', { name: 'plan.txt', file: Buffer.from('new'), fields: { on_conflict: 'replace' } });
  await shown.field.press('Enter');

  expect(await answer(shown)).toBe('renamed');
  await isStored(shown, '/mine.txt');
});

test('a name that somebody else has changed meanwhile is said, and the next Enter changes it all the same', async () => {
  const shown = await typing();
  await renameElsewhere(shown, 'theirs.txt');
  await shown.field.press('Enter');
  const [said, kept] = [await answer(shown), await pathsOf(shown.person)];
  await shown.field.press('Enter');
  await isStored(shown, '/mine.txt');
  await row(shown.page, 'mine.txt').waitFor();

  expect(said).toBe('It is called “theirs.txt” now. Press Enter to rename it all the same.');
  expect(kept).toEqual(['/theirs.txt']);
});

test('whoever leaves the field after that leaves the name that somebody else has given', async () => {
  const shown = await typing();
  await renameElsewhere(shown, 'theirs.txt');
  await shown.field.press('Enter');
  await answer(shown);
  await shown.page.getByRole('searchbox', { name: 'Search files' }).focus();
  await row(shown.page, 'theirs.txt').waitFor();

  expect([shown.asked(), await pathsOf(shown.person)]).toEqual([1, ['/theirs.txt']]);
});

test('the first name can be given again after somebody else has changed it', async () => {
  const shown = await typing();
  await renameElsewhere(shown, 'theirs.txt');
  await shown.field.press('Enter');
  await answer(shown);
  await shown.field.fill('plan.txt');
  await shown.field.press('Enter');

  await isStored(shown, '/plan.txt');
  await row(shown.page, 'plan.txt').waitFor();
});

test('a file that changes all the time is asked for twice with one Enter, and then the page says so', async () => {
  const shown = await typing();
  await shown.page.route(`**/api/v1/files/${shown.id}`, (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    const body = { error: 'precondition_failed', message: 'It was changed.', request_id: 'r-1' };
    return route.fulfill({ status: 412, json: body });
  });
  await shown.field.press('Enter');

  expect(await answer(shown)).toMatch(/^This was changed elsewhere meanwhile/);
  expect(shown.asked()).toBe(2);
});
