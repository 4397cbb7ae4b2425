import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { syncHelpers } from '../../../pkg/helper-services/managed-helpers.ts';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { zipBytes } from '../../support/data/zip-bytes.ts';
import { whileHeld } from '../../support/fakes/held-changes.ts';
import { startHelper, type TestHelper } from '../../support/fakes/helpers/helper.ts';
import { pdf } from '../../support/fakes/helpers/pdf.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { range, waitFor } from '../../support/wait.ts';
import { NARROW, openSignedIn } from './app-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
const helper: TestHelper = fixture(startHelper, (running) => running.close());
let browser: TestBrowser;
/** Ends what a test holds back at the helper. */
let release = (): void => undefined;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
  // The server asks a helper for its languages once a minute.
  helper.languages = ['es', 'fr'];
  await configure('translate', 'pdf_optimize');
}, 180_000);

afterEach(() => release());
afterAll(() => browser?.close());

type Person = Awaited<ReturnType<typeof tenant.user>>;
type Kind = 'translate' | 'pdf_optimize' | 'pdf_translate';

/** Names the tenant's helpers, as the operator does. */
const configure = (...kinds: Kind[]): Promise<void> =>
  syncHelpers(
    tenant.rows,
    kinds.map((kind) => ({ kind, url: helper.url, token: 'a-token' })),
  );

const pageOf = ({ user, password }: Person, path = '/'): Promise<Page> =>
  openSignedIn(browser, tenant, { email: user.email, password }, path);

const upload = async ({ api }: Person, name: string, file: Buffer, type: string): Promise<string> =>
  (await api.upload('/files', { name, file, type })).body.id;

const ARCHIVE = zipBytes(range(3).map((n) => ({ name: `week ${n}/plan.txt`, content: `Plan ${n}.` })));

