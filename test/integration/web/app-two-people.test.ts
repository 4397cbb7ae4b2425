import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { batchEnd } from '../../support/clients/batches.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { isLook, looksOf, vainLooksUntil } from '../../support/clients/list-looks.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { openSignedIn, openSignedOut, signIn } from './app-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
/** Each person has a browser of their own. */
let first: TestBrowser;
let second: TestBrowser;

beforeAll(async () => {
  first = await openBrowser('third-party blocked');
  second = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => Promise.all([first?.close(), second?.close()]));

type Person = Awaited<ReturnType<typeof tenant.user>>;

const credentials = ({ user, password }: Person) => ({ email: user.email, password });

/** A person with a folder that has these files, and a folder `Below`. */
async function folderOf(person: Person, ...names: string[]): Promise<string> {
  const { body: folder } = await person.api.post('/folders', { name: 'Common' });
  await person.api.post('/folders', { name: 'Below', parent_id: folder.id });
  for (const name of names)
    await person.api.upload('/files', { name, file: Buffer.from(name), fields: { folder_id: folder.id } });
  return folder.id;
}

const row = (page: Page, name: string): Locator => page.getByRole('row', { name: new RegExp(name) });
/** A click beside a name selects its row. */
const select = (page: Page, name: string): Promise<void> =>
  row(page, name)
    .getByRole('gridcell')
    .last()
    .click({ position: { x: 2, y: 2 } });

test('a folder that nobody changes costs one request in 4 s, and each is a 304', async () => {
  const ada = await tenant.user();
  const folder = await folderOf(ada, 'first.txt');
  const page = await openSignedIn(first, tenant, credentials(ada), `/files/${folder}`);
  await row(page, 'first.txt').waitFor();
  const looks = looksOf(page);

  const five = await waitFor('five looks', () => looks.length >= 5 && looks.slice(0, 5));

  expect(looks.map(({ status }) => status)).toEqual(looks.map(() => 304));
  // A machine that stands still for a moment delays one answer, which makes one time longer and perhaps one shorter.
  const times = five.slice(1).map(({ at }, before) => at - (five[before]?.at ?? 0));
  const [, period] = times.toSorted((a, b) => a - b);
  expect(period).toBeGreaterThan(3_000);
  // The rest of the 5 s within which a change shows is for the request itself.
  expect(period).toBeLessThan(4_800);
});

test('what somebody else adds, renames, deletes and moves shows with the next look, which is read once', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const folder = await folderOf(ada, 'first.txt', 'second.txt', 'third.txt');
  await ada.api.post(`/folders/${folder}/permissions`, { user_id: bob.user.id, permission_level: 'admin' });
  const page = await openSignedIn(first, tenant, credentials(ada), `/files/${folder}`);
  await row(page, 'third.txt').waitFor();
  const looks = looksOf(page);
  const theirs = await openSignedIn(second, tenant, credentials(bob), `/files/${folder}`);
  await row(theirs, 'third.txt').waitFor();
  const vainLooks = (names: string): Promise<number> => vainLooksUntil(page, looks, names);

  await theirs.evaluate('window.showOpenFilePicker = undefined');
  await theirs.getByRole('button', { name: 'Upload', exact: true }).click();
  const [chooser] = await Promise.all([
    theirs.waitForEvent('filechooser'),
    theirs.getByRole('menuitem', { name: 'Upload files' }).click(),
  ]);
  await chooser.setFiles({ name: 'new.txt', mimeType: 'text/plain', buffer: Buffer.from('new') });
  await theirs.getByText('1 file uploaded').first().waitFor();
  const added = await vainLooks('Below,first.txt,new.txt,second.txt,third.txt');

  await row(theirs, 'new.txt').waitFor();
  await select(theirs, 'first.txt');
  await theirs.keyboard.press('F2');
  await theirs.keyboard.type('zebra');
  await theirs.keyboard.press('Enter');
  await waitFor('the focus to return to the new name', () =>
    theirs.evaluate(`document.activeElement.textContent === 'zebra.txt'`),
  );
  const renamed = await vainLooks('Below,new.txt,second.txt,third.txt,zebra.txt');

  await select(theirs, 'second.txt');
  await theirs.keyboard.press('Delete');
  await theirs.getByText('1 item moved to the trash').first().waitFor();
  const deleted = await vainLooks('Below,new.txt,third.txt,zebra.txt');

  await select(theirs, 'third.txt');
  await theirs.keyboard.press('ControlOrMeta+x');
  await select(theirs, 'Below');
  await theirs.keyboard.press('Enter');
  await theirs.getByText('This folder is empty').waitFor();
  await theirs.keyboard.press('ControlOrMeta+v');
  await theirs.getByText('1 item moved', { exact: true }).first().waitFor();
  const moved = await vainLooks('Below,new.txt,zebra.txt');

  expect([added, renamed, deleted, moved]).toEqual([0, 0, 0, 0]);
  // Bob's changes are four, and nothing else changed what the page shows.
  expect(looks.filter(({ status }) => status !== 304).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

/** The looks that the page would take, so that a test takes them when it wants. */
const HOLD_LOOKS = `{
  const { setInterval } = window;
  window.looks = [];
  window.setInterval = (run, ms, ...rest) => {
    if (ms === 4_000) window.looks.push(run);
    return setInterval(run, ms, ...rest);
  };
  Object.defineProperty(document, 'visibilityState', { get: () => (window.isBehind ? 'hidden' : 'visible') });
}`;

test('a page in the background asks for nothing, and looks as soon as it is seen again', async () => {
  const ada = await tenant.user();
  const folder = await folderOf(ada, 'first.txt');
  const page = await openSignedOut(first, tenant, `/files/${folder}`);
  await page.addInitScript(HOLD_LOOKS);
  await page.reload();
  await signIn(page, credentials(ada));
  await row(page, 'first.txt').waitFor();
  const asked: string[] = [];
  page.on('request', (request) => {
    if (isLook(request.url())) asked.push(request.url());
  });
  const turn = (isBehind: boolean): string =>
    `window.isBehind = ${isBehind}; document.dispatchEvent(new Event('visibilitychange'));`;
  await page.evaluate(turn(true));
  asked.length = 0;
  // Whatever a look would have asked for is asked for before this.
  await page.evaluate(`for (const look of window.looks) look(); fetch('/api/v1/openapi.json', { method: 'HEAD' })`);
  const [looks, behind] = [await page.evaluate<number>('window.looks.length'), asked.length];

  await page.evaluate(turn(false));
  await waitFor('a look', () => asked.length > 0);

  expect(looks).toBeGreaterThan(0);
  expect(behind).toBe(0);
});

test('a list of jobs in which nothing changes is a 304 too', async () => {
  const ada = await tenant.user();
  const { body: file } = await ada.api.upload('/files', { name: 'gone.txt', file: Buffer.from('x') });
  await batchEnd(ada.api, { operation: 'delete', items: [{ type: 'file', id: file.id }] });
  const page = await openSignedIn(first, tenant, credentials(ada), '/jobs');
  await page.getByRole('main').getByRole('listitem').first().waitFor();

  const [reply] = await Promise.all([
    page.waitForResponse((one) => one.url().includes('/api/v1/jobs?')),
    page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`),
  ]);

  expect(reply.status()).toBe(304);
  await page.getByRole('main').getByRole('listitem').first().waitFor();
});
