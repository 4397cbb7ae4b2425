import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { Keyboard } from '../../support/clients/keyboard.ts';
import { LmsFrames } from '../../support/lms/frames.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { type DemoTenant, demoTenant } from '../../support/programs/demo-tenant.ts';
import { platform } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { type Credentials, firstAdministrator, openAs } from './app.ts';
import { makeReadSamples } from './read-samples.ts';

/** What administrators add and decide without a mouse. The tenant has one thing of each kind. */
const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
let lms: Lms;
let administrator: Credentials;

beforeAll(async () => {
  [tenant, browser, lms] = await Promise.all([
    demoTenant(where, { limits: { requestsPerUserPerMinute: 2_000 } }),
    openBrowser('third-party blocked'),
    Lms.start(),
  ]);
  administrator = await firstAdministrator(where, tenant);
  await makeReadSamples(where, tenant, lms, browser);
}, 300_000);

afterAll(async () => {
  await Promise.all([browser?.close(), lms?.stop()]);
});

async function signedIn(): Promise<[Page, Keyboard]> {
  const page = await openAs(browser, tenant, administrator);
  await page.getByRole('navigation', { name: 'Path' }).waitFor();
  return [page, new Keyboard(page)];
}

const titled = (page: Page, title: string): Promise<void> => page.getByRole('heading', { name: title, level: 1 }).waitFor();

/** Goes to a page of administration. */
async function administrationOf(name: string, title = name): Promise<[Page, Keyboard]> {
  const [page, keyboard] = await signedIn();
  await keyboard.press('m');
  await keyboard.use('Administration');
  await titled(page, 'People');
  await keyboard.use(name);
  await titled(page, title);
  await keyboard.held(`going to ${name}`);
  return [page, keyboard];
}

test('by keyboard alone an administrator adds a person with two roles, and gets an address for their password', async () => {
  const [page, keyboard] = await administrationOf('People');
  await keyboard.use('Add person');
  const form = page.getByRole('dialog', { name: 'Add person' });
  await form.waitFor();
  await keyboard.isAt('E-mail address');
  await keyboard.type('lena@example.org');
  await keyboard.tabTo('User name');
  await keyboard.type('lena');
  await keyboard.tabTo('Name that others see (optional)');
  await keyboard.type('Lena Berg');
  await keyboard.tabTo('Instructor');
  await keyboard.press('Space');
  await keyboard.use('Add person');
  const handOn = page.getByRole('dialog', { name: 'Password of Lena Berg' });
  await handOn.waitFor();
  await keyboard.held('adding a person');
  await keyboard.use('Make link');
  const address = await handOn.getByLabel('Address to hand on').inputValue();
  await keyboard.held('making an address');
  await keyboard.use('Done');
  await handOn.waitFor({ state: 'detached' });
  await keyboard.held('ending with the address');

  const { data } = (await tenant.admin.get('/users', { query: { q: 'lena' } })).body;
  expect(data).toMatchObject([{ email: 'lena@example.org', username: 'lena', display_name: 'Lena Berg' }]);
  expect(data[0].roles.toSorted()).toEqual(['instructor', 'member']);
  expect(new URL(address).pathname).toBe('/reset');
});

test('by keyboard alone an administrator adds a webhook for chosen events, and sees its secret', async () => {
  const [page, keyboard] = await administrationOf('Webhooks');
  await keyboard.use('Add webhook');
  await page.getByRole('dialog', { name: 'Add webhook' }).waitFor();
  await keyboard.isAt('Address');
  await keyboard.type('http://127.0.0.1:9/hook');
  await keyboard.tabTo('What it is for (optional)');
  await keyboard.type('Directory');
  await keyboard.tabTo('A file arrives');
  await keyboard.press('Space');
  await keyboard.tabTo('A person changes');
  await keyboard.press('Space');
  await keyboard.use('Add webhook');
  const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue();
  await keyboard.held('making a webhook');
  await keyboard.use('Done');
  await titled(page, 'Directory');
  await keyboard.held('going to the webhook');

  const { data } = (await tenant.admin.get('/webhooks')).body;
  const made = data.find(({ description }: { description: string | null }) => description === 'Directory');
  expect([made.url, made.events]).toEqual(['http://127.0.0.1:9/hook', ['user.updated']]);
  expect(secret).toMatch(/^whsec_/);
});