/** Opens the menu of a file and chooses a command. */
async function choose(page: Page, name: string, command: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of ${name}` }).click();
  await page.getByRole('menuitem', { name: command }).click();
}

test('an archive is unpacked into a new folder beside it, and its job leads there', async () => {
  const person = await tenant.user();
  await upload(person, 'course.zip', ARCHIVE, 'application/zip');
  const page = await pageOf(person);
  await choose(page, 'course.zip', 'Unpack here …');
  await page.getByRole('dialog', { name: 'Unpack “course.zip”' }).getByRole('button', { name: 'Unpack' }).click();
  await page.getByText('“course.zip” is unpacked: 3 files.').waitFor();

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Jobs' }).click();
  await page.getByRole('link', { name: 'Unpack “course.zip”' }).click();
  await page.getByRole('link', { name: 'week 2/plan.txt' }).waitFor();
  await page.getByRole('link', { name: 'Open folder' }).click();
  await page.getByRole('row', { name: /week 0/ }).waitFor();

  const { body } = await person.api.get('/files', { query: { q: 'plan' } });
  expect(body.data.map(({ path }: { path: string }) => path).toSorted()).toEqual(
    range(3).map((n) => `/course/week ${n}/plan.txt`),
  );
});

test('an archive that is unpacked again gets another new folder', async () => {
  const person = await tenant.user();
  await upload(person, 'course.zip', ARCHIVE, 'application/zip');
  await person.api.post('/folders', { name: 'course' });
  const page = await pageOf(person);
  await choose(page, 'course.zip', 'Unpack here …');
  await page.getByRole('dialog', { name: 'Unpack “course.zip”' }).getByRole('button', { name: 'Unpack' }).click();
  await page.getByText('“course.zip” is unpacked: 3 files.').waitFor();

  const { body } = await person.api.get('/files', { query: { q: 'plan' } });
  expect(body.data.map(({ path }: { path: string }) => path).toSorted()).toEqual(
    range(3).map((n) => `/course (1)/week ${n}/plan.txt`),
  );
});

test('a job shows why items failed, and those of one reason are retried once it is mended', async () => {
  const person = await tenant.user();
  const ids = await Promise.all(range(3).map((n) => upload(person, `${n}.txt`, Buffer.from('a'), 'text/plain')));
  const { body: folder } = await person.api.post('/folders', { name: 'There' });
  for (const n of [0, 1])
    await person.api.upload('/files', { name: `${n}.txt`, file: Buffer.from('b'), fields: { folder_id: folder.id } });
  const items = ids.map((id) => ({ type: 'file', id }));
  const { body: job } = await person.api.post('/batch', { operation: 'move', items, arguments: { folder_id: folder.id } });
  const page = await pageOf(person, `/jobs/${job.id}`);
  const reasons = page.getByRole('region', { name: 'Why items failed' });
  await reasons.getByText('name_conflict').waitFor();
  const shown = await reasons.getByRole('listitem').allInnerTexts();
  const { body: taken } = await person.api.get(`/folders/${folder.id}/children`);
  for (const { id, name } of taken.data) if (name === '0.txt') await person.api.delete(`/files/${id}`);

  await reasons.getByRole('button', { name: /^Retry/ }).click();
  await page.getByRole('link', { name: 'an earlier job' }).waitFor();
  await reasons.getByText('name_conflict').waitFor();

  expect(shown.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([expect.stringMatching(/^2 .*name_conflict/)]);
  await page.getByText('2 of 2 items, 1 failed').waitFor();
});

test('a job that runs shows how far it is, and what it has not done is not done after a cancel', async () => {
  const person = await tenant.user();
  const id = await upload(person, 'held.pdf', pdf({ padding: 50_000 }), 'application/pdf');
  release = helper.hold();
  const { body: job } = await person.api.post(`/files/${id}/optimize`, {});
  const page = await pageOf(person, '/jobs');
  await page.getByRole('link', { name: 'Optimise “held.pdf”' }).click();
  await page.locator('.c-badge').getByText('Running', { exact: true }).waitFor();
  await page.getByRole('progressbar', { name: 'Optimise “held.pdf”' }).waitFor();

  const asked = page.waitForResponse((reply) => reply.url().endsWith('/cancel'));
  await page.getByRole('button', { name: 'Cancel job' }).click();
  const question = page.getByRole('alertdialog', { name: 'Cancel this job?' });
  await question.getByRole('button', { name: 'Let it go on' }).last().click();
  await question.waitFor({ state: 'detached' });
  const before = (await person.api.get(`/jobs/${job.id}`)).body.state;
  await page.getByRole('button', { name: 'Cancel job' }).click();
  await question.getByRole('button', { name: 'Cancel job' }).click();
  await asked;
  release();
  await page.getByText('Canceled', { exact: true }).waitFor();

  const { body } = await person.api.get(`/jobs/${job.id}`);
  await page.getByRole('button', { name: 'Cancel job' }).waitFor({ state: 'detached' });
  expect([before, body.state]).toEqual(['running', 'canceled']);
});

test('an item of a job that has not begun is called by its kind, and by its name once the job has', async () => {
  const person = await tenant.user();
  const id = await upload(person, 'later.txt', Buffer.from('a'), 'text/plain');
  const page = await whileHeld(tenant, { table: 'task_items', row: "NEW.target_name <> ''" }, async () => {
    await person.api.post('/batch', { operation: 'delete', items: [{ type: 'file', id }] });
    const shown = await pageOf(person, '/jobs');
    await shown.getByRole('link', { name: 'Move to the trash' }).click();
    await shown.getByRole('region', { name: 'Items' }).getByText('File', { exact: true }).waitFor();
    return shown;
  });

  await page.getByRole('region', { name: 'Items' }).getByText('later.txt', { exact: true }).waitFor();
});

test('items that take long to load are shown, although the list is looked at again meanwhile', async () => {
  const person = await tenant.user();
  const id = await upload(person, 'slow.pdf', pdf({ padding: 50_000 }), 'application/pdf');
  release = helper.hold();
  const { body: job } = await person.api.post(`/files/${id}/optimize`, {});
  const page = await pageOf(person, '/jobs');
  const asked: Route[] = [];
  await page.route(`**/jobs/${job.id}/items?*`, (route) => void asked.push(route));
  await page.getByRole('link', { name: 'Optimise “slow.pdf”' }).click();
  await page.locator('.c-badge').getByText('Running', { exact: true }).waitFor();
  const first = await waitFor('the request for the items', () => asked[0]);

  // Whatever a look would have asked for is asked for before the last of these.
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange')); fetch('/api/v1/openapi.json', { method: 'HEAD' })`);
  const { length } = asked;
  await first.continue();
  await page.getByRole('region', { name: 'Items' }).getByText('slow.pdf').waitFor();

  expect(length).toBe(1);
});

