import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FrameLocator, Page } from 'playwright-core';
import { makeScratch } from '../../support/backends/backends.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { conditionOf, type TenantObject } from '../../support/programs/demo-tenant.ts';
import { apply, getJson, platform } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { apiOf, linkName, lmsTenant, type LmsTenant, lmsUrl, openInFrame, registration } from './course.ts';

const where = await platform();
let tenant: LmsTenant;
let browser: TestBrowser;
let pictures: string;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([lmsTenant(where), openBrowser('third-party blocked')]);
  pictures = process.env['CARREL_SCREENSHOTS'] ?? join(await makeScratch(), 'screenshots');
  await mkdir(pictures, { recursive: true });
}, 180_000);

afterAll(() => browser?.close());

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPj/HwADAgH/eL9GtQAAAABJRU5ErkJggg==',
  'base64',
);

/** The picker in a frame of the LMS, and what the browser refused there by CSP. */
async function asked(person: 'Ada Okafor' | 'Ben Lindqvist', way: 'picker' | 'hand-in', size = { width: 1000, height: 900 }) {
  const page = await browser.page();
  await page.setViewportSize(size);
  const violations: string[] = [];
  page.on('console', (message) => void (message.text().includes('Content Security Policy') && violations.push(message.text())));
  const tool = await openInFrame(page, where, linkName(tenant, person, 'History', `the ${way}`));
  const title = way === 'picker' ? 'Choose files' : 'Hand in files';
  try {
    await tool.getByRole('heading', { name: title, level: 1 }).waitFor();
  } catch (error) {
    const text = await tool.locator('html').innerText({ timeout: 5_000 }).catch(String);
    throw new Error(`the picker did not come; instead there is: ${text}`, { cause: error });
  }
  return { page, tool, violations };
}

async function upload(tool: FrameLocator, ...files: { name: string; buffer: Buffer; mimeType: string }[]): Promise<void> {
  await tool.getByLabel('Choose files', { exact: true }).setInputFiles(files);
  await tool.getByRole('button', { name: 'Upload', exact: true }).click();
  await tool.getByText(`${files.length} of ${files.length} uploaded`).waitFor();
}

const text = (name: string) => ({ name, buffer: Buffer.from(`This is ${name}.`), mimeType: 'text/plain' });

async function received(tool: FrameLocator, title: string): Promise<string[]> {
  try {
    await tool.getByRole('heading', { name: title }).waitFor();
  } catch (error) {
    const shown = await tool.locator('html').innerText({ timeout: 5_000 }).catch(String);
    throw new Error(`the LMS does not say “${title}”; instead there is: ${shown}`, { cause: error });
  }
  return tool.getByRole('listitem').allTextContents();
}

const picture = (page: Page, name: string): Promise<unknown> => page.screenshot({ path: join(pictures, `${name}.png`) });

test('an instructor uploads in the picker, chooses how to add each file, and the LMS receives the items by Query', async () => {
  const { page, tool, violations } = await asked('Ada Okafor', 'picker');
  await upload(tool, text('reading.txt'), { name: 'cell.png', buffer: PNG, mimeType: 'image/png' });

  await tool.getByText('2 files chosen').waitFor();
  await tool.getByLabel('Add cell.png as').selectOption('Picture');
  await tool.getByLabel('Points for reading.txt, if graded').fill('10');
  await picture(page, 'picker-chosen');
  await tool.getByRole('button', { name: 'Add 2 files' }).click();

  expect((await received(tool, 'The LMS received 2 by GET')).sort()).toEqual(['image: cell.png', 'ltiResourceLink: reading.txt']);
  expect(violations).toEqual([]);
});

