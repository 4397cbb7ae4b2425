import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { INSTRUCTOR } from '../../../pkg/local/demo/lms/claims.ts';
import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { verifiesStandard } from '../../../pkg/local/demo/standard-webhooks.ts';
import { DAY_MS, MINUTE_MS } from '../../../pkg/runtime/time.ts';
import { jobEnd } from '../../support/clients/batches.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { type Receiver, startReceiver } from '../../support/fakes/receiver.ts';
import { LmsFrames } from '../../support/lms/frames.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { type DemoTenant, demoTenant, waitReady } from '../../support/programs/demo-tenant.ts';
import { apply, platform } from '../../support/programs/platform.ts';
import { range, waitFor } from '../../support/wait.ts';
import { addressOf, type Credentials, firstAdministrator, openAs } from './app.ts';
import { courseShown, registration } from './course.ts';

/** What an administrator sets up in the pages for other programs and for later: webhooks, schedules and LMSs. */
const where = await platform();
let tenant: DemoTenant;
let browser: TestBrowser;
let lms: Lms;
let receiver: Receiver;
let administrator: Credentials;

beforeAll(async () => {
  [tenant, browser, lms, receiver] = await Promise.all([
    demoTenant(where, { limits: { requestsPerUserPerMinute: 2_000 } }),
    openBrowser('third-party blocked'),
    Lms.start(),
    startReceiver(),
  ]);
  administrator = await firstAdministrator(where, tenant);
}, 180_000);

afterAll(async () => {
  await Promise.all([browser?.close(), lms?.stop(), receiver?.close()]);
});

const row = (page: Page, name: RegExp): Locator => page.getByRole('row', { name });

test('a webhook shows its secret once and signs with it; its delivery is seen, and is sent again with its id', async () => {
  const page = await openAs(browser, tenant, administrator, '/admin/webhooks');
  await page.getByRole('button', { name: 'Add webhook' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add webhook' });
  await form.getByLabel('Address').fill(receiver.url);
  await form.getByLabel('What it is for').fill('Catalogue');
  await form.getByRole('button', { name: 'Add webhook' }).click();
  const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('heading', { name: 'Catalogue' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Catalogue' }).waitFor();
  expect(await page.content()).not.toContain(secret);

  await tenant.admin.upload('/files', { name: 'news.txt', file: Buffer.from('news') });
  await row(page, /file\.created Delivered/).waitFor();
  await page.getByRole('button', { name: 'file.created' }).click();
  const delivery = page.getByRole('dialog', { name: 'Delivery of file.created' });
  await delivery.getByText('Answered 204').waitFor();
  await delivery.getByText('"name": "news.txt"').waitFor();
  await delivery.getByRole('button', { name: 'Deliver again' }).click();
  await waitFor('the second delivery', async () => (await row(page, /file\.created Delivered/).count()) === 2);

  const [first, second] = receiver.received;
  expect([first, second].map((one) => one && verifiesStandard(one, secret))).toEqual([true, true]);
  expect([receiver.received.length, second?.id]).toEqual([2, first?.id]);
});

test('a new secret of a webhook is shown once; calls are signed by the former one too, unless that has leaked', async () => {
  const calls = await startReceiver();
  try {
    const webhook = { url: calls.url, events: ['user.updated'], description: 'Directory' };
    const { id, secret: first } = (await tenant.admin.post('/webhooks', webhook)).body;
    const page = await openAs(browser, tenant, administrator, `/admin/webhooks/${id}`);
    const rotate = async (former: string): Promise<string> => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'New secret …' }).click();
      const form = page.getByRole('dialog', { name: 'Make a new secret?' });
      await form.getByRole('radio', { name: former }).check();
      await form.getByRole('button', { name: 'Make secret' }).click();
      const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue();
      await page.getByRole('button', { name: 'Done' }).click();
      return secret;
    };
    const signedBy = async (...secrets: readonly string[]): Promise<boolean[]> => {
      const before = calls.received.length;
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send test' }).click();
      const call = await waitFor('the call', async () => calls.received[before]);
      return secrets.map((secret) => verifiesStandard(call, secret));
    };
    const second = await rotate('24 hours');
    await page.getByText('The former secret also signs until').waitFor();
    const overlapping = await signedBy(first, second);
    await page.reload();
    await page.getByRole('heading', { name: 'Directory' }).waitFor();
    const shownAgain = (await page.content()).includes(second);
    const third = await rotate('Not at all: it has leaked');
    await page.getByText('The former secret also signs until').waitFor({ state: 'detached' });

    expect([overlapping, shownAgain]).toEqual([[true, true], false]);
    expect(await signedBy(first, second, third)).toEqual([false, false, true]);
    await tenant.admin.delete(`/webhooks/${id}`);
  } finally {
    await calls.close();
  }
});

test('a webhook whose receiver does not answer is shown as failing; each attempt is listed until one arrives', async () => {
  const made = async (url: string): Promise<string> =>
    (await tenant.admin.post('/webhooks', { url, events: ['user.updated'] })).body.id;
  const page = await openAs(browser, tenant, administrator);
  const sendTest = async (id: string): Promise<void> => {
    await page.goto(addressOf(tenant, `/admin/webhooks/${id}`));
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send test' }).click();
  };
  // Nobody listens there: the next attempts fail too.
  await sendTest(await made('http://127.0.0.1:9/hook'));
  await row(page, /user\.updated Waiting \d no answer/).waitFor();
  await page.getByText('Failing', { exact: true }).waitFor();

  receiver.answer({ status: 503 }, 1);
  await sendTest(await made(receiver.url));
  await row(page, /user\.updated Delivered 2 204/).waitFor();
  await page.getByText('Healthy', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'user.updated', exact: true }).click();
  const delivery = page.getByRole('dialog', { name: 'Delivery of user.updated' });
  await delivery.getByText('Answered 204').waitFor();

  expect(await delivery.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringContaining('Answered 503'),
    expect.stringContaining('Answered 204'),
  ]);
});

