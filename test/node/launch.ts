import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import { Api } from '../support/clients/api.ts';
import { type TenantObject, waitReady } from '../support/programs/demo-tenant.ts';
import { Browser, follow, type PageShown } from '../support/lms/browser.ts';
import { INSTRUCTOR } from '../../pkg/local/demo/lms/claims.ts';
import type { Lms } from '../../pkg/local/demo/lms/lms.ts';
import { apply, getJson } from '../support/programs/platform.ts';
import { waitFor } from '../support/wait.ts';
import { SPACE, TENANT } from './biology.ts';
import type { Installation } from './installation.ts';
import { browserAt, startLms } from './lms.ts';

const CLIENT_ID = 'client-internal';
const DEPLOYMENT_ID = '1';
const UNTRUSTED = /lms\.outside\.svc\.cluster\.local has no valid TLS certificate or does not speak TLS \([A-Z_]+\)/;

interface RegistrationStatus {
  readonly status?: {
    readonly loginInitiationUrl?: string;
    readonly redirectUri?: string;
    readonly launchUrl?: string;
    readonly jwksUrl?: string;
  };
}

async function register({ platform }: Installation, lms: Lms): Promise<void> {
  const { issuer, authEndpoint, tokenEndpoint, jwksEndpoint } = lms;
  await apply(platform, {
    apiVersion: 'carrel.dev/v1alpha1',
    kind: 'LtiRegistration',
    metadata: { name: 'internal', namespace: SPACE },
    spec: {
      tenantRef: { name: TENANT },
      clientId: CLIENT_ID,
      platform: { issuer, authEndpoint, tokenEndpoint, jwksEndpoint },
      deploymentIds: [DEPLOYMENT_ID],
    },
  });
  await waitReady(platform, SPACE, 'ltiregistration/internal');
  const { status = {} } = await getJson<RegistrationStatus>(platform, 'ltiregistration', 'internal', '-n', SPACE);
  lms.register({
    clientId: CLIENT_ID,
    deploymentId: DEPLOYMENT_ID,
    redirectUris: [status.redirectUri ?? ''],
    loginInitiationUrl: status.loginInitiationUrl ?? '',
    targetLinkUri: status.launchUrl ?? '',
    jwksUrl: status.jwksUrl ?? '',
  });
}

export async function launchesAndGrades(carrel: Installation): Promise<void> {
  const { platform } = carrel;
  const { lms, port, present, stop } = await startLms(carrel);
  const agent = browserAt(port);
  const browser = new Browser(agent);
  const launch = (): Promise<PageShown> => follow(browser, lms.open(CLIENT_ID, { user: { id: 'ada' }, roles: [INSTRUCTOR] }));
  try {
    await register(carrel, lms);

    present('theirs');
    // Until kube-proxy knows the relay nobody answers at its Service.
    const refused = await waitFor('a launch that is refused for the certificate', async () => {
      const page = await launch();
      return UNTRUSTED.test(page.text) && page;
    });
    assert.deepEqual([refused.status, refused.code, lms.keySetRequests], [503, 'platform_keys_unreachable', 0]);

    present('ours');
    // A connection of before may end in the middle of one.
    const launched = await waitFor('a launch that arrives', async () => {
      const page = await launch();
      return page.status === 303 && page;
    });
    const entry = new URL(String(launched.headers.location), launched.url);
    const page = await browser.get(entry);
    assert.equal(page.status, 200, page.text);
    const token = entry.searchParams.get('token') ?? '';
    const { status } = await getJson<TenantObject>(platform, 'tenant', TENANT, '-n', SPACE);
    const api = new Api(status?.apiUrl ?? '').as(token);

    present('theirs');
    const grades = `/lti/launches/${String(decodeJwt(token).launch_id)}/grades`;
    const given = await api.post(grades, { user_id: 'ada', score: 8.5, score_maximum: 100, comment: 'Good' });
    assert.equal(given.status, 201, JSON.stringify(given.body));
    const show = async () => (await api.get(`${grades}/${given.body.id}`)).body;
    await waitFor('the grade to say why it waits', async () => {
      const { status: became, reason } = await show();
      return became === 'pending' && UNTRUSTED.test(reason ?? '');
    });
    assert.deepEqual([lms.tokens.requests, lms.scores.received.length], [0, 0]);

    present('ours');
    await waitFor('the grade at the LMS', async () => (await show()).status === 'submitted');
    assert.equal(lms.scores.cell('ada')?.scoreGiven, 8.5);
  } finally {
    await agent.close();
    await stop();
  }
}
