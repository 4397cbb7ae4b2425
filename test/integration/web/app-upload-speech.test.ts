import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page, Route } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { listen } from '../../support/clients/spoken.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
import { openSignedIn } from './app-pages.ts';

/** Bytes of the largest file that the tenant takes. Files of twice as many are still sent without reports of their progress. */
const LARGEST = 100_000;

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([
    startTenant({ name: 'Biology', maxUploadBytes: LARGEST }),
    openBrowser('third-party blocked'),
  ]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

type Person = Awaited<ReturnType<TestTenant['user']>>;

interface Shown {
  readonly page: Page;
  readonly panel: Locator;
  readonly spoken: () => Promise<string[]>;
  /** Requests with a file that nobody has answered yet. */
  readonly held: Route[];
}

/** The files of a person, and what a screen reader says there from now on. Each file waits until the test releases it. */
async function filesOf({ user, password }: Person): Promise<Shown> {
  const page = await openSignedIn(browser, tenant, { email: user.email, password });
  const held: Route[] = [];
  await page.route('**/api/v1/files', (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    held.push(route);
    return undefined;
  });
  await page.evaluate('window.showOpenFilePicker = undefined');
  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  return { page, panel: page.getByRole('region', { name: 'Uploads' }), spoken: await listen(page), held };
}

async function choose(page: Page, ...files: { readonly name: string; readonly size: number }[]): Promise<void> {
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('menuitem', { name: 'Upload files' }).click(),
  ]);
  await chooser.setFiles(files.map(({ name, size }) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(size, 'a') })));
}

/** The file of a request that waits. */
function nameIn(route: Route): string {
  return /filename="([^"]*)"/.exec(route.request().postDataBuffer()?.toString('latin1') ?? '')?.[1] ?? '';
}

async function release(held: Route[], name: string): Promise<void> {
  const route = await waitFor(`the request with ${name}`, () => held.find((one) => nameIn(one) === name));
  held.splice(held.indexOf(route), 1);
  await route.continue();
}

/** Waits for the last sentence, and returns all of them. */
const until = (spoken: Shown['spoken'], last: string): Promise<string[]> =>
  waitFor(`“${last}” to be said`, async () => {
    const said = await spoken();
    return said.at(-1) === last && said;
  });

test('while files are uploaded a screen reader says the start, each quarter and the end, and nothing else', async () => {
  const { page, panel, spoken, held } = await filesOf(await tenant.user());
  await choose(page, ...range(4).map((n) => ({ name: `${n}.txt`, size: 10 })));
  for (const n of range(4)) {
    await release(held, `${n}.txt`);
    if (n < 3) await panel.getByText(`${n + 1} of 4`).waitFor();
  }

  expect(await until(spoken, '4 files uploaded.')).toEqual([
    'Upload of 4 files has started.',
    '25 percent uploaded.',
    '50 percent uploaded.',
    '75 percent uploaded.',
    '4 files uploaded.',
  ]);
});

test('a screen reader says what the person has to decide, the first failure, and all of them at the end', async () => {
  const person = await tenant.user();
  await person.api.upload('/files', { name: 'taken.txt', file: Buffer.from('first') });
  const { page, panel, spoken, held } = await filesOf(person);
  await choose(page, { name: 'good.txt', size: 10 }, { name: 'taken.txt', size: 10 }, { name: 'large.txt', size: 2 * LARGEST });
  await release(held, 'taken.txt');
  await panel.getByText('1 file has a name that is taken.').waitFor();
  await release(held, 'large.txt');
  await panel.getByText('1 file could not be uploaded').first().waitFor();
  await release(held, 'good.txt');
  await panel.getByText('1 of 3').waitFor();
  await panel.getByRole('button', { name: 'Keep both', exact: true }).click();
  await release(held, 'taken.txt');

  expect(await until(spoken, '2 files uploaded. 1 file could not be uploaded.')).toEqual([
    'Upload of 3 files has started.',
    'Some names are taken. The list of uploads asks what to do.',
    '1 file could not be uploaded.',
    '75 percent uploaded.',
    '2 files uploaded. 1 file could not be uploaded.',
  ]);
});

test('a screen reader says why uploads have stopped, once for all files', async () => {
  const { page, panel, spoken, held } = await filesOf(await tenant.user({ storage_quota: 1 }));
  await choose(page, { name: 'a.txt', size: 10 }, { name: 'b.txt', size: 10 });
  await release(held, 'a.txt');
  await release(held, 'b.txt');
  await panel.getByText('The storage is full.').waitFor();

  const last = 'Uploads have stopped: The storage is full. Delete something for ever, or ask your administrator for more.';
  expect(await until(spoken, last)).toEqual(['Upload of 2 files has started.', last]);
});
