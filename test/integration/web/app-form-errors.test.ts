import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { isTypedInto, openSignedIn } from './app-pages.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser('third-party blocked');
}, 180_000);

afterAll(() => browser?.close());

const PHONE = { width: 390, height: 700 };

/** Opens the form behind a button of a page. */
async function opened(path: string, name: string): Promise<{ readonly page: Page; readonly form: Locator }> {
  const page = await openSignedIn(browser, tenant, tenant.administrator, path);
  await page.getByRole('button', { name }).first().click();
  const form = page.getByRole('dialog', { name });
  await form.waitFor();
  return { page, form };
}

const schedules = async () => (await tenant.admin.get('/schedules')).body.data as readonly { name: string; cron: string }[];

test('a day of the month can be deleted and typed, and what is no day is refused at its field', async () => {
  const { form } = await opened('/admin/schedules', 'Add schedule');
  await form.getByLabel('Name').fill('Month end');
  await form.getByLabel('How often').selectOption('Every month');
  const day = form.getByLabel('Day of the month');
  const runs = form.getByRole('region', { name: 'The next runs' }).getByRole('listitem');
  await day.press('End');
  await day.press('Backspace');
  const emptied = await day.inputValue();
  await day.pressSequentially('5');
  await waitFor('five runs on a fifth', async () => {
    const texts = await runs.allInnerTexts();
    return texts.length === 5 && texts.every((text) => / 5, /.test(text));
  });
  await day.press('Backspace');
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await form.getByText('Enter a day from 1 to 31.').waitFor();
  await day.fill('32');
  await waitFor('no run of a day that there is not', async () => (await runs.count()) === 0);
  const refused = await form.getByText('Enter a day from 1 to 31.').count();
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await day.fill('31');
  await runs.first().waitFor();
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await form.waitFor({ state: 'detached' });

  expect([emptied, refused]).toEqual(['', 1]);
  expect((await schedules()).filter(({ name }) => name === 'Month end')).toEqual([
    expect.objectContaining({ cron: '0 3 31 * *' }),
  ]);
});

test('a time can be emptied, and is asked for before a schedule is saved', async () => {
  const { form } = await opened('/admin/schedules', 'Add schedule');
  await form.getByLabel('Name').fill('Early');
  const time = form.getByLabel('Time', { exact: true });
  await time.press('Backspace');
  const emptied = await time.inputValue();
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await form.getByText('Enter a time.').waitFor();
  await time.fill('04:30');
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await form.waitFor({ state: 'detached' });

  expect(emptied).toBe('');
  expect((await schedules()).filter(({ name }) => name === 'Early')).toEqual([expect.objectContaining({ cron: '30 4 * * *' })]);
});

/** Says whether somebody sees the middle of an element, which is neither scrolled away nor covered. */
const isSeen = (element: Locator): Promise<boolean> =>
  element.evaluate((node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    return node.contains(node.ownerDocument.elementFromPoint(x + width / 2, y + height / 2));
  });

const scrollTo = (form: Locator, end: 'top' | 'bottom'): Promise<void> =>
  form.locator('.c-dialog-body').evaluate((body, at) => void body.scrollTo(0, at === 'top' ? 0 : body.scrollHeight), end);

/** Sends a form from its other end, and waits until its field has the focus and is seen. */
async function leadsTo(form: Locator, button: string, field: Locator): Promise<void> {
  await scrollTo(form, 'bottom');
  await form.getByRole('button', { name: button }).click();
  await waitFor('the focus at what is wrong', () => isTypedInto(field));
  await waitFor('what is wrong to be seen', () => isSeen(field));
}

test('on a phone a form that is not sent leads to the first thing that is wrong, each time', async () => {
  const { page, form } = await opened('/admin/schedules', 'Add schedule');
  await page.setViewportSize(PHONE);
  await form.getByLabel('What it does').selectOption('Change many files');
  await leadsTo(form, 'Show what it would do', form.getByLabel('Name', { exact: true }));
  await form.getByLabel('Name', { exact: true }).fill('Old drafts');
  const choose = form.getByRole('button', { name: 'Choose folder …' });
  await leadsTo(form, 'Show what it would do', choose);
  await leadsTo(form, 'Show what it would do', choose);

  expect(await choose.evaluate((button) => button.ownerDocument.activeElement?.ariaDescribedByElements?.[0]?.textContent)).toBe(
    'Choose the folder.',
  );
});

test('on a phone a form that the server refuses leads to the field that is wrong', async () => {
  const { body: folder } = await tenant.admin.post('/folders', { name: 'Archived' });
  const { body: schedule } = await tenant.admin.post('/schedules', {
    name: 'Archives',
    kind: 'export_folder',
    cron: '0 3 * * *',
    arguments: { folder_id: folder.id, keep: 3 },
  });
  const page = await openSignedIn(browser, tenant, tenant.administrator, `/admin/schedules/${schedule.id}`);
  await page.setViewportSize(PHONE);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Edit' });
  const keep = form.getByLabel('Archives that stay');
  await keep.fill('1000');

  await leadsTo(form, 'Save', keep);
});

test('on a phone a form without a wrong field shows what it says', async () => {
  const { page, form } = await opened('/admin/webhooks', 'Add webhook');
  await page.setViewportSize(PHONE);
  await form.getByLabel('Address').fill('https://example.org/hook');
  await form.getByRole('checkbox', { name: /A file arrives/ }).uncheck();
  const said = form.getByText('Choose at least one event.');
  for (const _ of ['once', 'again']) {
    await scrollTo(form, 'top');
    await form.getByRole('button', { name: 'Add webhook' }).click();
    await said.waitFor();
    await waitFor('the sentence to be seen', () => isSeen(said));
  }

  expect((await tenant.admin.get('/webhooks')).body.data).toEqual([]);
});
