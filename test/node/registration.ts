import assert from 'node:assert/strict';
import { signIn, waitReady } from '../support/programs/demo-tenant.ts';
import { Browser, follow, formOf } from '../support/lms/browser.ts';
import { INSTRUCTOR } from '../../pkg/local/demo/lms/claims.ts';
import { FACES } from '../../pkg/local/demo/lms/faces.ts';
import { RegistrationDesk } from '../support/lms/registration-desk.ts';
import { getJson } from '../support/programs/platform.ts';
import { waitFor } from '../support/wait.ts';
import { SPACE, TENANT } from './biology.ts';
import type { Installation } from './installation.ts';
import { browserAt, startLms } from './lms.ts';

interface Registrations {
  readonly items: readonly { readonly metadata: { readonly name: string }; readonly spec: { readonly clientId?: string } }[];
}

/** Registers as an administrator of the LMS does: paste the one-time link, read what it registers, press the button. */
export async function lmsRegistersItself(carrel: Installation): Promise<void> {
  const { platform } = carrel;
  const { lms, port, stop } = await startLms(carrel);
  const agent = browserAt(port);
  const browser = new Browser(agent);
  try {
    const desk = new RegistrationDesk(lms, FACES.sakai);
    const { admin } = await signIn(platform, SPACE, TENANT);
    const { status, body: link } = await admin.post('/lti/registration-links', { platform_name: 'Sakai of the faculty' });
    assert.equal(status, 201, JSON.stringify(link));

    // Until kube-proxy knows the relay nobody answers at its Service.
    const offer = await waitFor('what will be registered', async () => {
      const page = await browser.get(desk.open(link.url));
      return page.status === 200 && page;
    });
    const { action, fields } = formOf(offer);
    const outcome = await browser.post(new URL(action, link.url), fields);
    assert.equal(outcome.status, 200, outcome.text);
    const clientId = desk.tools[0]?.clientId ?? '';

    const made = await waitFor('the LtiRegistration that the operator makes', async () => {
      const { items } = await getJson<Registrations>(platform, 'ltiregistrations', '-n', SPACE);
      return items.find(({ spec }) => spec.clientId === clientId);
    });
    await waitReady(platform, SPACE, `ltiregistration/${made.metadata.name}`);
    // The server learns of it a moment later than its status says.
    await waitFor(
      'a launch that arrives',
      async () => (await follow(browser, lms.open(clientId, { roles: [INSTRUCTOR] }))).status === 303,
    );
  } finally {
    await agent.close();
    await stop();
  }
}
