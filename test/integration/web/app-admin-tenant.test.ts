import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { syncHelpers } from '../../../pkg/helper-services/managed-helpers.ts';
import { GIB, MIB } from '../../../pkg/runtime/bytes.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { syncLinkPolicy } from '../../../pkg/settings/managed-settings.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { axeFindings } from '../../support/clients/axe.ts';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { fits } from '../../support/clients/fits.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { NARROW, openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([
    startTenant({ name: `Queen's College`, limits: { user: 2_000 } }),
    openBrowser('third-party blocked'),
  ]);
  await tenant.restart({
    CARREL_TENANT_RESOURCE: 'faculty/biology',
    CARREL_LIMIT_DATABASE_BYTES: 50 * GIB,
    CARREL_DEFAULT_USER_QUOTA_BYTES: 10 * GIB,
    CARREL_TRASH_RETENTION_SECONDS: 36 * 3_600,
  });
  const { pool } = tenant.rows;
  await pool.query('UPDATE carrel.tenants SET storage_limit = $2, files_limit = 2 WHERE role = $1', [
    tenantRole(tenant.slug),
    4 * MIB,
  ]);
  const rules = { enabled: true, passwordRequired: true, maxDays: 30, folderUploads: false };
  await syncLinkPolicy({ pool, clock: systemClock, random: systemRandom }, tenant.slug, rules);
  await syncHelpers(tenant.rows, [{ kind: 'translate', url: 'https://translate.example.com', token: null }]);
  for (const name of ['a.bin', 'b.bin']) await tenant.admin.upload('/files', { name, file: Buffer.alloc(MIB) });
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

const administrator = async (): Promise<Page> => {
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/admin/tenant');
  await page.getByRole('heading', { name: 'Limits' }).waitFor();
  return page;
};

/** A setting by its label. */
const setting = (page: Page, label: string): Locator =>
  page.locator('.tenant-setting').filter({ has: page.getByRole('term').filter({ hasText: new RegExp(`^${label}$`) }) });

/** What a setting says, without how it is changed. */
async function said(page: Page, label: string): Promise<string> {
  const text = await setting(page, label).getByRole('definition').innerText();
  return text.replace(/\n*How to change it[^]*$/, '').replaceAll(/\s*\n\s*/g, ' ');
}

test('an administrator sees addresses, limits with what is used, what is kept, and rules of the resource', async () => {
  const page = await administrator();
  const facts: [string, RegExp][] = [
    ['Name', /^Queen's College$/],
    ['Address of the pages', new RegExp(`^${tenant.url}$`)],
    ['First administrator', new RegExp(`^${tenant.administrator.email}$`)],
    ['Storage of all people together', /^2 MB of 4 MB$/],
    ['Files and folders of all people together', /^2 of 2 Limit reached Older versions/],
    ['Database', /^[\d.]+ MB of 50 GB Beyond/],
    ['Storage of a new person', /^10 GB$/],
    ['Requests of one person', /^2,000 a minute$/],
    ['Trash', /^36 hours What/],
    ['Versions of a file', /^The newest 50, the current one included$/],
    ['Translation of texts', /^Set up$/],
    ['Smaller PDFs', /^Not set up$/],
    ['Each link needs a password', /^Yes$/],
    ['Links end after', /^30 days$/],
  ];
  const wrong: string[] = [];
  for (const [label, fact] of facts) {
    const text = await said(page, label);
    if (!fact.test(text)) wrong.push(`${label}: ${text}`);
  }

  expect(wrong).toEqual([]);
  await page.getByText('Kubernetes manages these settings').waitFor();
});

test.each([
  ['Name', `kubectl patch tenant -n faculty biology --type merge -p '{"spec":{"displayName":"Queen'\\''s College"}}'`],
  [
    'Storage of all people together',
    `kubectl patch tenant -n faculty biology --type merge -p '{"spec":{"limits":{"storage":"4Mi"}}}'`,
  ],
  ['Largest file', `kubectl patch tenant -n faculty biology --type merge -p '{"spec":{"storage":{"maxUploadSize":"5Gi"}}}'`],
  ['Trash', `kubectl patch tenant -n faculty biology --type merge -p '{"spec":{"trashRetention":"36h"}}'`],
  ['Links end after', `kubectl patch tenant -n faculty biology --type merge -p '{"spec":{"shareLinks":{"maxDays":30}}}'`],
])('the setting “%s” opens by keyboard to the line that changes it', async (label, line) => {
  const page = await administrator();
  const shown = setting(page, label).getByText(line, { exact: true });
  const before = await shown.isVisible();
  await setting(page, label).locator('summary').focus();
  await page.keyboard.press('Enter');
  await shown.waitFor();
  await page.keyboard.press('Tab');

  expect(before).toBe(false);
  expect(await page.evaluate<string>('document.activeElement.getAttribute("aria-label")')).toBe('Copy the line');
});

test('what no line changes has none, and where nothing is reserved to the resource administrators set the rules', async () => {
  const page = await administrator();
  const changes = (label: string) => setting(page, label).locator('summary').count();
  const counts = [await changes('Short name'), await changes('Address of the API'), await changes('Audit log')];
  await syncLinkPolicy({ pool: tenant.rows.pool, clock: systemClock, random: systemRandom }, tenant.slug, undefined);
  await page.reload();
  await page.getByRole('region', { name: 'Rules for links' }).getByRole('link', { name: 'Rules for links' }).click();
  await page.getByRole('heading', { name: 'Rules for links', level: 1 }).waitFor();

  expect(counts).toEqual([0, 0, 0]);
});

test('the page says in German what it says in English', async () => {
  const page = await administrator();
  await page.evaluate(`localStorage.setItem('carrel:language', 'de')`);
  await page.reload();
  await page.getByRole('heading', { name: 'Einstellungen der Einrichtung' }).waitFor();
  const german = await said(page, 'Speicherplatz aller Personen zusammen');
  await page.evaluate(`localStorage.removeItem('carrel:language')`);

  expect(german).toMatch(/^2 MB von 4 MB/);
});

test('axe finds nothing on the opened settings in light and dark, and at 400 % zoom nothing is cut off', async () => {
  const page = await administrator();
  await page.evaluate(`document.querySelectorAll('.tenant-change').forEach((one) => { one.open = true; })`);
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    found.push(...(await axeFindings(page)));
  }
  await page.setViewportSize(NARROW);
  await fits(page);

  expect(found).toEqual([]);
});

test('somebody who may not see the settings sees that, and none of them', async () => {
  const { user, password } = await tenant.user();
  const page = await openSignedIn(browser, tenant, { email: user.email, password }, '/admin/tenant');
  await page.getByRole('alert').first().waitFor();

  expect(await page.locator('.tenant-setting').count()).toBe(0);
});
