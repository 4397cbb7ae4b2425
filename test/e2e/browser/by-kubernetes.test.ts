import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { waitReady } from '../../support/programs/demo-tenant.ts';
import { apply, kubectlOk, platform, runShown } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { addressOf, type Credentials, firstAdministrator, openAs } from './app.ts';
import { apiOf, courseShown, linkName, lmsTenant, type LmsTenant, openInFrame, registration } from './course.ts';

/** What administrators see of what Kubernetes and their LMSs know, and how it is changed there. */
const where = await platform();
let tenant: LmsTenant;
let browser: TestBrowser;
/** The browser of people who come from an LMS. */
let launching: TestBrowser;
let lms: Lms;
let administrator: Credentials;

beforeAll(async () => {
  [tenant, browser, launching, lms] = await Promise.all([
    lmsTenant(where),
    openBrowser('third-party blocked'),
    openBrowser('third-party blocked'),
    Lms.start(),
  ]);
  administrator = await firstAdministrator(where, tenant);
  const { namespace, name } = tenant;
  const spec = {
    schedules: [{ name: 'nightly', kind: 'recount_usage', cron: '0 3 * * *' }],
    shareLinks: { passwordRequired: false },
  };
  await kubectlOk(where, ['patch', `tenant/${name}`, '-n', namespace, '--type=merge', '-p', JSON.stringify({ spec })]);
  const campus = { platform: { name: 'The campus' }, deploymentIds: [], deploymentPolicy: 'Confirm' };
  await apply(where, registration(namespace, name, lms.issuer, 'of-the-campus', 'campus', campus));
  await waitReady(where, namespace, 'ltiregistration/campus');
  await isServed('/schedules', 'nightly');
  await isServed('/settings', '"managed_by":"kubernetes"');
}, 180_000);

afterAll(async () => {
  await Promise.all([browser?.close(), launching?.close(), lms?.stop()]);
});

/** Waits until the API shows what a resource has. */
const isServed = (path: string, text: string): Promise<boolean> =>
  waitFor(`${text} at ${path}`, async () => JSON.stringify((await tenant.admin.get(path)).body).includes(text));

const lineOn = (page: Page): Promise<string> => page.getByRole('main').locator('.kubectl code').innerText();

test.each([
  {
    what: 'a webhook',
    list: 'webhooks',
    named: 'receiver.localhost',
    line: () => `kubectl edit webhook -n ${tenant.namespace} ${tenant.name}`,
    edit: 's/^( *- )grade\\.submitted$/\\1file.deleted/',
    api: '/webhooks',
    served: '"file.deleted"',
    shown: /^file\.deleted$/,
  },
  {
    what: 'a schedule',
    list: 'schedules',
    named: 'nightly',
    line: () => `kubectl edit tenant -n ${tenant.namespace} ${tenant.name}`,
    edit: 's/^( *cron: ).*$/\\130 5 * * 1/',
    api: '/schedules',
    served: '"30 5 * * 1"',
    shown: /Every Monday at 0?5:30/,
  },
  {
    what: 'the registration of an LMS',
    list: 'lms',
    named: 'The campus',
    line: () => `kubectl edit ltiregistration -n ${tenant.namespace} campus`,
    edit: 's/^( *name: )The campus$/\\1The new campus/',
    api: '/lti/registrations',
    served: '"The new campus"',
    shown: /^The new campus$/,
  },
])('$what of Kubernetes is marked, and shows the line that changes it in place of a button', async (of) => {
  const page = await openAs(browser, tenant, administrator, `/admin/${of.list}`);
  const main = page.getByRole('main');
  const row = main.getByRole('listitem').filter({ hasText: of.named });
  await row.getByText('Managed by Kubernetes').waitFor();
  await row.getByRole('link').click();
  await main.getByText('Change it there:').waitFor();
  const line = await lineOn(page);
  const buttons = await main.getByRole('button', { name: /^(Edit|Delete|Switch off)/ }).count();

  const ran = await runShown(where, line, of.edit);
  await isServed(of.api, of.served);
  await page.reload();
  await main.getByText(of.shown).first().waitFor();

  expect([line, buttons, ran]).toEqual([of.line(), 0, expect.objectContaining({ code: 0 })]);
});

