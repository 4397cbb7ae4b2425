import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { makeScratch } from '../../support/backends/backends.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platform } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { apiOf, courseShown, linkName, lmsTenant, type LmsTenant, lmsUrl, openInFrame, reloadFrame } from './course.ts';

const where = await platform();
let tenant: LmsTenant;
let browser: TestBrowser;
let pictures: string;

beforeAll(async () => {
  pictures = process.env['CARREL_SCREENSHOTS'] ?? join(await makeScratch(), 'screenshots');
  await mkdir(pictures, { recursive: true });
  [tenant, browser] = await Promise.all([lmsTenant(where), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(() => browser?.close());

const picture = (page: Page, name: string): Promise<unknown> =>
  page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });

/** Returns the text that screen readers add to the name of a field. */
const describedBy = async (tool: FrameLocator, field: Locator): Promise<string | null> =>
  tool.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).textContent();

test('a grade given in a browser appears in the LMS’s grade book, and a webhook reports it', async () => {
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

test('the page of grades shows what the LMS has beside what was sent, for the column that is chosen', async () => {
  await courseShown(
    await openInFrame(await browser.page(), where, linkName(tenant, 'Ben Lindqvist', 'Physics', 'a frame')),
    'Physics',
  );
  const page = await browser.page();
  const tool = await openInFrame(page, where, linkName(tenant, 'Ada Okafor', 'Physics', 'a frame'));
  await courseShown(tool, 'Physics');
  const ada = await apiOf(page, tenant);
  const [course] = (await ada.get('/lti/contexts')).body.data.filter(({ title }: { title: string }) => title === 'Physics');
  expect((await ada.post(`/lti/contexts/${course.id}/line-items`, { label: 'Essay', score_maximum: 20 })).status).toBe(201);
  await reloadFrame(page);
  const send = async (score: string): Promise<void> => {
    await tool.getByRole('textbox', { name: 'Score of Ben Lindqvist' }).fill(score);
    await tool.getByRole('button', { name: 'Send the score of Ben Lindqvist', exact: true }).click();
  };

  await tool.getByText('In your LMS: no score').waitFor();
  await send('42');
  await tool.getByText('Sent from here: 42 of 100: in the grade book of your LMS').waitFor();
  await tool.getByText('In your LMS: 42 of 100').waitFor();
  await tool.getByLabel('Column of the grade book').selectOption('Essay');
  await tool.getByText('In your LMS: no score').waitFor();
  await send('15');
  await tool.getByText('Sent from here: 15 of 20: in the grade book of your LMS').waitFor();
  await tool.getByText('In your LMS: 15 of 20').waitFor();
  await reloadFrame(page);

  await tool.getByText('Sent from here: 42 of 100: in the grade book of your LMS').waitFor();
  await tool.getByText('In your LMS: 42 of 100').waitFor();
});

test('a comment goes with a score by keyboard, is refused at its field if too long, and the LMS shows it', async () => {
  await courseShown(
    await openInFrame(await browser.page(), where, linkName(tenant, 'Ben Lindqvist', 'Physics', 'a frame')),
    'Physics',
  );
  const page = await browser.page();
  const tool = await openInFrame(page, where, linkName(tenant, 'Ada Okafor', 'Physics', 'a frame'));
  const score = tool.getByRole('textbox', { name: 'Score of Ben Lindqvist' });
  const comment = tool.getByRole('textbox', { name: 'Comment (optional) for Ben Lindqvist' });
  const send = tool.getByRole('button', { name: 'Send the score of Ben Lindqvist', exact: true });

  await score.fill('1,234');
  const badScore = [await score.getAttribute('aria-invalid'), await describedBy(tool, score), await send.isDisabled()];
  await score.fill('9');
  await comment.fill('é'.repeat(10_001));
  const tooLong = [await comment.getAttribute('aria-invalid'), await describedBy(tool, comment), await send.isDisabled()];
  await picture(page, 'grade-comment-refused');
  await comment.fill('');
  await score.focus();
  await page.keyboard.press('Tab');
  await page.keyboard.type('Well argued.');
  await page.keyboard.press('Enter');
  await page.keyboard.type('See page 2.');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');

  const row = tool.getByRole('listitem').filter({ hasText: 'Ben Lindqvist' });
  await row.getByRole('status').getByText('Well argued.\nSee page 2.').waitFor();
  await tool.getByText('Sent from here: 9 of 100: in the grade book of your LMS').waitFor();
  await row.locator('.in-lms').filter({ hasText: 'In your LMS: 9 of 100' }).getByText('Well argued.\nSee page 2.').waitFor();
  await picture(page, 'grade-comment');
  await reloadFrame(page);
  await row.locator('.in-lms').getByText('Well argued.\nSee page 2.').waitFor();

  expect(badScore).toEqual(['true', 'A score is a number from 0 to 999.99 with at most two decimals.', true]);
  expect(tooLong).toEqual(['true', 'A comment has at most 10,000 characters. Shorten it.', true]);
  expect(await row.getByRole('status').getByText('Well argued.').count()).toBe(1);
});
