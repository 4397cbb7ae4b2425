import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { QUEUES } from '../../../cmd/worker/queues.ts';
import { batch } from '../../../pkg/content/batch/batch.processor.ts';
import type { JobContext, Processor } from '../../../pkg/events/processor.ts';
import { filesOf } from '../../support/clients/batches.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { workerInProcess } from '../../support/programs/worker-in-process.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { platformSuite, platformTenant } from '../../support/suites/worker-suite.ts';
import { inParallel, range, waitFor } from '../../support/wait.ts';
import { namesOn, pageOf, type Person, row, select, toolbar } from './file-pages.ts';

/** What a page shows of a batch while it runs: its worker does as many steps as the test allows. */
const platform = platformSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

/** Steps that may still begin once a batch has done something. */
let allowed = Infinity;
let changed = Promise.withResolvers<void>();

function allow(steps: number): void {
  allowed = steps;
  changed.resolve();
  changed = Promise.withResolvers<void>();
}

async function turn({ db }: JobContext, task: string): Promise<void> {
  const [found] = await db.query<{ done: number }>('SELECT done FROM tasks WHERE uuid = $1', [task]);
  if (found === undefined || found.done === 0) return;
  for (; ; await changed.promise) {
    if (allowed < 1) continue;
    allowed -= 1;
    return;
  }
}

const stepwise: Processor = {
  job: batch.job,
  create: (services) => {
    const run = batch.create(services);
    return (context, payload) => {
      const { task } = payload as { task: string };
      const transaction: JobContext['transaction'] = async (step) => {
        await turn(context, task);
        return context.transaction(step);
      };
      return run({ ...context, transaction }, payload);
    };
  },
};

fixture(
  async () => workerInProcess(platform, { queues: QUEUES, processors: [stepwise] }),
  (worker) => worker.close(),
);

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterEach(() => allow(Infinity));
afterAll(() => browser?.close());

/** More than two steps of a batch, and more than one page of a list. */
const COUNT = 250;
const NAMES = range(COUNT).map((n) => `file ${String(n + 1).padStart(3, '0')}.txt`);

const namesIn = async ({ api }: Person, list: '/files' | '/trash'): Promise<string[]> => {
  const names: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { body } = await api.get(list, { query: { limit: 200, ...(cursor === undefined ? {} : { cursor }) } });
    names.push(...body.data.map(({ name }: { name: string }) => name));
    cursor = body.pagination.next_cursor as string | null;
  }
  return names.toSorted();
};

/** A person with 250 files, and their ids. */
async function personWithFiles(): Promise<{ person: Person; ids: string[] }> {
  const person = await tenant.user();
  const ids: string[] = [];
  await inParallel(NAMES, 10, async (name) =>
    ids.push((await person.api.upload('/files', { name, file: Buffer.from(name) })).body.id),
  );
  return { person, ids };
}

/** A person with 250 files, all of which are selected on a page. */
async function allSelected(): Promise<{ person: Person; page: Page }> {
  const { person } = await personWithFiles();
  const page = await pageOf(browser, tenant, person);
  // However slow this machine is: a message with a button stays until the test has reached it.
  await page.evaluate('{ const later = setTimeout; setTimeout = (run, ms) => later(run, ms === 12_000 ? 600_000 : ms); }');
  await select(page, NAMES[0] ?? '');
  await page.keyboard.press('ControlOrMeta+a');
  return { person, page };
}

const bar = (page: Page): Locator => page.locator('.files-batch');
const progress = (page: Page): Locator => bar(page).getByRole('progressbar', { name: 'Deleting …' });
const says = (page: Page, text: string): Promise<void> => bar(page).getByText(text, { exact: true }).waitFor();
/** How many are done, as the bar says once a step has ended. */
const doneOn = (page: Page): Promise<number> =>
  waitFor('the bar to say that some are done', async () => {
    const [, done] = /(\d+) of 250/.exec((await bar(page).textContent()) ?? '') ?? [];
    return Number(done) > 0 && Number(done);
  });

