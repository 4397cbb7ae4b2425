import type { FrameLocator, Page } from 'playwright-core';
import type { Api } from '../../support/clients/api.ts';
import { type DemoTenant, demoTenant, waitReady } from '../../support/programs/demo-tenant.ts';
import { apply, type Platform } from '../../support/programs/platform.ts';
import { waitFor } from '../../support/wait.ts';

/** A tenant of the test file's own that the demo LMS launches into, and whose webhooks go to the demo receiver. */
export interface LmsTenant extends DemoTenant {
  /** The address at which the demo receiver takes webhooks. */
  readonly receiverUrl: string;
}

export const lmsUrl = ({ port }: Platform, path = '/'): string => `http://lms.localhost:${port}${path}`;

export async function lmsTenant(where: Platform): Promise<LmsTenant> {
  // Here one person opens in a minute what others open in an hour.
  const tenant = await demoTenant(where, { limits: { requestsPerUserPerMinute: 2_000 } });
  const { namespace, name } = tenant;
  const receiverUrl = `http://receiver.localhost:${where.port}/${namespace}`;
  await apply(where, registration(namespace, name, lmsUrl(where, '').replace(/\/$/, ''), `client-of-${name}`), {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'Webhook',
    metadata: { name, namespace },
    spec: { tenantRef: { name }, url: receiverUrl, events: ['file.created', 'user.created', 'grade.submitted'] },
  });
  await Promise.all([waitReady(where, namespace, `ltiregistration/${name}`), waitReady(where, namespace, `webhook/${name}`)]);
  return { ...tenant, receiverUrl };
}

/** An LtiRegistration of a tenant named like it, or like `as`; `more` are further fields of its spec and of its platform. */
export const registration = (
  namespace: string,
  tenant: string,
  issuer: string,
  clientId: string,
  as = tenant,
  { platform = {}, ...more }: { readonly platform?: object; readonly [field: string]: unknown } = {},
): object => ({
  apiVersion: 'carrel.dev/v1alpha1',
  kind: 'LtiRegistration',
  metadata: { name: as, namespace },
  spec: {
    tenantRef: { name: tenant },
    platform: {
      preset: 'generic',
      issuer,
      authEndpoint: `${issuer}/authorize`,
      tokenEndpoint: `${issuer}/token`,
      jwksEndpoint: `${issuer}/jwks`,
      ...platform,
    },
    clientId,
    deploymentIds: ['1'],
    ...more,
  },
});

/** The name of a link of the demo LMS, as it is read out. */
export const linkName = (tenant: DemoTenant, person: string, course: string, way: string): string =>
  `${person} opens ${course} of ${tenant.namespace}/${tenant.name} in ${way}`;

/** Clicks a link of the demo LMS that opens in a frame. */
export async function openInFrame(page: Page, where: Platform, link: string): Promise<FrameLocator> {
  await page.goto(lmsUrl(where));
  await page.getByRole('link', { name: link, exact: true }).click();
  return page.frameLocator('iframe[name=tool]');
}

/** The API as the page in the frame calls it: with the session of its launch, the first of this tab. */
export async function apiOf(page: Page, tenant: DemoTenant): Promise<Api> {
  const token = await page
    .frame({ name: 'tool' })
    ?.evaluate(`Object.values(sessionStorage)[0] ?? Object.values(history.state)[0]`);
  return tenant.anonymous.as(String(token));
}

/** Reloads what the frame shows. Resolves once another document is there: until then the old one would pass for it. */
export async function reloadFrame(page: Page): Promise<void> {
  const frame = page.frame({ name: 'tool' });
  if (!frame) throw new Error('the page has no frame named tool');
  await frame.evaluate('window.isOld = true; location.reload()');
  await waitFor('the frame to be reloaded', () => frame.evaluate<boolean>('window.isOld !== true'));
}

/** Makes a folder in the folder of a course, by the instructor whose page this is. */
export async function makeFolder(page: Page, tenant: DemoTenant, course: string, name: string): Promise<void> {
  const api = await apiOf(page, tenant);
  const { data } = (await api.get('/lti/contexts')).body;
  const { folder } = data.find(({ title }: { title: string }) => title === course);
  const made = await api.post('/folders', { name, parent_id: folder.id });
  if (made.status !== 201) throw new Error(`there is no folder: ${made.status} ${JSON.stringify(made.body)}`);
}

/** Waits for the course's page; when it does not come, says what is shown instead. */
export async function courseShown(shown: FrameLocator | Page, title: string): Promise<void> {
  try {
    await shown.getByRole('heading', { name: title }).waitFor();
  } catch (error) {
    const text = await shown.locator('html').innerText({ timeout: 5_000 }).catch(String);
    throw new Error(`the page of ${title} did not come; instead there is: ${text}`, { cause: error });
  }
}
