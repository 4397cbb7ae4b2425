import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { film } from '../../support/clients/film.ts';
import { greyPng, wav } from '../../support/data/small-media.ts';
import { startHelper, type TestHelper } from '../../support/fakes/helpers/helper.ts';
import { pdf } from '../../support/fakes/helpers/pdf.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addPerson, firstAdministrator, fromMenu, openAs, select } from './app.ts';
import { type Api, listed, namesOn, personWith as personWithFiles, put, row, said } from './lists.ts';

/** How people find and arrange their files, and the jobs that come of it. Each test has a person of its own. */
const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
/** The only helper of the tenant, which optimises PDFs. */
let helper: TestHelper;
/** Ends what a test holds back at the helper. */
let release = (): void => undefined;

beforeAll(async () => {
  helper = await startHelper();
  [tenant, browser] = await Promise.all([
    demoTenant(where, { helpers: { pdfOptimizeUrl: helper.url }, limits: { requestsPerUserPerMinute: 2_000 } }),
    openBrowser('third-party blocked'),
  ]);
}, 180_000);

afterEach(() => release());
afterAll(async () => {
  await Promise.all([browser?.close(), helper?.close()]);
});

/** A person with these files (`folder/name` in a folder; `folder/` alone), and a page on which they are signed in. */
const personWith = (name: string, ...paths: string[]): Promise<{ readonly api: Api; readonly page: Page }> =>
  personWithFiles(browser, tenant, name, ...paths);

const goTo = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();

test('a list is sorted, searched as one types, and narrowed by kind and tag, also after a reload', async () => {
  const { page } = await personWith('Ada Sorts', 'file10.txt', 'file2.txt', 'cells.png', 'B/about cells.txt', 'A/');
  await listed(page, 'A', 'B', 'cells.png', 'file2.txt', 'file10.txt');
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
  await listed(page, 'B', 'A', 'file10.txt', 'file2.txt', 'cells.png');
  await select(page, 'file2.txt');
  await select(page, 'file10.txt', ['ControlOrMeta']);
  await page.getByRole('toolbar').getByRole('button', { name: 'Add a tag' }).click();
  await page.getByRole('dialog', { name: 'Add a tag' }).getByLabel('Tag', { exact: true }).fill('exam');
  await Promise.all([said(page, 'Tags of 2 files changed'), page.getByRole('button', { name: 'Create the tag' }).click()]);

  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('cells');
  await page.getByRole('heading', { name: 'Results for “cells”' }).waitFor();
  await waitFor('the word to be marked in both names', async () => {
    const hits = await page.evaluate<string[]>(`[...document.querySelectorAll('mark')].map((hit) => hit.textContent)`);
    return hits.join() === 'cells,cells';
  });
  await page.getByLabel('Kind').selectOption('Text');
  await listed(page, 'about cells.txt');
  await page.reload();
  await listed(page, 'about cells.txt');
  await page.getByRole('searchbox', { name: 'Search files' }).fill('file');
  await row(page, 'file2.txt').waitFor();
  await page.getByLabel('Tag', { exact: true }).selectOption('exam');
  await waitFor('the tagged files', async () => (await namesOn(page)).toSorted().join() === 'file10.txt,file2.txt');
});

test('files are moved by dragging, by keys and by a dialog, and copied; all at once go to the trash and come back', async () => {
  const { page, api } = await personWith('Ben Moves', 'one.txt', 'two.txt', 'three.txt', 'There/');
  await row(page, 'three.txt').dragTo(row(page, 'There'));
  await row(page, 'three.txt').waitFor({ state: 'detached' });
  await select(page, 'one.txt');
  await page.keyboard.press('ControlOrMeta+x');
  await page.getByRole('link', { name: 'There', exact: true }).click();
  await row(page, 'three.txt').waitFor();
  await page.keyboard.press('ControlOrMeta+v');
  await listed(page, 'one.txt', 'three.txt');
  await page.goBack();
  await select(page, 'two.txt');
  await page.getByRole('toolbar').getByRole('button', { name: 'Copy …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Copy 1 item' });
  await dialog.getByRole('button', { name: 'There' }).click();
  await dialog.getByText('There are no folders in here.').waitFor();
  await Promise.all([said(page, '1 item copied'), dialog.getByRole('button', { name: 'Copy here' }).click()]);
  await page.getByRole('link', { name: 'There', exact: true }).click();
  await listed(page, 'one.txt', 'three.txt', 'two.txt');

  await select(page, 'one.txt');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  // Moves and copies of before may still offer to be undone.
  const trashed = page.locator('.c-toast').filter({ hasText: '3 items moved to the trash' });
  const undo = trashed.getByRole('button', { name: 'Undo' });
  await Promise.all([undo.click(), page.getByText('This folder is empty').waitFor()]);
  await listed(page, 'one.txt', 'three.txt', 'two.txt');

  const { body } = await api.get('/search', { query: { q: 'txt' } });
  expect(body.data.map(({ path }: { path: string }) => path).toSorted()).toEqual([
    '/There/one.txt',
    '/There/three.txt',
    '/There/two.txt',
    '/two.txt',
  ]);
});