test('while many files are deleted, every page says how many of them are done, until all are', async () => {
  const { person, page } = await allSelected();
  allow(0);
  await toolbar(page, 'Delete').click();
  const first = await doneOn(page);
  const spoken = await progress(page).getAttribute('aria-valuetext');
  const value = [await progress(page).getAttribute('value'), await progress(page).getAttribute('max')];
  const inTrash = await namesIn(person, '/trash');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Recent' }).click();
  await page.getByRole('heading', { name: 'Recent' }).waitFor();
  await says(page, `${first} of 250`);
  allow(1);
  await says(page, `${2 * first} of 250`);
  allow(Infinity);
  await page.getByText('250 items moved to the trash').first().waitFor();
  await bar(page).waitFor({ state: 'detached' });

  expect([spoken, value, inTrash.length]).toEqual([`${first} of 250`, [String(first), '250'], first]);
  expect([await namesIn(person, '/trash'), await namesIn(person, '/files')]).toEqual([NAMES, []]);
});

test('a deletion that is canceled midway leaves the rest, the list shows so, and Undo brings back what went', async () => {
  const { person, page } = await allSelected();
  allow(0);
  await toolbar(page, 'Delete').click();
  const done = await doneOn(page);
  await bar(page).getByRole('button', { name: 'Cancel' }).click();
  await page.getByText(`Canceled; ${done} items were done`).first().waitFor();
  allow(Infinity);
  await waitFor(
    'the worker to be idle',
    async () => (await tenant.db.query("SELECT FROM carrel.work WHERE kind = 'tasks.batch'")).length === 0,
  );
  const rest = NAMES.slice(done);
  await row(page, rest[0] ?? '').waitFor();
  const [shown, count] = [await namesOn(page), await page.locator('.files-count').textContent()];
  const [files, inTrash] = [await namesIn(person, '/files'), await namesIn(person, '/trash')];
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText(`${done} items restored`).first().waitFor();
  await row(page, NAMES[0] ?? '').waitFor();

  expect([files, inTrash]).toEqual([rest, NAMES.slice(0, done)]);
  expect(shown).toEqual(rest.slice(0, shown.length));
  expect([count, await bar(page).count()]).toEqual([`${rest.length} items`, 0]);
  expect(await namesIn(person, '/files')).toEqual(NAMES);
});

test('the page of a job says how far it is with each step, and that it has ended, without being loaded anew', async () => {
  const { person, ids } = await personWithFiles();
  allow(0);
  const { body: job } = await person.api.post('/batch', { operation: 'delete', items: filesOf(ids) });
  const page = await pageOf(browser, tenant, person, `/jobs/${job.id}`);
  await page.evaluate('window.isSamePage = true');
  const jobBar = page.getByRole('main').getByRole('progressbar');
  const state = page.locator('.jobs-head .c-badge');
  const shown = async (words: string): Promise<(string | null)[]> => {
    await page.getByRole('main').getByText(words, { exact: true }).waitFor();
    return [await jobBar.getAttribute('value'), await jobBar.getAttribute('max'), await state.textContent()];
  };
  const first = await shown('100 of 250 items');
  const name = await jobBar.getAttribute('aria-label');
  allow(1);
  const second = await shown('200 of 250 items');
  allow(Infinity);
  await page.getByRole('main').getByText('250 of 250 items', { exact: true }).waitFor();
  await jobBar.waitFor({ state: 'detached' });
  await waitFor('the job to have ended', async () => (await state.textContent()) === 'Done');

  expect(name).toMatch(/^Move “file \d{3}\.txt” and 249 more to the trash$/);
  expect([first, second]).toEqual([
    ['100', '250', 'Running'],
    ['200', '250', 'Running'],
  ]);
  expect([await page.evaluate('window.isSamePage'), await namesIn(person, '/trash')]).toEqual([true, NAMES]);
});
