import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openBrowser, type TestBrowser } from '../../support/clients/chromium.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { openSignedIn } from './app-pages.ts';

let tenant: TestTenant;
let browser: TestBrowser;

beforeAll(async () => {
  [tenant, browser] = await Promise.all([startTenant({ name: 'Biology' }), openBrowser('third-party blocked')]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await tenant?.stop();
});

test('a page asks for its script and its texts before it knows who is signed in', async () => {
  await (await openSignedIn(browser, tenant, tenant.administrator, '/jobs')).close();
  const page = await browser.page();
  await page.setExtraHTTPHeaders({ 'accept-language': 'de' });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const answer = Promise.withResolvers<void>();
  await page.route('**/api/v1/auth/refresh', async (route) => {
    await answer.promise;
    await route.continue();
  });

  await page.goto(`${tenant.url}/jobs`);
  for (const file of [/\/jobs-page-/, /\/german-/]) await waitFor(String(file), () => asked.some((path) => file.test(path)));
  const isAnswered = asked.includes('/api/v1/me');
  answer.resolve();
  await page.getByRole('heading', { name: 'Aufträge', level: 1 }).waitFor();

  expect(isAnswered).toBe(false);
  await page.close();
});

test('a page whose script cannot be loaded says so, and its button loads the new build', async () => {
  const page = await openSignedIn(browser, tenant, tenant.administrator, '/files');
  await page.route('**/assets/jobs-page-*.js', (route) => route.abort());

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Jobs' }).click();
  const retry = page.getByRole('button', { name: 'Try again' });
  await retry.waitFor();
  await page.unroute('**/assets/jobs-page-*.js');
  await retry.click();

  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  await page.close();
});
