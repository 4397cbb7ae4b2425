import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { makeScratch } from '../../support/backends.ts';
import { openBrowser, type TestBrowser } from '../../support/chromium.ts';
import { waitReady } from '../../support/demo-tenant.ts';
import { INSTRUCTOR } from '../../support/lms/claims.ts';
import { FACES } from '../../support/lms/faces.ts';
import { Lms } from '../../support/lms/lms.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { platform } from '../../support/platform.ts';
import { waitFor } from '../../support/wait.ts';
import { courseShown, lmsTenant, type LmsTenant } from './course.ts';

const where = await platform();
let tenant: LmsTenant;
let browser: TestBrowser;
let lms: Lms;
let pictures: string;

beforeAll(async () => {
  pictures = process.env['CARREL_SCREENSHOTS'] ?? join(await makeScratch(), 'screenshots');
  [tenant, browser, lms] = await Promise.all([lmsTenant(where), openBrowser('third-party blocked'), Lms.start()]);
}, 180_000);
afterAll(async () => {
  await Promise.all([browser?.close(), lms?.stop()]);
});

/** The LMS's page of tools: a frame with the tool's page, which is removed when the tool says that it is done. */
function toolsPage(frame: URL): string {
  lms.paths.set('/tools', (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' })
      .end(`<title>Tools</title><iframe name="tool" src="${frame.href.replaceAll('&', '&amp;')}" width="900" height="900"></iframe>
      <script>addEventListener('message', ({ data }) => {
        if (data.subject !== 'org.imsglobal.lti.close') return;
        document.querySelector('iframe').remove();
        document.body.append('registered');
      })</script>`),
  );
  return `${lms.issuer}/tools`;
}

const shown = (page: Page, name: string) => page.frameLocator('iframe[name=tool]').getByRole('heading', { name });

test('an LMS registers itself in a frame of its own, third-party cookies blocked; the operator makes its LtiRegistration, and it launches', async () => {
  const desk = new RegistrationDesk(lms, FACES.sakai);
  const { body } = await tenant.admin.post('/lti/registration-links', { platform_name: 'Sakai of the university' });
  const page = await browser.page();
  await page.goto(toolsPage(desk.open(body.url)));
  await shown(page, 'Register this service at your LMS').waitFor();
  await page.screenshot({ path: join(pictures, 'registration.png') });
  await page.frameLocator('iframe[name=tool]').getByRole('button', { name: 'Register' }).click();
  await shown(page, 'The LMS is registered').waitFor();
  await page.screenshot({ path: join(pictures, 'registered.png') });
  const began = performance.now();
  await page.frameLocator('iframe[name=tool]').getByRole('button', { name: 'Back to the LMS' }).click();
  await page.getByText('registered').waitFor();

  const registration = await waitFor('the registration to be listed', async () => {
    const { data } = (await tenant.admin.get('/lti/registrations')).body;
    return data.find(({ client_id }: { client_id: string }) => client_id === desk.tools[0]?.clientId);
  });
  const seconds = (performance.now() - began) / 1000;
  await waitReady(where, tenant.namespace, `ltiregistration/${registration.name}`);
  await page.goto(lms.open(registration.client_id, { roles: [INSTRUCTOR], course: { id: 'latin-1', title: 'Latin' } }).href);

  await courseShown(page, 'Latin');
  expect(registration).toMatchObject({
    issuer: lms.issuer,
    platform_name: 'Sakai of the university',
    registered: { product: 'sakailms.org', pending: true },
  });
  expect(seconds).toBeLessThan(30);
});
