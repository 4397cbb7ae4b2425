import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Frame, FrameLocator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { findingsInEachLook, findingsWhereNarrow } from '../../support/clients/looks.ts';
import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import { LmsFrames } from '../../support/lms/frames.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { platform } from '../../support/programs/platform.ts';
import { apiOf, courseShown, linkName, lmsTenant, type LmsTenant, makeFolder, openInFrame } from './course.ts';

const where = await platform();
let tenant: LmsTenant;
let browser: TestBrowser;
let lms: Lms;

beforeAll(async () => {
  [tenant, browser, lms] = await Promise.all([lmsTenant(where), openBrowser('third-party blocked'), Lms.start()]);
}, 180_000);

afterAll(async () => {
  await Promise.all([browser?.close(), lms?.stop()]);
});

interface Shown {
  readonly page: Page;
  readonly tool: FrameLocator;
}

async function opened(person: 'Ada Okafor' | 'Ben Lindqvist', way: string): Promise<Shown> {
  const page = await browser.page();
  return { page, tool: await openInFrame(page, where, linkName(tenant, person, 'History', way)) };
}

/** Opens the page in a browser whose user reads German. */
async function openedInGerman(person: 'Ada Okafor' | 'Ben Lindqvist'): Promise<Shown> {
  const page = await browser.page();
  await page.setExtraHTTPHeaders({ 'accept-language': 'de-DE,de;q=0.9' });
  const tool = await openInFrame(page, where, linkName(tenant, person, 'History', 'a frame'));
  await courseShown(tool, 'History');
  return { page, tool };
}

/** The course with a file of this name. */
async function course(name: string): Promise<Shown> {
  const shown = await opened('Ada Okafor', 'a frame');
  await courseShown(shown.tool, 'History');
  await shown.tool
    .getByLabel('Choose files')
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(`This is ${name}.`) });
  await shown.tool.getByRole('button', { name: 'Upload', exact: true }).click();
  await shown.tool.getByRole('button', { name: `Download ${name}` }).waitFor();
  return shown;
}

/** The picker with this file chosen. */
async function chosen(name: string): Promise<Shown> {
  await course(name);
  const shown = await opened('Ada Okafor', 'the picker');
  await shown.tool.getByRole('checkbox', { name }).check();
  await shown.tool.getByText('1 file chosen').waitFor();
  return shown;
}

/** An upload whose connection is lost, and stays so. */
async function reconnecting(name: string): Promise<Shown> {
  const shown = await opened('Ada Okafor', 'a frame');
  await courseShown(shown.tool, 'History');
  let isLost = false;
  await shown.page.route('**/api/v1/files/uploads/*', (route) => {
    if (isLost) return;
    isLost = true;
    return route.abort('connectionfailed');
  });
  await shown.tool.getByLabel('Choose files').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(name) });
  await shown.tool.getByRole('button', { name: 'Upload', exact: true }).click();
  await shown.tool.getByText('0 of 1 uploaded; the connection is lost, it goes on by itself').waitFor();
  return shown;
}

async function offer(): Promise<Shown> {
  const { body } = await tenant.admin.post('/lti/registration-links', {});
  const page = await browser.page();
  await page.goto(new LmsFrames(lms).url('Tools', new RegistrationDesk(lms, FACES.moodle).open(body.url)));
  const tool = page.frameLocator('iframe[name=tool]');
  await tool.getByRole('button', { name: 'Register' }).waitFor();
  return { page, tool };
}

async function share(): Promise<Page> {
  const { body: file } = await tenant.admin.upload('/files', { name: 'shared.txt', file: Buffer.from('shared') });
  const { body } = await tenant.admin.post(`/files/${file.id}/share`, { password: 'correct horse battery' });
  const page = await browser.page();
  await page.goto(body.url);
  // What the server sent gives way to the page's own form.
  await page.getByRole('button', { name: 'Show password' }).waitFor();
  await page.getByLabel('Password', { exact: true }).fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('status').filter({ hasText: 'This password is wrong.' }).waitFor();
  return page;
}

const toolOf = ({ page }: Shown): Frame => {
  const frame = page.frame({ name: 'tool' });
  if (!frame) throw new Error('there is no frame of the tool');
  return frame;
};
const inFrame = async (shown: Shown): Promise<[Page, Frame]> => [shown.page, toolOf(shown)];
const inWindow = (page: Page): [Page, Page] => [page, page];

