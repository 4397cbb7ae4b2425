import { relationsOf } from '../../../pkg/lti/registrations/conflicts.policy.ts';
import { syncRegistration } from '../../../pkg/lti/registrations/registration.sql.ts';
import { WantedRegistration } from '../../../pkg/lti/registrations/wanted-registration.ts';
import type { ObservedTenant } from '../../../pkg/operator/kinds.ts';
import { wantedOf } from '../../../pkg/operator/ltiregistration/ltiregistration.controller.ts';
import { registrationOf } from '../../../pkg/operator/ltiregistration/registration-requests.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import type { Observed } from '../../../pkg/kube/object.ts';
import type { LtiRegistration } from '../../../pkg/operator/kinds.ts';
import type { TestTenant } from '../server.ts';
import { cheapToolKey } from './registration.ts';

/** What the server has left for the operator. */
export const requestsOf = (tenant: TestTenant): Promise<{ id: string; wanted: WantedRegistration }[]> =>
  tenant.db.query('SELECT id, wanted FROM carrel.registration_requests ORDER BY requested_at');

/** Does what the operator does with the registrations that wait, without an API server: the same functions, from the row to the rows. */
export async function asTheOperator(tenant: TestTenant): Promise<void> {
  for (const { id, wanted } of await requestsOf(tenant)) {
    const owner = { metadata: { name: tenant.slug, namespace: 'test' }, status: { appUrl: tenant.url } } as ObservedTenant;
    const made = registrationOf(id, WantedRegistration.parse(wanted), owner);
    const observed = {
      ...made,
      metadata: { ...made.metadata, uid: id, creationTimestamp: '2026-01-01T00:00:00Z' },
      // With the defaults of the schema.
      spec: { ...made.spec, scope: 'openid', active: true, deploymentPolicy: made.spec.deploymentPolicy ?? 'Listed' },
    } as unknown as Observed<LtiRegistration>;
    const registration = wantedOf(observed, {
      tenant: owner,
      clientId: observed.spec.clientId ?? '',
      relations: relationsOf(observed, [observed]),
    });
    await syncRegistration(tenant.rows, `test/${made.metadata.name}`, registration, {
      given: undefined,
      generate: cheapToolKey,
      period: undefined,
      now: systemClock.now(),
    });
    await tenant.rows.pool.query('DELETE FROM carrel.registration_requests WHERE id = $1', [id]);
  }
}