test('administrators see whose each job is, and not what it is about', async () => {
  const person = await tenant.user();
  const id = await upload(person, 'private.txt', Buffer.from('a'), 'text/plain');
  const { body: job } = await person.api.post('/batch', { operation: 'delete', items: [{ type: 'file', id }] });
  await waitFor('the batch', async () => (await person.api.get(`/jobs/${job.id}`)).body.ended_at !== null);
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/jobs');
  await page.getByRole('switch', { name: 'Everybody' }).click();
  const theirs = page.getByRole('listitem').filter({ hasText: `by ${person.user.username}` });
  await theirs.getByRole('link', { name: 'Move to the trash' }).click();
  await page.getByRole('heading', { name: 'Move to the trash' }).waitFor();
  await page.getByRole('definition').getByText(person.user.username).waitFor();

  expect(await page.getByRole('main').innerText()).not.toContain('private.txt');
});

test("administrators see of another person's job that its items are that person's, without an error", async () => {
  const person = await tenant.user();
  const { body: folder } = await person.api.post('/folders', { name: 'There' });
  const id = await upload(person, 'taken.txt', Buffer.from('a'), 'text/plain');
  await person.api.upload('/files', { name: 'taken.txt', file: Buffer.from('b'), fields: { folder_id: folder.id } });
  const items = [{ type: 'file', id }];
  const { body: job } = await person.api.post('/batch', { operation: 'move', items, arguments: { folder_id: folder.id } });
  await waitFor('the batch', async () => (await person.api.get(`/jobs/${job.id}`)).body.progress.failed === 1);
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/files');
  const asked: string[] = [];
  page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
  await page.goto(`${tenant.url}/jobs/${job.id}`);
  await page.getByText('Only the person who asked for this job sees its items.').waitFor();
  await page.getByText('1 of 1 item, 1 failed').waitFor();

  expect([await page.getByRole('alert').count(), await page.getByRole('heading', { level: 2 }).count()]).toEqual([0, 0]);
  expect(asked.filter((path) => path.endsWith('/items'))).toEqual([]);
});

const OF_HELPERS = /Translate|Optimise|Unpack/;

test('the menu of a file has the helpers that are configured, and no other', async () => {
  const person = await tenant.user();
  await upload(person, 'thesis.pdf', pdf({ padding: 50_000 }), 'application/pdf');
  await upload(person, 'notes.txt', Buffer.from('Notes.'), 'text/plain');
  const page = await pageOf(person);
  const commandsOf = async (name: string): Promise<string[]> => {
    await page.getByRole('button', { name: `Actions of ${name}` }).click();
    // They are added once their script is there.
    await page.getByRole('menuitem', { name: OF_HELPERS }).first().waitFor();
    const commands = await page.getByRole('menuitem').allInnerTexts();
    await page.keyboard.press('Escape');
    return commands.filter((command) => OF_HELPERS.test(command));
  };

  expect([await commandsOf('thesis.pdf'), await commandsOf('notes.txt')]).toEqual([['Optimise PDF …'], ['Translate …']]);
});