test('with a preset of FormPost, the answer is posted, from a phone, with the keyboard alone', async () => {
  const { namespace, name } = tenant;
  const wanted = registration(namespace, name, lmsUrl(where, '').replace(/\/$/, ''), `client-of-${name}`) as { spec: object };
  await apply(where, { ...wanted, spec: { ...wanted.spec, deepLinkingResponseMode: 'FormPost' } });
  await waitFor('the registration to be as it was applied', async () => {
    const { metadata } = await getJson<TenantObject>(where, 'ltiregistration', name, '-n', namespace);
    const ready = await conditionOf(where, namespace, `ltiregistration/${name}`, 'Ready');
    return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
  });
  const { page, tool, violations } = await asked('Ada Okafor', 'picker', { width: 360, height: 740 });
  await tool.getByText('shown').first().waitFor();

  const width = await page
    .frame({ name: 'tool' })
    ?.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  await picture(page, 'picker-phone');
  await tool.getByLabel('Search files and folders by name').focus();
  await page.keyboard.type('reading');
  await page.keyboard.press('Enter');
  await tool.getByRole('heading', { name: 'Found for “reading”' }).waitFor();
  await tool.getByRole('button', { name: 'Preview reading.txt' }).focus();
  await page.keyboard.press('Enter');
  await tool.getByRole('dialog').getByText('This is reading.txt.').waitFor();
  await picture(page, 'picker-preview');
  await page.keyboard.press('Escape');
  await tool.getByRole('dialog').waitFor({ state: 'detached' });
  await tool.getByRole('checkbox', { name: 'reading.txt' }).focus();
  await page.keyboard.press('Space');
  await tool.getByText('1 file chosen').waitFor();
  await waitFor('the checkbox to be in sight', () =>
    page.frame({ name: 'tool' })?.evaluate<boolean>(`
      document.activeElement.getBoundingClientRect().bottom <= document.querySelector('.actions').getBoundingClientRect().top`),
  );
  await picture(page, 'picker-phone-chosen');
  await tool.getByRole('button', { name: 'Add 1 file' }).focus();
  await page.keyboard.press('Enter');

  expect(await received(tool, 'The LMS received 1 by POST')).toEqual(['ltiResourceLink: reading.txt']);
  expect([width, violations]).toEqual([0, []]);
});

test('an instructor finds a file in a folder of their own, sees where they are, and goes back by the path', async () => {
  const { page, tool } = await asked('Ada Okafor', 'picker');
  const api = await apiOf(page, tenant);
  const { body: folder } = await api.post('/folders', { name: 'Week 1' });
  await api.upload('/files', { file: Buffer.from('notes'), name: 'notes.txt', fields: { folder_id: folder.id } });

  await tool.getByRole('button', { name: 'My files' }).click();
  await tool.getByRole('button', { name: 'Open the folder Week 1' }).click();
  await tool.getByRole('checkbox', { name: 'notes.txt' }).check();
  await tool.getByRole('navigation', { name: 'Path' }).getByText('Week 1').waitFor();
  await picture(page, 'picker-folder');
  await tool.getByRole('navigation', { name: 'Path' }).getByRole('button', { name: 'My files' }).click();
  await tool.getByRole('button', { name: 'Open the folder Week 1' }).waitFor();
  await tool.getByRole('button', { name: 'Remove notes.txt' }).click();
  await tool.getByText('None yet.').waitFor();
  await tool.getByRole('button', { name: 'Cancel' }).click();

  expect(await received(tool, 'The LMS received 0 by POST')).toEqual([]);
});

test('a learner hands in a file of their own, and is offered no other', async () => {
  const { page, tool } = await asked('Ben Lindqvist', 'hand-in');
  await upload(tool, text('solution.txt'));
  await tool.getByText('1 file chosen').waitFor();

  const roots = await tool.getByRole('navigation', { name: 'Where to look' }).count();
  await picture(page, 'picker-hand-in');
  await tool.getByRole('button', { name: 'Add 1 file' }).click();

  expect(await received(tool, 'The LMS received 1 by POST')).toEqual(['file: solution.txt']);
  expect(roots).toBe(0);
});

test('a learner reads that only instructors choose what is linked', async () => {
  const page = await browser.page();
  const tool = await openInFrame(page, where, linkName(tenant, 'Ben Lindqvist', 'History', 'the picker'));

  await tool.getByText('Only instructors choose content here.').waitFor();
  await picture(page, 'picker-refused');

  expect(await tool.getByText('picker_not_for_learners').count()).toBe(1);
});