const WEEK_MS = 7 * DAY_MS;
/** The first Thursday 19:30 UTC after a time (ms), which is Friday 4:30 in Tokyo, all year. */
function fridayInTokyo(after: number): number {
  const day = new Date(after);
  const daysLeft = (4 - day.getUTCDay() + 7) % 7;
  const next = Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate() + daysLeft, 19, 30);
  return next > after ? next : next + WEEK_MS;
}

test('a schedule is made with its next runs in sight, is run now, and leads to its job', async () => {
  const before = Date.now();
  const page = await openAs(browser, tenant, administrator, '/admin/schedules');
  await page.getByRole('button', { name: 'Add schedule' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add schedule' });
  await form.getByLabel('Name').fill('Old trash');
  await form.getByLabel('How often').selectOption('Every week');
  await form.getByLabel('Day of the week').selectOption('Friday');
  await form.getByLabel('Time', { exact: true }).fill('04:30');
  await form.getByLabel('Time zone').selectOption('Asia/Tokyo');
  const inForm = form.getByRole('region', { name: 'The next runs' });
  await inForm.getByText('Times of Asia/Tokyo', { exact: true }).waitFor();
  await waitFor('five Fridays', async () => {
    const runs = await inForm.getByRole('listitem').allInnerTexts();
    return runs.length === 5 && runs.every((text) => /^Friday.*0?4:30/.test(text));
  });
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Old trash' }).click();
  const upcoming = page.getByRole('main').getByRole('region', { name: 'The next runs' });
  await upcoming.getByText('Times of Asia/Tokyo', { exact: true }).waitFor();
  const times = await Promise.all((await upcoming.locator('time').all()).map((time) => time.getAttribute('datetime')));
  const runs = times.map((time) => Date.parse(time ?? ''));
  // One of them, unless the schedule is due just now. Runs begin within the minute, each tenant's at a second of its own.
  expect([fridayInTokyo(before), fridayInTokyo(Date.now())]).toContain(Number(runs[0]) - (Number(runs[0]) % MINUTE_MS));
  expect(runs).toEqual(range(5).map((week) => Number(runs[0]) + week * WEEK_MS));
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText('“Old trash” has begun.').first().waitFor();
  await page.getByRole('button', { name: 'Show job' }).click();

  await page.getByRole('heading', { name: /Empty the trash/ }).waitFor();
  await page.getByText('Done', { exact: true }).first().waitFor();
  const [schedule] = (await tenant.admin.get('/schedules')).body.data;
  expect((await tenant.admin.get(`/schedules/${schedule.id}/runs`)).body.data.length).toBe(1);
});

test('a schedule that changes files is tried before it is saved; then a run does what the trial showed', async () => {
  const { body: folder } = await tenant.admin.post('/folders', { name: 'Inbox' });
  for (const name of ['old draft.txt', 'draft.txt', 'final.txt'])
    await tenant.admin.upload('/files', { name, file: Buffer.from('text'), fields: { folder_id: folder.id } });
  const names = async (): Promise<string[]> =>
    (await tenant.admin.get(`/folders/${folder.id}/children`)).body.data.map(({ name }: { name: string }) => name).toSorted();
  const page = await openAs(browser, tenant, administrator, '/admin/schedules');
  await page.getByRole('button', { name: 'Add schedule' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add schedule' });
  await form.getByLabel('Name', { exact: true }).fill('Old drafts');
  await form.getByLabel('What it does').selectOption('Change many files');
  await form.getByRole('button', { name: 'Choose folder …' }).click();
  const chooser = page.getByRole('dialog', { name: 'Choose a folder' });
  await chooser.getByRole('button', { name: 'Inbox' }).click();
  await chooser.getByRole('button', { name: 'Choose this folder' }).click();
  await form.getByLabel('Part of the name (optional)').fill('draft');
  await form.getByRole('button', { name: 'Show what it would do' }).click();
  const trial = form.getByRole('region', { name: 'If it ran now' });
  await trial.getByText('2 files match.').waitFor();
  const found = await trial.getByRole('listitem').allInnerTexts();
  const tried = await names();
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Old drafts' }).click();
  await page.getByText('It has not run yet.').waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();

  await waitFor('the run to delete the drafts', async () => (await names()).length === 1);
  expect([found.toSorted(), tried]).toEqual([
    ['draft.txt', 'old draft.txt'],
    ['draft.txt', 'final.txt', 'old draft.txt'],
  ]);
  expect(await names()).toEqual(['final.txt']);
});

test('an LMS registers itself at the address that the administrator made, once', async () => {
  const page = await openAs(browser, tenant, administrator, '/admin/lms');
  await page.getByRole('button', { name: 'Connect an LMS' }).click();
  await page.getByLabel('What people call this LMS').fill('Moodle of the faculty');
  await page.getByRole('button', { name: 'Make address' }).click();
  const address = await page.getByLabel('Address for the LMS').inputValue();
  const places = await page.getByRole('dialog', { name: 'Connect an LMS' }).getByRole('listitem').allInnerTexts();
  await page.getByRole('button', { name: 'Done' }).click();
  const desk = new RegistrationDesk(lms, FACES.moodle);
  const other = await browser.page();
  await other.goto(new LmsFrames(lms).url('Tools', desk.open(address)));
  const tool = other.frameLocator('iframe[name=tool]');
  await tool.getByRole('button', { name: 'Register' }).click();
  await tool.getByRole('button', { name: 'Back to the LMS' }).waitFor();

  await waitFor('the LMS in the list', async () => {
    await page.reload();
    await page.getByRole('heading', { name: 'LMSs' }).waitFor();
    await page.getByRole('main').locator('.c-skeleton').first().waitFor({ state: 'detached' });
    return (await page.getByRole('link', { name: 'Moodle of the faculty' }).count()) === 1;
  });
  await page.getByRole('link', { name: 'Moodle of the faculty' }).click();
  await page.getByText('Nobody has launched yet.').waitFor();
  await other.goto(new LmsFrames(lms).url('Tools', desk.open(address)));
  await tool.getByRole('heading').first().waitFor();

  expect([desk.tools.length, await tool.getByRole('button', { name: 'Register' }).count()]).toEqual([1, 0]);
  expect(places).toEqual([
    expect.stringMatching(/^Moodle: .*External tool.*Add LTI Advantage$/),
    expect.stringMatching(/^Canvas: .*Developer Keys/),
    expect.stringMatching(/^Brightspace: .*Register Tool: Dynamic$/),
  ]);
});

test('an LMS without such an address is given the four values of its page, by which people launch and are read', async () => {
  const clientId = 'entered-by-hand';
  await apply(where, registration(tenant.namespace, tenant.name, lms.issuer, clientId, 'by-hand'));
  await waitReady(where, tenant.namespace, 'ltiregistration/by-hand');
  const page = await openAs(browser, tenant, administrator, '/admin/lms');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(tenant.apiUrl).origin });
  // Its LMS may have a name, by which it registered itself before.
  await page.getByRole('main').getByRole('listitem').filter({ hasText: clientId }).getByRole('heading').getByRole('link').click();
  const copied = async (label: string): Promise<string> => {
    const button = page.getByRole('main').getByTitle(label, { exact: true });
    await button.click();
    await button.filter({ hasText: 'Copied' }).waitFor();
    return page.evaluate<string>('navigator.clipboard.readText()');
  };
  // What an administrator of the LMS pastes into its form.
  lms.register({
    clientId,
    deploymentId: '1',
    loginInitiationUrl: await copied('Login initiation address'),
    redirectUris: [await copied('Redirect address')],
    targetLinkUri: await copied('Address of the tool'),
    jwksUrl: await copied('Address of the keys (JWKS)'),
  });
  const course = { id: 'botany-1', title: 'Botany' };
  const visitor = await browser.page();
  await visitor.goto(lms.open(clientId, { course, roles: [INSTRUCTOR] }).href);
  await courseShown(visitor, course.title);

  // The LMS finds the key of the tool at the fourth address, or refuses to list the people.
  const { data } = (await tenant.admin.get('/lti/contexts')).body;
  const { id } = data.find(({ title }: { title: string }) => title === course.title);
  const { body: job } = await tenant.admin.post(`/lti/contexts/${id}/members/sync`, {});
  expect(await jobEnd(tenant.admin, job.id)).toMatchObject({ state: 'succeeded' });
});
