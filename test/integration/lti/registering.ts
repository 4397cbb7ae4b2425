import { formOf, Browser, type PageShown } from '../../support/lms/browser.ts';
import type { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import type { TestTenant } from '../../support/programs/server.ts';

/** A one-time address for an LMS, as an administrator of the tenant makes it. */
export async function newLink(tenant: TestTenant, platform_name?: string): Promise<string> {
  const { status, body } = await tenant.admin.post(
    '/lti/registration-links',
    platform_name === undefined ? {} : { platform_name },
  );
  if (status !== 201) throw new Error(`no link: ${status} ${JSON.stringify(body)}`);
  return body.url;
}

/** The page that the LMS's administrator sees. */
export const shownPage = (desk: RegistrationDesk, link: string, browser = new Browser()): Promise<PageShown> =>
  browser.get(desk.open(link));

/** Presses the button of a page. */
export function pressed(tenant: TestTenant, page: PageShown, browser = new Browser()): Promise<PageShown> {
  const { action, fields } = formOf(page);
  return browser.post(new URL(action, tenant.url), fields);
}

/** Page and button; the page alone where it is refused. */
export async function registered(tenant: TestTenant, desk: RegistrationDesk, link?: string): Promise<PageShown> {
  const page = await shownPage(desk, link ?? (await newLink(tenant)));
  return page.status === 200 ? pressed(tenant, page) : page;
}
