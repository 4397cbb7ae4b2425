import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FrameLocator, Page } from 'playwright-core';
import { axeFindings } from '../../support/clients/axe.ts';
import { makeScratch } from '../../support/backends/backends.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { waitReady } from '../../support/programs/demo-tenant.ts';
import { INSTRUCTOR, type Launch, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { deepLinking } from '../../../pkg/local/demo/lms/deep-linking.ts';
import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { LmsFrames } from '../../support/lms/frames.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { platform } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { courseShown, lmsTenant, type LmsTenant } from './course.ts';

/** An LMS and its people during a term. Each page is in a frame on the LMS's site, which is not ours. */
const where = await platform();
let tenant: LmsTenant;
let browser: TestBrowser;
let lms: Lms;
let desk: RegistrationDesk;
let frames: LmsFrames;
let pictures: string;

beforeAll(async () => {
  pictures = process.env['CARREL_SCREENSHOTS'] ?? join(await makeScratch(), 'screenshots');
  await mkdir(pictures, { recursive: true });
  [tenant, browser, lms] = await Promise.all([lmsTenant(where), openBrowser('third-party blocked'), Lms.start()]);
  desk = new RegistrationDesk(lms, FACES.sakai);
  frames = new LmsFrames(lms);
}, 180_000);
afterAll(async () => {
  await Promise.all([browser?.close(), lms?.stop()]);
});

const ADA = { user: { id: 'ada', name: 'Ada Okafor' }, roles: [INSTRUCTOR] };
const BEN = { user: { id: 'ben', name: 'Ben Lindqvist' }, roles: [LEARNER] };
const CHI = { user: { id: 'chi', name: 'Chi Tanaka' }, roles: [LEARNER] };
const EVE = { user: { id: 'eve', name: 'Eve Novak' }, roles: [LEARNER] };
const LATIN = { id: 'latin-1', title: 'Latin' };
const COPY = { id: 'latin-2', title: 'Latin, next term' };
const READING = { name: 'reading.txt', mimeType: 'text/plain', buffer: Buffer.from('Gallia est omnis divisa in partes tres.') };

interface Framed {
  readonly page: Page;
  readonly tool: FrameLocator;
  readonly picture: (name: string) => Promise<unknown>;
}

async function framed(title: string, tool: URL, course?: string): Promise<Framed> {
  const page = await browser.page();
  await page.setViewportSize({ width: 1000, height: 1000 });
  await page.goto(frames.url(title, tool, course));
  return {
    page,
    tool: page.frameLocator('iframe[name=tool]'),
    picture: (name) => page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true }),
  };
}

/** The administrator pastes a one-time address; gives the client id once the operator has made its LtiRegistration. */
async function registersItself(): Promise<string> {
  const { body } = await tenant.admin.post('/lti/registration-links', { platform_name: 'Sakai of the university' });
  const { page, tool, picture } = await framed('Tools', desk.open(body.url));
  await tool.getByRole('heading', { name: 'Register this service at your LMS' }).waitFor();
  await picture('registration');
  await tool.getByRole('button', { name: 'Register' }).click();
  await tool.getByRole('heading', { name: 'The LMS is registered' }).waitFor();
  await picture('registered');
  await tool.getByRole('button', { name: 'Back to the LMS' }).click();
  await page.getByText('The tool has closed its frame.').waitFor();

  const registration = await waitFor('the registration to be listed', async () => {
    const { data } = (await tenant.admin.get('/lti/registrations')).body;
    return data.find(({ client_id }: { client_id: string }) => client_id === desk.tools[0]?.clientId);
  });
  await waitReady(where, tenant.namespace, `ltiregistration/${registration.name}`);
  expect(registration).toMatchObject({
    issuer: lms.issuer,
    platform_name: 'Sakai of the university',
    registered: { product: 'sakailms.org', pending: true },
  });
  return registration.client_id;
}

const opens = (clientId: string, launch: Partial<Launch> & { readonly course: { id: string; title: string } }, fault?: Fault) =>
  framed(`${launch.course.title}, as ${launch.user?.name}`, lms.open(clientId, launch, fault), launch.course.id);

/** Returns axe's findings on a page in light and dark mode. Fails if something is cut off at 400 % zoom. */
async function faultsOf({ page }: Framed): Promise<string[]> {
  const shown = page.frame({ name: 'tool' });
  if (!shown) return ['there is no frame of the tool'];
  const found: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(shown)));
  }
  const size = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 640 });
  await fits(shown);
  if (size) await page.setViewportSize(size);
  return found;
}

async function downloads({ page, tool }: Framed): Promise<string> {
  const saving = page.waitForEvent('download');
  await tool.getByRole('button', { name: `Download ${READING.name}` }).click();
  return readFile(await (await saving).path(), 'utf8');
}