test('the details of a file have its attributes, versions, access and activity, and a former version is restored', async () => {
  const api = tenant.admin;
  const id = await put(api, 'plan.txt');
  const reader = await addPerson(tenant, 'Dana Reads');
  await api.post(`/files/${id}/permissions`, { user_id: reader.id, permission_level: 'read' });
  await api.upload(`/files/${id}`, { method: 'PUT', name: 'plan.txt', type: 'text/plain', file: Buffer.from('newer') });
  // Administrators may read the audit log.
  const page = await openAs(browser, tenant, await firstAdministrator(where, tenant));
  await select(page, 'plan.txt');
  await page.keyboard.press('Alt+Enter');
  const details = page.getByRole('complementary', { name: 'plan.txt' });
  const attributes = details.getByRole('region', { name: 'Attributes' });
  await attributes.getByRole('button', { name: 'Add an attribute' }).click();
  await attributes.getByLabel('Name').fill('course');
  await attributes.getByLabel('Value').fill('Biology');
  await page.keyboard.press('Enter');
  await attributes.getByText('Biology').waitFor();

  await details.getByRole('tab', { name: 'Versions' }).click();
  await details.getByText('Version 2').waitFor();
  await details.getByRole('button', { name: 'Restore' }).click();
  await details.getByText('Version 3').waitFor();
  await details.getByRole('tab', { name: 'Access' }).click();
  await details.getByText('May share · Owner').waitFor();
  await details.getByText('May read · Shared directly').waitFor();

  await details.getByRole('tab', { name: 'Activity' }).click();
  // Of each version, the restored one included.
  await details.getByText('uploaded it').nth(2).waitFor();

  expect((await api.get(`/files/${id}/download`)).bytes.toString()).toBe('plan.txt');
});

test('the activity of a file names grants, links and downloads by them, goes on below, and is for administrators', async () => {
  const api = tenant.admin;
  const id = await put(api, 'minutes.txt');
  // The first page has 50 entries.
  for (const each of range(55)) await api.patch(`/files/${id}`, { name: `minutes ${each}.txt` });
  const reader = await addPerson(tenant, 'Ivy Reads');
  await api.post(`/files/${id}/permissions`, { user_id: reader.id, permission_level: 'read' });
  const { body: link } = await api.post(`/files/${id}/share`, {});
  const { status } = await tenant.anonymous.get(`/s/${link.token}/download`);
  await api.delete(`/shares/${link.id}`);
  const page = await openAs(browser, tenant, await firstAdministrator(where, tenant));
  await fromMenu(page, 'minutes 54.txt', 'Details');
  const details = page.getByRole('complementary', { name: 'minutes 54.txt' });
  await details.getByRole('tab', { name: 'Activity' }).click();
  const lines = details.getByRole('tabpanel').getByRole('listitem');
  await lines.first().waitFor();
  const newest = (await lines.allInnerTexts()).slice(0, 5);
  await waitFor('the oldest entry', async () => {
    const more = details.getByRole('button', { name: 'Show more' });
    // The next page is loaded once this is seen.
    if ((await more.count()) > 0) await more.scrollIntoViewIfNeeded({ timeout: 1_000 });
    return (await lines.count()) === 60;
  });
  const oldest = await lines.last().innerText();
  await page.close();

  const hers = await openAs(browser, tenant, reader, '/shared');
  await fromMenu(hers, 'minutes 54.txt', 'Details');
  const ofReader = hers.getByRole('complementary', { name: 'minutes 54.txt' });
  await ofReader.getByRole('tabpanel').waitFor();
  const tabs = await ofReader.getByRole('tab').allInnerTexts();

  expect(status).toBe(200);
  expect(newest).toEqual([
    expect.stringContaining('deleted a link to it'),
    expect.stringContaining('Somebody downloaded it by a link'),
    expect.stringContaining('made a link to it'),
    expect.stringContaining('gave access to it'),
    expect.stringContaining('renamed it to minutes 54.txt'),
  ]);
  expect(oldest).toContain('uploaded it');
  expect(tabs).toEqual(['Details', 'Versions', 'Access']);
});

