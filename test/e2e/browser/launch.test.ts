import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cookies, openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { waitReady } from '../../support/programs/demo-tenant.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { apply, platform } from '../../support/programs/platform.ts';
import { courseShown, linkName, lmsTenant, type LmsTenant, lmsUrl, openInFrame, registration, reloadFrame } from './course.ts';

const where = await platform();
const browsers: Partial<Record<Cookies, TestBrowser>> = {};
let tenant: LmsTenant;

beforeAll(async () => {
  [tenant] = await Promise.all([
    lmsTenant(where),
    ...(['third-party blocked', 'all blocked'] as const).map(
      async (cookies) => (browsers[cookies] = await openBrowser(cookies, [], { isWhole: true })),
    ),
  ]);
}, 180_000);

afterAll(async () => {
  await Promise.all(Object.values(browsers).map((browser) => browser.close()));
});

const newPage = (cookies: Cookies) => browsers[cookies]!.page();
const ada = (way: string): string => linkName(tenant, 'Ada Okafor', 'History', way);

test('a launch in a frame without third-party cookies lands on the entry page by a partitioned cookie', async () => {
  const page = await newPage('third-party blocked');

  const tool = await openInFrame(page, where, ada('a frame without storage'));

  await courseShown(tool, 'History');
  expect(await tool.getByText('Hello Ada Okafor').count()).toBe(1);
  const { pathname, searchParams } = new URL(page.frame({ name: 'tool' })?.url() ?? '');
  expect([pathname, searchParams.has('token')]).toEqual(['/lti/entry', false]);
});

test('with every cookie blocked, a launch lands on the entry page by the storage of the LMS', async () => {
  const page = await newPage('all blocked');

  const tool = await openInFrame(page, where, ada('a frame'));

  await courseShown(tool, 'History');
  expect(await tool.getByText('Hello Ada Okafor').count()).toBe(1);
});

test('with every cookie and storage of its own blocked, the frame keeps its session over a reload', async () => {
  const page = await newPage('all blocked');
  const tool = await openInFrame(page, where, ada('a frame'));
  await courseShown(tool, 'History');

  await reloadFrame(page);

  await courseShown(tool, 'History');
});

test('the way back to the course leaves the frame', async () => {
  const page = await newPage('third-party blocked');
  const tool = await openInFrame(page, where, ada('a frame'));
  await courseShown(tool, 'History');

  await tool.getByRole('link', { name: 'Back to the course' }).click();

  await page.waitForURL(`${lmsUrl(where)}?back`);
});

test('with every cookie blocked and no platform storage, the frame says why it cannot open, with a code', async () => {
  const page = await newPage('all blocked');

  const tool = await openInFrame(page, where, ada('a frame without storage'));

  expect(await tool.locator('code').first().textContent()).toBe('state_not_bound');
});

test('a launch in a window of its own lands on the entry page', async () => {
  const page = await newPage('third-party blocked');
  await page.goto(lmsUrl(where));

  await page.getByRole('link', { name: ada('this window'), exact: true }).click();

  await courseShown(page, 'History');
});

test('a reload keeps the session; without the tab’s memory the page says to open it again from the course', async () => {
  const page = await newPage('third-party blocked');
  await page.goto(lmsUrl(where));
  await page.getByRole('link', { name: ada('this window'), exact: true }).click();
  await courseShown(page, 'History');

  await page.reload();
  await courseShown(page, 'History');
  await page.evaluate('sessionStorage.clear()');
  await page.reload();

  expect(await page.locator('code').first().textContent()).toBe('session_ended');
});

test('a page whose session ended on the server says to open it again from the course', async () => {
  const page = await newPage('third-party blocked');
  await page.goto(lmsUrl(where));
  await page.getByRole('link', { name: linkName(tenant, 'Chi Tanaka', 'Physics', 'this window'), exact: true }).click();
  await courseShown(page, 'Physics');
  const users: { data: { id: string; display_name: string }[] } = (await tenant.admin.get('/users')).body;
  const chi = users.data.find(({ display_name }) => display_name === 'Chi Tanaka');
  await tenant.admin.delete(`/users/${chi?.id}`);

  await page.reload();

  expect(await page.locator('code').first().textContent()).toBe('session_ended');
});

test('the launch address opened by hand says to start from the LMS', async () => {
  const page = await newPage('third-party blocked');

  const answer = await page.goto(`${new URL(tenant.apiUrl).origin}/lti/launch`);

  expect(answer?.status()).toBe(400);
  expect(await page.locator('code').first().textContent()).toBe('start_from_lms');
});

test('a launch of a deployment that is not listed names the id to add', async () => {
  const lms = await Lms.start();
  try {
    const clientId = 'stranger';
    await apply(where, registration(tenant.namespace, tenant.name, lms.issuer, clientId, 'other-lms'));
    await waitReady(where, tenant.namespace, 'ltiregistration/other-lms');
    const origin = new URL(tenant.apiUrl);
    const lti = `${origin.protocol}//lti.${origin.host}`;
    const targetLinkUri = `${origin.origin}/lti/launch`;
    lms.register({
      clientId,
      deploymentId: 'nine',
      redirectUris: [`${lti}/launch`],
      loginInitiationUrl: `${lti}/login_initiation`,
      targetLinkUri,
    });
    const page = await newPage('third-party blocked');

    await page.goto(lms.open(clientId).href);

    await page.getByText('unknown_deployment').waitFor();
    expect(await page.getByText('nine').count()).toBe(1);
  } finally {
    await lms.stop();
  }
});