test('rules for links that the Tenant resource sets are shown, and changed by the line beside them', async () => {
  const page = await openAs(browser, tenant, administrator, '/admin/links');
  await page.getByText('The Tenant resource sets these rules. Change them there:').waitFor();
  const rule = page.getByRole('checkbox', { name: 'Each link needs a password' });
  const before = [await rule.isChecked(), await rule.isDisabled(), await page.getByRole('button', { name: 'Save' }).count()];

  const ran = await runShown(where, await lineOn(page), 's/^( *passwordRequired: )false$/\\1true/');
  await isServed('/settings', '"password_required":true');
  await page.reload();
  await page.getByRole('checkbox', { name: 'Each link needs a password', checked: true, disabled: true }).waitFor();

  expect([before, ran]).toEqual([[false, true, 0], expect.objectContaining({ code: 0 })]);
});

test('a deployment that nobody knows waits for an administrator, launches once admitted, and not after a refusal', async () => {
  const { origin, host, protocol } = new URL(tenant.apiUrl);
  const lti = `${protocol}//lti.${host}`;
  lms.register({
    clientId: 'of-the-campus',
    deploymentId: 'faculty 7',
    redirectUris: [`${lti}/launch`],
    loginInitiationUrl: `${lti}/login_initiation`,
    targetLinkUri: `${origin}/lti/launch`,
  });
  const visitor = await launching.page();
  const launch = (): Promise<unknown> => visitor.goto(lms.open('of-the-campus').href);
  await launch();
  await visitor.getByText('deployment_waiting').waitFor();

  const page = await openAs(browser, tenant, administrator, '/admin/lms');
  await page.getByRole('listitem').filter({ hasText: 'Deployments waiting: 1' }).getByRole('link').click();
  await page.getByRole('button', { name: 'Admit faculty 7' }).click();
  await page.getByText('faculty 7 may launch now.').first().waitFor();
  await launch();
  await courseShown(visitor, 'History');

  await page.getByRole('button', { name: 'Refuse faculty 7' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Refuse' }).click();
  await page.getByText('faculty 7 may not launch.').first().waitFor();
  await launch();
  await visitor.getByText('deployment_refused').waitFor();
});

test('the page of a course has the roster and the grade book of its LMS, and the way of each grade from here', async () => {
  const ben = await launching.page();
  await courseShown(await openInFrame(ben, where, linkName(tenant, 'Ben Lindqvist', 'Physics', 'a frame')), 'Physics');
  const ada = await launching.page();
  await courseShown(await openInFrame(ada, where, linkName(tenant, 'Ada Okafor', 'Physics', 'a frame')), 'Physics');
  const { data } = (await tenant.admin.get('/lti/contexts')).body;
  const { id } = data.find(({ title }: { title: string }) => title === 'Physics');
  const columns = `/lti/contexts/${id}/line-items`;
  const { body: column } = await (await apiOf(ada, tenant)).post(columns, { label: 'Essay', score_maximum: 20 });

  const page = await openAs(browser, tenant, administrator, '/courses');
  await page.getByRole('link', { name: 'Physics', exact: true }).click();
  const row = (name: RegExp) => page.getByRole('row', { name });
  await row(/Ben Lindqvist.*Learning.*A launch/).waitFor();
  await page.getByRole('button', { name: 'Read the roster now' }).click();
  await row(/Dana Petrova.*Learning.*The roster.*None/).waitFor();

  const score = { user_id: 'ben', score: 15, score_maximum: 20, comment: 'Well argued.' };
  const given = await tenant.admin.post(`${columns}/${column.id}/scores`, score);
  await page.getByRole('tab', { name: 'Grades from here' }).click();
  await row(/Ben Lindqvist 15 of 20.*In the LMS/).waitFor();
  await page.getByRole('tab', { name: 'Grade book' }).click();
  const essay = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Essay', exact: true }) });
  await essay.getByRole('button', { name: 'Show results' }).click();
  await page
    .getByRole('table', { name: 'Results of Essay' })
    .getByRole('row', { name: /Ben Lindqvist.*15 of 20/ })
    .waitFor();
  await page.goto(addressOf(tenant, '/courses'));
  await page.getByRole('listitem').filter({ hasText: 'Physics' }).getByText('Roster read').waitFor();

  expect(given.status).toBe(201);
});