/** The pages under test, and the way to each. Each function returns the tab and the page in it. */
const PAGES: readonly [string, () => Promise<[Page, Page | Frame]>][] = [
  ['the page of a course', async () => inFrame(await course('course.txt'))],
  [
    'a folder of a course',
    async () => {
      const first = await opened('Ada Okafor', 'a frame');
      await courseShown(first.tool, 'History');
      await makeFolder(first.page, tenant, 'History', 'Week 1');
      const shown = await opened('Ada Okafor', 'a frame');
      await shown.tool.getByRole('button', { name: 'Open the folder Week 1' }).click();
      await shown.tool.getByText('There are no files here yet.').waitFor();
      return inFrame(shown);
    },
  ],
  [
    'an upload whose name is taken',
    async () => {
      const shown = await course('taken.txt');
      await shown.tool
        .getByLabel('Choose files')
        .setInputFiles({ name: 'taken.txt', mimeType: 'text/plain', buffer: Buffer.from('other') });
      await shown.tool.getByRole('button', { name: 'Upload', exact: true }).click();
      await shown.tool.getByText('name_conflict').waitFor();
      return inFrame(shown);
    },
  ],
  [
    'an upload that has lost its connection',
    async () => inFrame(await reconnecting('reconnecting-with-a-long-name-of-one-word.txt')),
  ],
  [
    'a paused upload',
    async () => {
      const shown = await reconnecting('paused.txt');
      await shown.tool.getByRole('button', { name: 'Pause the upload of paused.txt' }).click();
      await shown.tool.getByText('0 of 1 uploaded, 1 paused').waitFor();
      return inFrame(shown);
    },
  ],
  [
    'the grades of a course, with a score that is none and a comment that is too long',
    async () => {
      await courseShown((await opened('Ben Lindqvist', 'a frame')).tool, 'History');
      const shown = await opened('Ada Okafor', 'a frame');
      await shown.tool.getByRole('textbox', { name: 'Score of Ben Lindqvist' }).fill('ten');
      await shown.tool.getByRole('textbox', { name: 'Comment (optional) for Ben Lindqvist' }).fill('é'.repeat(10_001));
      return inFrame(shown);
    },
  ],
  [
    'what somebody shares with the course, in German',
    async () => {
      const first = await openedInGerman('Ada Okafor');
      await (await apiOf(first.page, tenant)).upload('/files', { name: 'mine.txt', file: Buffer.from('mine') });
      await first.tool.getByRole('button', { name: 'Aus meinen Dateien wählen' }).click();
      await first.tool.getByRole('button', { name: 'mine.txt für den Kurs freigeben' }).click();
      await first.tool.getByRole('button', { name: 'Freigabe von mine.txt für den Kurs zurücknehmen' }).waitFor();
      return inFrame(first);
    },
  ],
  ['the picker with a chosen file', async () => inFrame(await chosen('chosen.txt'))],
  [
    'the preview of a file in the picker',
    async () => {
      const shown = await chosen('previewed.txt');
      await shown.tool.getByRole('button', { name: 'Preview previewed.txt' }).click();
      await shown.tool.getByRole('dialog').getByText('This is previewed.txt.').waitFor();
      return inFrame(shown);
    },
  ],
  [
    'the hand-in of a learner',
    async () => {
      const shown = await opened('Ben Lindqvist', 'the hand-in');
      await shown.tool.getByText('There is nothing here.').waitFor();
      return inFrame(shown);
    },
  ],
  ['what an LMS will register', async () => inFrame(await offer())],
  [
    'what an LMS has registered',
    async () => {
      const shown = await offer();
      await shown.tool.getByRole('button', { name: 'Register' }).click();
      await shown.tool.getByRole('button', { name: 'Back to the LMS' }).waitFor();
      return inFrame(shown);
    },
  ],
  [
    'a refused launch',
    async () => {
      const shown = await opened('Ben Lindqvist', 'the picker');
      await shown.tool.getByText('picker_not_for_learners').waitFor();
      return inFrame(shown);
    },
  ],
  [
    'a session that ended',
    async () => {
      const shown = await opened('Ben Lindqvist', 'a frame');
      await courseShown(shown.tool, 'History');
      await toolOf(shown).evaluate('sessionStorage.clear(); location.reload()');
      await shown.tool.getByText('session_ended').waitFor();
      return inFrame(shown);
    },
  ],
  ['a share link whose password was wrong', async () => inWindow(await share())],
  [
    'what somebody has handed in, in German',
    async () => {
      const shown = await openedInGerman('Ben Lindqvist');
      const essay = { name: 'essay.txt', mimeType: 'text/plain', buffer: Buffer.from('essay') };
      await shown.tool.getByLabel('Dateien auswählen').setInputFiles(essay);
      await shown.tool.getByRole('button', { name: 'Hochladen', exact: true }).click();
      await shown.tool.getByRole('button', { name: 'Abgeben', exact: true }).click();
      await shown.tool.getByText(/^essay\.txt wurde am \d\d\.\d\d\.\d{4}, .+ abgegeben, Version 1\.$/).waitFor();
      return inFrame(shown);
    },
  ],
];

test.each(PAGES)('%s has no findings of axe in any look, and fits at 400 %% zoom and on a phone', async (_what, reach) => {
  const [page, shown] = await reach();
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });

  const found = await axeFindings(shown);
  found.push(...(await findingsInEachLook(page, [shown])));
  found.push(...(await findingsWhereNarrow(page, shown)));

  expect(found).toEqual([]);
});

test('axe finds what is wrong on a page of ours that was spoilt', async () => {
  const shown = await opened('Ben Lindqvist', 'a frame');
  await courseShown(shown.tool, 'History');
  const frame = toolOf(shown);
  await frame.evaluate(`document.documentElement.removeAttribute('lang'); document.querySelector('h1').style.color = '#ccc'`);

  const found = await axeFindings(frame);

  expect(found.map((finding) => finding.split(':')[0])).toEqual(['color-contrast', 'html-has-lang']);
});
