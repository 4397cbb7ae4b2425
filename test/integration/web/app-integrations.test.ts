import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { INSTRUCTOR, LEARNER, LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { SETTINGS } from '../../support/clients/grading.ts';
import { rosterCourse, type RosterCourse } from '../../support/clients/rosters.ts';
import { Browser, follow } from '../../support/lms/browser.ts';
import { launched } from '../../support/lms/launched.ts';
import { registeredLms, type Registration } from '../../support/lms/registration.ts';
import { gradingSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { NARROW, openSignedIn } from './app-pages.ts';

const { grading } = gradingSuite(SETTINGS);
let browser: TestBrowser;
/** A course with a roster, a graded learner, and a column of the grade book. */
let course: RosterCourse;
/** An LMS with a deployment that waits. */
let waiting: Registration;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
  const { tenant, at } = grading;
  course = await rosterCourse(tenant, at);
  course.enrol({ user_id: 'ben', name: 'Ben Adeyemi', email: 'ben@example.org' });
  await course.api.post(`/lti/contexts/${course.id}/line-items`, { label: 'Essay', score_maximum: 10 });
  const pager = { url: grading.receiver.url, events: ['file.deleted'], description: 'Pager' };
  await tenant.admin.post(`/webhooks/${(await tenant.admin.post('/webhooks', pager)).body.id}/test`, {});
  await tenant.admin.post('/schedules', { name: 'Counts', kind: 'recount_usage', cron: '0 3 * * *' });
  waiting = await registeredLms(tenant, at, { deploymentPolicy: 'Confirm' });
  await knock('campus 7');
}, 300_000);

afterAll(() => browser?.close());

/** A launch from a deployment that nobody has admitted. */
const knock = (deployment: string) =>
  follow(
    new Browser(),
    waiting.lms.open(
      waiting.clientId,
      { user: { id: 'ada' }, roles: [INSTRUCTOR] },
      { claims: (claims) => void (claims[`${LTI}/deployment_id`] = deployment) },
    ),
  );

const administrator = (path: string): Promise<Page> => openSignedIn(browser, grading.tenant, grading.tenant.administrator, path);
const shownUrl = (page: Page): string => new URL(page.url()).pathname;
const row = (page: Page, name: string | RegExp): Locator => page.getByRole('row', { name });