test('by keyboard alone an administrator adds a schedule, and sees its next runs before', async () => {
  const [page, keyboard] = await administrationOf('Schedules');
  await keyboard.use('Add schedule');
  const form = page.getByRole('dialog', { name: 'Add schedule' });
  await form.waitFor();
  await keyboard.isAt('Name');
  await keyboard.type('Old trash');
  await keyboard.tabTo('How often');
  await keyboard.pick(form.getByLabel('How often'), 'weekly');
  await keyboard.tabTo('Day of the week');
  await keyboard.pick(form.getByLabel('Day of the week'), '5');
  await waitFor('five Fridays', async () => {
    const runs = await form.getByRole('region', { name: 'The next runs' }).getByRole('listitem').allInnerTexts();
    return runs.length === 5 && runs.every((text) => text.startsWith('Friday'));
  });
  await keyboard.use('Add schedule');
  await form.waitFor({ state: 'detached' });
  await keyboard.isAt('Add schedule');
  await keyboard.held('adding a schedule');
  await keyboard.use('Old trash');
  await titled(page, 'Old trash');
  await keyboard.held('opening the schedule');

  const { data } = (await tenant.admin.get('/schedules')).body;
  const made = data.find(({ name }: { name: string }) => name === 'Old trash');
  expect([made.kind, made.cron]).toEqual(['empty_trash', '0 3 * * fri']);
});

test('by keyboard alone an administrator makes an address for an LMS, at which that registers itself', async () => {
  const [page, keyboard] = await administrationOf('LMSs');
  await keyboard.use('Connect an LMS');
  const form = page.getByRole('dialog', { name: 'Connect an LMS' });
  await form.waitFor();
  await keyboard.isAt('What people call this LMS (optional)');
  await keyboard.type('Moodle of the faculty');
  await keyboard.press('Enter');
  const address = await form.getByLabel('Address for the LMS').inputValue();
  await keyboard.held('making an address');
  await keyboard.tabTo('Address for the LMS');
  await keyboard.use('Done');
  await form.waitFor({ state: 'detached' });
  await keyboard.isAt('Connect an LMS');
  await keyboard.held('ending with the address');

  const moodle = await Lms.start();
  try {
    const other = await browser.page();
    await other.goto(new LmsFrames(moodle).url('Tools', new RegistrationDesk(moodle, FACES.moodle).open(address)));
    await other.frameLocator('iframe[name=tool]').getByRole('button', { name: 'Register' }).waitFor();
    await other.close();
  } finally {
    await moodle.stop();
  }
});

test('by keyboard alone an administrator sets the rules for links', async () => {
  const [page, keyboard] = await administrationOf('Rules for links');
  await keyboard.tabTo('Each link needs a password');
  await keyboard.press('Space');
  await keyboard.tabTo('Links end after (days)');
  await keyboard.type('30');
  await keyboard.press('Enter');
  await page.getByText('The rules are saved.').first().waitFor();
  await keyboard.held('saving the rules');

  const { share_links } = (await tenant.admin.get('/settings')).body;
  expect(share_links).toMatchObject({ enabled: true, password_required: true, max_days: 30 });
});

test('by keyboard alone an administrator reads a group, the settings of the institution, and a course', async () => {
  const [page, keyboard] = await administrationOf('Groups');
  await keyboard.use(/^Second year/);
  await titled(page, 'Second year');
  await keyboard.held('opening a group');
  await keyboard.tabTo('Institution');
  await keyboard.press('Enter');
  await titled(page, 'Settings of the institution');
  await keyboard.held('going to the settings of the institution');
  await keyboard.use('How to change it (Name)');
  const line = page.locator('details[open] code');
  await line.waitFor();
  await keyboard.isAt('How to change it (Name)');
  expect(await line.innerText()).toContain(tenant.name);
  await keyboard.press('Enter');
  await page.locator('details[open]').waitFor({ state: 'detached' });

  await keyboard.press('m');
  await keyboard.use('Courses');
  await titled(page, 'Courses');
  await keyboard.held('going to the courses');
  await keyboard.use('History');
  await titled(page, 'History');
  await keyboard.held('opening a course');
  await keyboard.tabTo('People');
  await keyboard.press('ArrowRight');
  await keyboard.isAt('Grade book');
  await page.getByRole('tabpanel', { name: 'Grade book' }).waitFor();
  await keyboard.held('going to the grade book');
});