/** The custom parameters of the link that the LMS got for the file. */
async function picks(clientId: string): Promise<Readonly<Record<string, string>>> {
  const picker = await opens(clientId, { ...ADA, course: LATIN }, deepLinking(lms.issuer, { accept_types: ['ltiResourceLink'] }));
  const { tool } = picker;
  await tool.getByRole('checkbox', { name: READING.name }).check();
  await tool.getByText('1 file chosen').waitFor();
  await picker.picture('course-picker');
  await tool.getByRole('button', { name: 'Add 1 file' }).click();
  await tool.getByRole('heading', { name: /^The LMS received 1 by/ }).waitFor();
  const { custom = {} } = lms.deepLinks.answers.at(-1)?.items[0] ?? {};
  return custom;
}

test('it registers, launches, picks, opens links, grades and syncs rosters in frames without third-party cookies', async () => {
  const clientId = await registersItself();

  const teacher = await opens(clientId, { ...ADA, course: LATIN });
  await courseShown(teacher.tool, 'Latin');
  await teacher.tool.getByLabel('Choose files').setInputFiles(READING);
  await teacher.tool.getByRole('button', { name: 'Upload', exact: true }).click();
  await teacher.tool.getByText('1 of 1 uploaded').waitFor();
  await teacher.picture('course-upload');

  const link = { custom: await picks(clientId), resourceLinkId: 'link-of-the-reading', linkTitle: READING.name };
  const learner = await opens(clientId, { ...BEN, ...link, course: LATIN });
  await courseShown(learner.tool, READING.name);
  await learner.picture('link');
  expect(await faultsOf(learner)).toEqual([]);
  await learner.tool.getByRole('button', { name: `Preview ${READING.name}` }).click();
  await learner.tool.getByRole('dialog').getByText(READING.buffer.toString()).waitFor();
  await learner.picture('link-preview');
  await learner.tool.getByRole('button', { name: 'Close preview' }).click();
  await learner.tool.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await downloads(learner)).toBe(READING.buffer.toString());

  const early = await opens(clientId, { ...CHI, ...link, course: COPY });
  await early.tool.getByText('link_of_other_course').waitFor();
  await early.picture('copied-link-early');
  await courseShown((await opens(clientId, { ...ADA, ...link, course: COPY })).tool, READING.name);
  const copied = await opens(clientId, { ...CHI, ...link, course: COPY });
  await courseShown(copied.tool, READING.name);
  await copied.picture('copied-link');
  expect(await downloads(copied)).toBe(READING.buffer.toString());

  lms.courses.restrict(LATIN.id, link.resourceLinkId, ['ben', 'dee']);
  await opens(clientId, { ...EVE, course: LATIN }).then(({ tool }) => courseShown(tool, 'Latin'));
  lms.members.manner.set({ status: 404, text: 'no such link' }, 1);
  const ofAll = await opens(clientId, { ...ADA, ...link, course: LATIN });
  await ofAll.tool.getByText('Your LMS does not say whom this link is for.').waitFor();
  await ofAll.tool.getByRole('textbox', { name: 'Score of Eve Novak' }).waitFor();
  await ofAll.picture('grades-of-all');
  const grading = await opens(clientId, { ...ADA, ...link, course: LATIN });
  await grading.tool.getByRole('textbox', { name: 'Score of Ben Lindqvist' }).waitFor();
  expect(await grading.tool.getByRole('list', { name: 'Learners' }).getByRole('listitem').count()).toBe(1);
  expect(await grading.tool.getByText('Your LMS does not say whom this link is for.').count()).toBe(0);
  await grading.tool.getByLabel('Points for full marks').fill('10');
  await grading.tool.getByRole('textbox', { name: 'Score of Ben Lindqvist' }).fill('8.5');
  await grading.tool.getByRole('button', { name: 'Send the score of Ben Lindqvist' }).click();
  await grading.tool.getByText('8.5 of 10: in the grade book of your LMS').waitFor();
  await grading.picture('grade');
  expect(lms.scores.cell('ben')).toMatchObject({ scoreGiven: 8.5, scoreMaximum: 10, times: 1 });
  expect(await learner.tool.getByRole('heading', { name: 'Grades' }).count()).toBe(0);
  const after = await opens(clientId, { ...ADA, course: LATIN });
  await courseShown(after.tool, LATIN.title);
  await after.tool.getByRole('textbox', { name: 'Score of Eve Novak' }).waitFor();
  await after.picture('grade-book');
  expect(await after.page.getByRole('cell', { name: '8.5 of 10' }).count()).toBe(1);

  lms.courses.unenrol(LATIN.id, 'ben');
  lms.courses.enrol(LATIN, { user_id: 'dee', name: 'Dee Mensah', roles: [LEARNER] });
  await grading.tool.getByRole('button', { name: 'Read the list from your LMS' }).click();
  await grading.tool.getByText('The list is as your LMS has it.').waitFor();
  await grading.tool.getByRole('textbox', { name: 'Score of Dee Mensah' }).waitFor();
  await grading.picture('roster');
  expect(await grading.tool.getByRole('list', { name: 'Learners' }).getByRole('listitem').count()).toBe(1);
  await learner.tool.getByRole('button', { name: `Download ${READING.name}` }).click();
  await learner.tool.getByRole('alert').waitFor();
  await learner.picture('left-by-roster');
  expect(await learner.tool.getByRole('alert').locator('code').textContent()).toBe('not_found');
});