test('a PDF is made smaller from its menu, as its next version, and its job leads to it', async () => {
  const person = await tenant.user();
  const id = await upload(person, 'thesis.pdf', pdf({ padding: 100_000 }), 'application/pdf');
  helper.answerWith(pdf({ padding: 20_000 }));
  const page = await pageOf(person);
  await choose(page, 'thesis.pdf', 'Optimise PDF …');
  await page.getByRole('radio', { name: /^Low/ }).check();
  await page.getByRole('dialog').getByRole('button', { name: 'Optimise' }).click();

  await page.getByText('“thesis.pdf” is smaller').waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Jobs' }).click();
  const job = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Optimise “thesis.pdf”' }) });
  await job.getByRole('link', { name: 'Show file' }).click();
  await page.getByRole('dialog', { name: 'thesis.pdf' }).waitFor();

  expect((await person.api.get(`/files/${id}/versions`)).body.data.length).toBe(2);
});

test('a text is translated, can be corrected, and is saved beside the file', async () => {
  const person = await tenant.user();
  await upload(person, 'notes.txt', Buffer.from('good day'), 'text/plain');
  const page = await pageOf(person);
  await choose(page, 'notes.txt', 'Translate …');
  const dialog = page.getByRole('dialog', { name: 'Translate “notes.txt”' });
  await dialog.getByLabel('Into').selectOption('Spanish');
  await dialog.getByRole('button', { name: 'Translate' }).click();
  await waitFor('the translation', async () => (await dialog.getByLabel('Translation').inputValue()) === 'GOOD DAY');
  await dialog.getByLabel('Translation').fill('BUENOS DÍAS');
  await dialog.getByRole('button', { name: 'Save as a new file' }).click();
  await page.getByRole('row', { name: /notes \(es\)\.txt/ }).waitFor();

  const { body } = await person.api.get('/files', { query: { q: 'es' } });
  const { bytes } = await person.api.get(`/files/${body.data[0].id}/download`);
  expect(bytes.toString()).toBe('BUENOS DÍAS');
});

test('a language that is chosen as soon as the languages are shown stays chosen', async () => {
  const person = await tenant.user();
  await upload(person, 'early.txt', Buffer.from('good day'), 'text/plain');
  const page = await pageOf(person);
  await page.evaluate(`new MutationObserver((_, observer) => {
    const list = document.querySelector('dialog select');
    if (!list) return;
    observer.disconnect();
    list.selectedIndex = list.options.length - 1;
    list.dispatchEvent(new Event('change', { bubbles: true }));
  }).observe(document.body, { subtree: true, childList: true })`);
  await choose(page, 'early.txt', 'Translate …');
  const dialog = page.getByRole('dialog', { name: 'Translate “early.txt”' });
  const last = await dialog.getByLabel('Into').locator('option').last().getAttribute('value');
  await dialog.getByRole('button', { name: 'Translate' }).click();
  await dialog.getByLabel('Translation').waitFor();
  expect(await dialog.getByLabel('Translation').getAttribute('lang')).toBe(last);
});

test.each([
  ['no jobs', async (page: Page) => page.getByText('What takes a while appears here').waitFor(), false],
  ['a list of jobs', async (page: Page) => page.getByRole('link', { name: 'Unpack an archive' }).first().waitFor(), true],
  [
    'a job with failed items',
    async (page: Page) => {
      await page.getByRole('link', { name: 'Unpack an archive' }).first().click();
      await page.getByRole('heading', { name: 'Why items failed' }).waitFor();
      await page.getByText('week 2/plan.txt').first().waitFor();
    },
    true,
  ],
])('axe finds nothing on %s in light and dark, and at 400 %% zoom nothing is cut off', async (_what, reach, hasJob) => {
  const person = await tenant.user();
  if (hasJob) {
    await person.api.upload('/imports', { name: 'a.zip', file: ARCHIVE });
    await waitFor('the first import', async () => (await person.api.get('/files')).body.data.length === 3);
    const { body } = await person.api.upload('/imports', { name: 'a.zip', file: ARCHIVE });
    await waitFor('the second import', async () => (await person.api.get(`/jobs/${body.id}`)).body.ended_at !== null);
  }
  const page = await pageOf(person, '/jobs');
  await reach(page);

  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});
