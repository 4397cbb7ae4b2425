import { decodeJwt } from 'jose';
import type { Api, ApiReply } from '../clients/api.ts';
import type { TestTenant } from '../programs/server.ts';
import { Browser, follow, type PageShown } from './browser.ts';
import { INSTRUCTOR, type Launch } from '../../../pkg/local/demo/lms/claims.ts';
import { deepLinking, type Returned } from '../../../pkg/local/demo/lms/deep-linking.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import type { Registration } from './registration.ts';

/** Somebody whom the LMS asks for content: a client of the API with the launch's session. */
export interface Picking {
  readonly api: Api;
  readonly launchId: string;
  /** The page to which the launch led. */
  readonly page: URL;
  readonly show: () => Promise<ApiReply>;
  readonly answer: (items: readonly object[], options?: Parameters<Api['post']>[2]) => Promise<ApiReply>;
}

/** Launches deep linking, by an instructor unless `opened` names another person. Returns the last page. */
export const asked = (
  at: Registration,
  settings: Readonly<Record<string, unknown>> = {},
  opened: Partial<Launch> = {},
  more: Fault = {},
): Promise<PageShown> =>
  follow(new Browser(), at.lms.open(at.clientId, { roles: [INSTRUCTOR], ...opened }, deepLinking(at.lms.base, settings, more)));

/** Launches deep linking up to the picker. Throws when the launch is refused. */
export async function picking(
  tenant: TestTenant,
  at: Registration,
  settings: Readonly<Record<string, unknown>> = {},
  opened: Partial<Launch> = {},
): Promise<Picking> {
  const { status, code, headers } = await asked(at, settings, opened);
  if (status !== 303) throw new Error(`the launch was refused: ${status} ${code}`);
  const page = new URL(String(headers.location));
  const token = page.searchParams.get('token') ?? '';
  const launchId = String(decodeJwt(token)['launch_id']);
  const api = tenant.anonymous.as(token);
  const path = `/lti/launches/${launchId}/picker`;
  return {
    api,
    launchId,
    page,
    show: () => api.get(path),
    answer: (items, options = {}) => api.post(`${path}/answer`, { items }, options),
  };
}

/** Takes an answer to the LMS as the browser does: what the LMS read. Throws where it refuses. */
export async function delivered({ lms }: Registration, { status, body }: ApiReply): Promise<Returned> {
  if (status !== 201) throw new Error(`there is no answer: ${status} ${JSON.stringify(body)}`);
  const before = lms.deepLinks.answers.length;
  const browser = new Browser();
  const page =
    body.method === 'get' ? await browser.get(body.url) : await browser.post(body.url, new URLSearchParams({ JWT: body.jwt }));
  const [returned] = lms.deepLinks.answers.slice(before);
  if (!returned) throw new Error(`the LMS refused the answer: ${page.text}`);
  return returned;
}