test('what fills the storage is said and leads to the trash, from which files return or leave for ever', async () => {
  const { page, api } = await personWith('Eve Tidies', 'kept.txt', 'back.txt');
  await put(api, 'large.bin', Buffer.alloc(4_096));
  for (const { id, name } of (await api.get('/files')).body.data) if (name !== 'kept.txt') await api.delete(`/files/${id}`);
  await goTo(page, 'Recent');
  await listed(page, 'kept.txt');
  await page.getByRole('button', { name: /used$/ }).click();
  const storage = page.getByRole('dialog', { name: 'Storage' });
  await storage.getByText('Trash', { exact: true }).waitFor();
  const terms = await storage.getByRole('term').allInnerTexts();
  const sizes = await storage.getByRole('definition').allInnerTexts();
  await storage.getByRole('link', { name: 'Make space: go to the trash' }).click();

  await row(page, 'large.bin').waitFor();
  await select(page, 'back.txt');
  await page.getByRole('toolbar').getByRole('button', { name: 'Restore' }).click();
  await row(page, 'back.txt').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Empty the trash' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Empty the trash' }).click();
  await page.getByText('The trash is empty').waitFor();

  // 4,096 bytes of one file and 8 of the other
  expect(sizes[terms.indexOf('Trash')]).toMatch(/^4\.01\skB$/);
  expect((await api.get('/trash')).body.data).toEqual([]);
  expect((await api.get('/files', { query: { sort: 'name' } })).body.data.map(({ name }: { name: string }) => name)).toEqual([
    'back.txt',
    'kept.txt',
  ]);
});

test('a preview goes by arrows from a text to a picture, a recording that plays from any position, code and a film', async () => {
  const recorded = await film(browser);
  const { page, api } = await personWith('Fay Plays');
  await put(api, 'a.txt', Buffer.from('First words.'));
  await put(api, 'b.png', greyPng(300, 200));
  await put(api, 'c.wav', wav(600));
  await put(api, 'd.py', Buffer.from('import math\n\nprint(math.pi)'));
  await api.upload('/files', { name: 'e.webm', type: 'video/webm', file: recorded });
  await page.reload();
  await row(page, 'e.webm').waitFor();
  await page.getByRole('button', { name: 'a.txt', exact: true }).click();
  const preview = page.getByRole('dialog');
  await preview.getByText('First words.').waitFor();
  await page.keyboard.press('ArrowRight');
  await preview.getByRole('img', { name: 'b.png' }).waitFor();
  const ranges: (string | undefined)[] = [];
  page.on('request', (request) => request.url().includes('/tickets/') && ranges.push(request.headers()['range']));
  await page.keyboard.press('ArrowRight');
  const audio = 'document.querySelector("dialog audio")';
  await waitFor('the length of the recording', () => page.evaluate(`${audio}?.duration === 600`));
  await page.evaluate(`${audio}.currentTime = 500; ${audio}.muted = true; void ${audio}.play()`);
  await waitFor('it to play there', () => page.evaluate(`${audio}.currentTime > 500.1`));
  const ofRecording = [ranges.length > 0, ranges.includes(undefined)];

  await page.keyboard.press('ArrowRight');
  await preview.getByText('print(math.pi)').waitFor();
  const lines = await page.evaluate(`[...document.querySelectorAll('dialog .preview-line')].map((line) =>
    [line.dataset.line, line.textContent.trim(), getComputedStyle(line, '::before').content !== 'none'])`);
  await page.keyboard.press('ArrowRight');
  const video = 'document.querySelector("dialog video")';
  await waitFor('the film', () => page.evaluate(`${video}?.videoWidth === 320`));
  await page.evaluate(`${video}.muted = true; void ${video}.play()`);
  await waitFor('it to play', () => page.evaluate(`${video}.currentTime > 0.1`));

  expect(ofRecording).toEqual([true, false]);
  // Each line with its number, which is drawn before it.
  expect(lines).toEqual([
    ['1', 'import math', true],
    ['2', '', true],
    ['3', 'print(math.pi)', true],
  ]);
});

