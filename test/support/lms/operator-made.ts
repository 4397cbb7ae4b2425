import { relationsOf } from '../../../pkg/lti/registrations/conflicts.policy.ts';
import { syncRegistration } from '../../../pkg/lti/registrations/registration.sql.ts';
import { WantedRegistration } from '../../../pkg/lti/registrations/wanted-registration.ts';
import type { ObservedTenant } from '../../../pkg/operator/kinds.ts';
import { wantedOf } from '../../../pkg/operator/ltiregistration/ltiregistration.controller.ts';
import { registrationOf } from '../../../pkg/operator/ltiregistration/registration-requests.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import type { Observed } from '../../../pkg/kube/object.ts';
import type { LtiRegistration } from '../../../pkg/operator/kinds.ts';
import type { TestTenant } from '../programs/server.ts';
import { cheapToolKey } from './registration.ts';

/** Returns the requests that the server left for the operator. */
export const requestsOf = (tenant: TestTenant): Promise<{ id: string; wanted: WantedRegistration }[]> =>
  tenant.db.query('SELECT id, wanted FROM carrel.registration_requests ORDER BY requested_at');

const ownerOf = (tenant: TestTenant): ObservedTenant =>
  ({ metadata: { name: tenant.slug, namespace: 'test' }, status: { appUrl: tenant.url } }) as ObservedTenant;

/** The resources that the operator makes of the registrations that wait, with the defaults of the schema, and in their order. */
export async function resourcesOf(tenant: TestTenant): Promise<Observed<LtiRegistration>[]> {
  return (await requestsOf(tenant)).map(({ id, wanted }, index) => {
    const made = registrationOf(id, WantedRegistration.parse(wanted), ownerOf(tenant));
    return {
      ...made,
      metadata: { ...made.metadata, uid: id, creationTimestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString() },
      spec: { ...made.spec, scope: 'openid', active: true, deploymentPolicy: made.spec.deploymentPolicy ?? 'Listed' },
    } as unknown as Observed<LtiRegistration>;
  });
}

/** Writes the rows of a resource, or says how it contradicts one of the others. */
export async function applied(
  tenant: TestTenant,
  resource: Observed<LtiRegistration>,
  all: readonly Observed<LtiRegistration>[],
): Promise<string | undefined> {
  const relations = relationsOf(resource, all);
  if (relations.conflict) return relations.conflict;
  const wanted = wantedOf(resource, { tenant: ownerOf(tenant), clientId: resource.spec.clientId ?? '', relations });
  const keys = { given: undefined, generate: cheapToolKey, period: undefined, now: systemClock.now() };
  await syncRegistration(tenant.rows, `test/${resource.metadata.name}`, wanted, keys);
  return undefined;
}

/**
 * Does what the operator does with the registrations that wait, without an API server: the same functions, from the row to the
 * rows.
 */
export async function asTheOperator(tenant: TestTenant): Promise<void> {
  for (const resource of await resourcesOf(tenant)) {
    await applied(tenant, resource, [resource]);
    await tenant.rows.pool.query('DELETE FROM carrel.registration_requests WHERE id = $1', [resource.metadata.uid]);
  }
}