test('a webhook is added, its secret is shown once, and a test event reaches its receiver', async () => {
  const { receiver, tenant } = grading;
  const page = await administrator('/admin/webhooks');
  await page.getByRole('button', { name: 'Add webhook' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add webhook' });
  await form.getByRole('button', { name: 'Add webhook' }).click();
  await form.getByText('Enter the address.').waitFor();
  await form.getByLabel('Address').fill(receiver.url);
  await form.getByLabel('What it is for').fill('Plagiarism check');
  await form.getByRole('checkbox', { name: /A grade reaches an LMS/ }).check();
  await form.getByRole('button', { name: 'Add webhook' }).click();
  const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('heading', { name: 'Plagiarism check' }).waitFor();

  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('dialog').getByLabel('Event').selectOption('grade.submitted');
  await page.getByRole('dialog').getByRole('button', { name: 'Send test' }).click();
  await row(page, /grade\.submitted Delivered/).waitFor();
  await page.getByRole('button', { name: 'grade.submitted' }).click();
  const delivery = page.getByRole('dialog', { name: 'Delivery of grade.submitted' });
  await delivery.getByText('Answered 204').waitFor();
  await delivery.getByText('00000000-0000-0000-0000-000000000000').first().waitFor();

  const { body } = await tenant.admin.get('/webhooks');
  const made = body.data.find(({ description }: { description: string | null }) => description === 'Plagiarism check');
  expect([secret.startsWith('whsec_'), made.events]).toEqual([true, ['file.created', 'grade.submitted']]);
});

test('what a receiver refused is seen with its attempts, and is delivered again', async () => {
  const { receiver, tenant } = grading;
  const { body } = await tenant.admin.post('/webhooks', { url: receiver.url, events: ['user.created'], description: 'Refuses' });
  receiver.answer({ status: 500 });
  await tenant.admin.post(`/webhooks/${body.id}/test`, {});
  const page = await administrator(`/admin/webhooks/${body.id}`);
  await page.getByText('Failing', { exact: true }).waitFor();
  await row(page, /user\.created/)
    .getByText('500')
    .waitFor();
  receiver.answer({ status: 204 });
  await row(page, /user\.created Delivered/).waitFor();
  await page.getByRole('button', { name: 'user.created' }).click();
  const delivery = page.getByRole('dialog', { name: 'Delivery of user.created' });
  await delivery.getByText('Answered 500').first().waitFor();

  await delivery.getByRole('button', { name: 'Deliver again' }).click();
  await waitFor('the second delivery', async () => (await row(page, /user\.created Delivered/).count()) === 2);

  expect(await delivery.count()).toBe(0);
});

test('a webhook that another administrator changes meanwhile is not overwritten, though the page has read it again', async () => {
  const { receiver, tenant } = grading;
  receiver.answer({ status: 500 });
  const { body } = await tenant.admin.post('/webhooks', { url: receiver.url, events: ['user.created'], description: 'First' });
  await tenant.admin.post(`/webhooks/${body.id}/test`, {});
  const page = await administrator(`/admin/webhooks/${body.id}`);
  await page.getByText('Failing', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Edit' });
  await form.getByLabel('What it is for').fill('Mine');
  await tenant.admin.patch(`/webhooks/${body.id}`, { description: 'Theirs' });
  receiver.answer({ status: 204 });
  await page.locator('h1', { hasText: 'Theirs' }).waitFor();

  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByRole('alert').getByText('This was changed elsewhere meanwhile.').waitFor();

  expect((await tenant.admin.get(`/webhooks/${body.id}`)).body.description).toBe('Theirs');
});

test('a webhook that Kubernetes manages is shown with the command that changes it, and has no button for that', async () => {
  const page = await administrator('/admin/webhooks');
  await page.getByRole('listitem').filter({ hasText: 'Managed by Kubernetes' }).getByRole('link').click();
  await page.getByText(/kubectl edit webhook -n test/).waitFor();
  const address = await page
    .getByRole('main')
    .getByText(/^http:/)
    .first()
    .innerText();

  expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  // It has no description, so its address names it.
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(address.replace('http://', ''));
});

test('a schedule shows its next five runs in words and in its time zone before it is saved', async () => {
  const page = await administrator('/admin/schedules');
  await page.getByRole('button', { name: 'Add schedule' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add schedule' });
  await form.getByLabel('Name').fill('Old trash');
  await form.getByLabel('How often').selectOption('Every week');
  await form.getByLabel('Day of the week').selectOption('Friday');
  await form.getByLabel('Time', { exact: true }).fill('04:30');
  await form.getByLabel('Time zone').selectOption('Asia/Tokyo');
  await waitFor('five Fridays', async () => {
    const runs = await form.getByRole('region', { name: 'The next runs' }).getByRole('listitem').allInnerTexts();
    return runs.length === 5 && runs.every((text) => /^Friday.*0?4:30/.test(text));
  });
  await form.getByLabel('How often').selectOption('By a cron expression');
  await form.getByLabel('Cron expression').fill('0 25 * * *');
  await form.getByText(/hour: "25" is not one of 0 to 23/).waitFor();
  await form.getByLabel('Cron expression').fill('30 4 * * fri');
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await form.waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Old trash' }).click();
  const { body } = await grading.tenant.admin.get('/schedules');
  expect(body.data).toContainEqual(
    expect.objectContaining({ name: 'Old trash', cron: '30 4 * * fri', time_zone: 'Asia/Tokyo', kind: 'empty_trash' }),
  );
});

test('a schedule that changes files shows what it would do before it is saved, and does nothing yet', async () => {
  const { admin } = grading.tenant;
  const { body: folder } = await admin.post('/folders', { name: 'Inbox' });
  for (const name of ['old draft.txt', 'draft.txt', 'final.txt'])
    await admin.upload('/files', { name, file: Buffer.from('a'), fields: { folder_id: folder.id } });
  const page = await administrator('/admin/schedules');
  await page.getByRole('button', { name: 'Add schedule' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add schedule' });
  await form.getByLabel('Name', { exact: true }).fill('Old drafts');
  await form.getByLabel('What it does').selectOption('Change many files');
  await form.getByRole('button', { name: 'Show what it would do' }).click();
  await form.getByText('Choose the folder.').waitFor();
  await form.getByRole('button', { name: 'Choose folder …' }).click();
  const chooser = page.getByRole('dialog', { name: 'Choose a folder' });
  await chooser.getByRole('button', { name: 'Inbox' }).click();
  await chooser.getByRole('button', { name: 'Choose this folder' }).click();
  await form.getByText('/Inbox').waitFor();
  await form.getByLabel('Part of the name (optional)').fill('draft');
  await form.getByRole('button', { name: 'Show what it would do' }).click();
  const trial = form.getByRole('region', { name: 'If it ran now' });
  await trial.getByText('2 files match.').waitFor();
  const found = await trial.getByRole('listitem').allInnerTexts();
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Old drafts' }).click();
  await page.getByRole('term').filter({ hasText: 'Files directly in' }).waitFor();

  const { body } = await admin.get('/schedules');
  expect(found.toSorted()).toEqual(['draft.txt', 'old draft.txt']);
  expect(body.data.find(({ name }: { name: string }) => name === 'Old drafts')).toMatchObject({
    kind: 'batch',
    arguments: { operation: 'delete', filter: { folder_id: folder.id, q: 'draft' } },
    last_run: null,
  });
  expect((await admin.get(`/folders/${folder.id}/children`)).body.data).toHaveLength(3);
});

test('a schedule runs when somebody says so, and its run is listed with its end', async () => {
  const { admin } = grading.tenant;
  const { body: schedule } = await admin.post('/schedules', { name: 'By hand', kind: 'recount_usage', cron: '0 3 * * *' });
  const page = await administrator(`/admin/schedules/${schedule.id}`);
  await page.getByText('It has not run yet.').waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText('“By hand” has begun.').first().waitFor();
  const runs = page.getByRole('region', { name: 'Runs of the last 30 days' });
  await runs.getByRole('listitem').getByText('Done', { exact: true }).waitFor();

  expect(await runs.getByRole('link').allInnerTexts()).toEqual(['Count the storage anew']);
});

test('a deployment that waits is admitted, and its launches go through', async () => {
  const page = await administrator('/admin/lms');
  await page.getByRole('listitem').filter({ hasText: 'Deployments waiting: 1' }).getByRole('link').click();
  await page.getByRole('button', { name: 'Admit campus 7' }).click();
  await page.getByText('campus 7 may launch now.').waitFor();

  expect((await knock('campus 7')).status).toBe(303);
});

test('the people of a course are read from the LMS, and its grades are shown with their way there', async () => {
  const { tenant, at } = grading;
  const learner = { course: course.course, user: { id: 'ben', name: 'Ben Adeyemi' }, roles: [LEARNER] };
  await launched(tenant, at, learner);
  const page = await administrator('/courses');
  await page.getByRole('link', { name: course.course.title }).click();
  course.enrol({ user_id: 'cyd', name: 'Cyd Lindqvist', email: 'cyd@example.org' });
  await page.getByRole('button', { name: 'Read the roster now' }).click();
  await row(page, /Cyd Lindqvist.*Learning.*The roster.*None/).waitFor();

  const { data } = (await tenant.admin.get(`/lti/contexts/${course.id}/line-items`)).body;
  await tenant.admin.post(`/lti/contexts/${course.id}/line-items/${data[0].id}/scores`, {
    user_id: 'ben',
    score: 8.5,
    score_maximum: 10,
    comment: 'Well argued.',
  });
  await page.getByRole('tab', { name: 'Grades from here' }).click();
  await row(page, /Ben Adeyemi 8\.5 of 10.*In the LMS/).waitFor();

  expect(await page.getByRole('button', { name: /^Send the grade/ }).count()).toBe(0);
});

test('the results of a column of the grade book are shown to whoever asks for them', async () => {
  const { tenant, at } = grading;
  await launched(tenant, at, { course: course.course, user: { id: 'dee', name: 'Dee Quill' }, roles: [LEARNER] });
  const path = `/lti/contexts/${course.id}/line-items`;
  const { body: column } = await course.api.post(path, { label: 'Quiz', score_maximum: 20 });
  const score = { user_id: 'dee', score: 12.5, score_maximum: 20, comment: 'Nearly all.' };
  const { body: grade } = await course.api.post(`${path}/${column.id}/scores`, score);
  await waitFor('the grade to reach the LMS', async () => {
    const { data } = (await tenant.admin.get('/lti/grades', { query: { context_id: course.id } })).body;
    return data.find(({ id }: { id: string }) => id === grade.id)?.status === 'submitted';
  });
  const page = await administrator(`/courses/${course.id}`);
  await page.getByRole('tab', { name: 'Grade book' }).click();
  const quiz = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Quiz' }) });
  await quiz.getByRole('button', { name: 'Show results' }).click();
  await quiz
    .getByRole('table', { name: 'Results of Quiz' })
    .getByRole('row', { name: /Dee Quill/ })
    .waitFor();
  const results = await quiz.getByRole('row').allInnerTexts();
  await page.setViewportSize(NARROW);
  await waitFor('nothing of the table to be cut off', () =>
    page.locator('.courses-scroll').evaluate((region: Box) => region.scrollWidth <= region.clientWidth),
  );

  expect(results.map((text) => text.split('\t'))).toEqual([
    ['Person', 'Result', 'Comment'],
    ['Dee Quill', '12.5 of 20', 'Nearly all.'],
  ]);
});

test('whoever is in a long roster and was never here has their name in the grade book and beside their grade', async () => {
  const { tenant, at } = grading;
  const large = await rosterCourse(tenant, at);
  large.enrolMany(230);
  await large.sync();
  const people = await large.people({});
  // Of the second reply of members.
  const { lms_user_id: last, name } = people[220] ?? { lms_user_id: '', name: '' };
  const path = `/lti/contexts/${large.id}/line-items`;
  const { body: column } = await large.api.post(path, { label: 'Oral', score_maximum: 10 });
  const { body: grade } = await large.api.post(`${path}/${column.id}/scores`, { user_id: last, score: 7, score_maximum: 10 });
  await waitFor('the grade to reach the LMS', async () => {
    const { data } = (await tenant.admin.get('/lti/grades', { query: { context_id: large.id } })).body;
    return data.find(({ id }: { id: string }) => id === grade.id)?.status === 'submitted';
  });
  const page = await administrator(`/courses/${large.id}`);
  await page.getByRole('tab', { name: 'Grade book' }).click();
  const oral = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Oral' }) });
  await oral.getByRole('button', { name: 'Show results' }).click();
  await row(page, `${name} 7 of 10`).waitFor();
  await page.getByRole('tab', { name: 'Grades from here' }).click();
  await row(page, new RegExp(`^${name} 7 of 10`)).waitFor();

  expect(name).toMatch(/^Person \d+$/);
});

test('who may not see webhooks sees that, without a button to try again', async () => {
  const { user, password } = await grading.tenant.user();
  const page = await openSignedIn(browser, grading.tenant, { email: user.email, password }, '/admin/webhooks');
  await page.locator('.problem-note').getByText('forbidden').waitFor();

  expect([await page.getByRole('button', { name: 'Try again' }).count(), shownUrl(page)]).toEqual([0, '/admin/webhooks']);
});

/** The widths of an element, CSS pixels. */
interface Box {
  readonly scrollWidth: number;
  readonly clientWidth: number;
}

const nothing = (): Promise<void> => Promise.resolve();
const open =
  (name: string | RegExp) =>
  (page: Page): Promise<void> =>
    page.getByRole('main').getByRole('link', { name }).first().click();

test.each<[string, string, (page: Page) => Promise<unknown>]>([
  ['the webhooks', '/admin/webhooks', nothing],
  ['the form of a webhook', '/admin/webhooks', (page) => page.getByRole('button', { name: 'Add webhook' }).click()],
  [
    'a delivery',
    '/admin/webhooks',
    async (page) => {
      await page.getByRole('listitem').filter({ hasText: 'Pager' }).getByRole('link').click();
      await page.getByRole('button', { name: 'file.deleted' }).first().click();
      await page.getByRole('dialog').getByRole('region', { name: 'What is sent' }).waitFor();
    },
  ],
  ['the schedules', '/admin/schedules', nothing],
  [
    'the form of a schedule',
    '/admin/schedules',
    async (page) => {
      await page.getByRole('button', { name: 'Add schedule' }).click();
      await page.getByRole('heading', { name: 'The next runs' }).waitFor();
    },
  ],
  [
    'the form of a schedule that changes files, with what is missing',
    '/admin/schedules',
    async (page) => {
      await page.getByRole('button', { name: 'Add schedule' }).click();
      await page.getByLabel('What it does').selectOption('Change many files');
      await page.getByRole('button', { name: 'Show what it would do' }).click();
      await page.getByText('Choose the folder.').waitFor();
    },
  ],
  [
    'a schedule',
    '/admin/schedules',
    async (page) => {
      await page.getByRole('link', { name: 'Counts' }).click();
      await page.getByRole('heading', { name: 'The next runs' }).waitFor();
      await page.getByText('It has not run yet.').waitFor();
    },
  ],
  ['an LMS', '/admin/lms', (page) => page.getByRole('heading', { level: 2 }).getByRole('link').first().click()],
  ['the courses', '/courses', nothing],
  ['a course', '/courses', open(/./)],
])('axe finds nothing on %s in light and dark, and at 400 %% zoom nothing is cut off', async (_what, path, reach) => {
  const page = await administrator(path);
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('main').locator('.c-skeleton').first().waitFor({ state: 'detached' });
  await reach(page);
  await page.getByRole('main').locator('.c-skeleton').first().waitFor({ state: 'detached' });
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});