test('a move whose items fail says so; its job shows the reason, and retries these items once it is mended', async () => {
  const { page, api } = await personWith('Gil Batches', '0.txt', '1.txt', '2.txt', 'There/0.txt', 'There/1.txt');
  await select(page, '0.txt');
  await select(page, '2.txt', ['Shift']);
  await page.getByRole('toolbar').getByText('3 selected').waitFor();
  await page.getByRole('toolbar').getByRole('button', { name: 'Move …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Move 3 items' });
  await dialog.getByRole('button', { name: 'There' }).click();
  await dialog.getByText('There are no folders in here.').waitFor();
  await Promise.all([said(page, '2 items failed.'), dialog.getByRole('button', { name: 'Move here' }).click()]);

  await goTo(page, 'Jobs');
  await page.getByRole('link', { name: /^Move “/ }).click();
  const reasons = page.getByRole('region', { name: 'Why items failed' });
  await reasons.getByText('name_conflict').waitFor();
  const counts = await reasons.getByRole('listitem').allInnerTexts();
  const { data } = (await api.get('/files', { query: { q: '0.txt' } })).body;
  await api.delete(`/files/${data.find(({ path }: { path: string }) => path === '/There/0.txt').id}`);
  await reasons.getByRole('button', { name: /^Retry/ }).click();
  await page.getByRole('link', { name: 'an earlier job' }).waitFor();
  await page.getByText('2 of 2 items, 1 failed').waitFor();

  expect(counts.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([expect.stringMatching(/^2 .*name_conflict/)]);
});

test('menus offer the helpers that the tenant has, and a job that a helper holds up is seen to run, and canceled', async () => {
  const { page, api } = await personWith('Hal Waits', 'notes.txt');
  await put(api, 'held.pdf', pdf({ padding: 50_000 }));
  const commandsOf = async (name: string, known: string): Promise<string[]> => {
    await page.getByRole('button', { name: `Actions of ${name}`, exact: true }).click();
    await page.getByRole('menuitem', { name: known }).waitFor();
    const commands = await page.getByRole('menuitem').allInnerTexts();
    await page.keyboard.press('Escape');
    return commands.filter((command) => /Translate|Optimise|Unpack/.test(command));
  };
  await row(page, 'held.pdf').waitFor();
  const offered = [await commandsOf('held.pdf', 'Optimise PDF …'), await commandsOf('notes.txt', 'Details')];

  release = helper.hold();
  await fromMenu(page, 'held.pdf', 'Optimise PDF …');
  await page.getByRole('dialog').getByRole('button', { name: 'Optimise' }).click();
  await goTo(page, 'Jobs');
  await page.getByRole('link', { name: 'Optimise “held.pdf”' }).click();
  await page.locator('.c-badge').getByText('Running', { exact: true }).waitFor();
  await page.getByRole('progressbar', { name: 'Optimise “held.pdf”' }).waitFor();
  await page.getByRole('button', { name: 'Cancel job' }).click();
  const question = page.getByRole('alertdialog', { name: 'Cancel this job?' });
  const asked = page.waitForResponse((reply) => reply.url().endsWith('/cancel'));
  await question.getByRole('button', { name: 'Cancel job' }).click();
  await asked;
  release();
  await page.locator('.c-badge').getByText('Canceled', { exact: true }).waitFor();

  const [job] = (await api.get('/jobs')).body.data;
  expect([offered, job.state]).toEqual([[['Optimise PDF …'], []], 'canceled']);
});
