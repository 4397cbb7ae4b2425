import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openBrowser, type TestBrowser } from '../../support/chromium.ts';
import { platform } from '../../support/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { courseShown, linkName, lmsTenant, type LmsTenant, lmsUrl, openInFrame } from './course.ts';

const where = await platform();
let tenant: LmsTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([lmsTenant(where), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(() => browser?.close());

test('a grade given in a course that was opened in a browser appears in the grade book of the LMS, and a webhook reports it', async () => {
  const page = await browser.page();
  const tool = await openInFrame(page, where, linkName(tenant, 'Ada Okafor', 'History', 'a frame'));
  await courseShown(tool, 'History');
  const launchId = new URL(page.frame({ name: 'tool' })?.url() ?? '').searchParams.get('launch');

  const given = await tenant.admin.post(`/lti/launches/${launchId}/grades`, {
    user_id: 'ben',
    score: 8.5,
    score_maximum: 10,
    comment: `for ${tenant.name}`,
  });

  expect(given).toMatchObject({ status: 201, body: { status: 'pending' } });
  const cells = await waitFor('the score in the grade book', async () => {
    await page.goto(lmsUrl(where));
    const row = page.getByRole('row').filter({ hasText: `for ${tenant.name}` });
    return (await row.count()) === 1 && row.getByRole('cell').allTextContents();
  });
  expect(cells.slice(1, 4)).toEqual(['Ben Lindqvist', '8.5 of 10', `for ${tenant.name}`]);
  await waitFor('grade.submitted at the demo receiver', async () => {
    await page.goto(new URL('/', tenant.receiverUrl).href);
    const row = page
      .getByRole('row')
      .filter({ hasText: `/${tenant.namespace}` })
      .filter({ hasText: 'grade.submitted' });
    return (await row.count()) === 1 && (await row.getByRole('cell', { name: 'good', exact: true }).count()) === 1;
  });
});
