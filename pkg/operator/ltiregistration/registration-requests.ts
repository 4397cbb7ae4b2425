import type { EventRecorder } from '../../kube/events.ts';
import { isAlreadyExists, KubeError } from '../../kube/errors.ts';
import type { ResourceApi } from '../../kube/resource.ts';
import type { Store } from '../../kube/store.ts';
import { nextStepAtPreset } from '../../lti/registrations/products.policy.ts';
import { WantedRegistration } from '../../lti/registrations/wanted-registration.ts';
import type { Logger } from '../../runtime/log.ts';
import type { SqlPool } from '../../store/postgres/pool.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { BY_TENANT } from '../informers.ts';
import { type LtiRegistration, type ObservedTenant, TENANT, type Tenant } from '../kinds.ts';
import { FIELD_MANAGER, NEXT_STEP_ANNOTATION, ORIGIN_ANNOTATION, slugOf } from '../names.ts';
import type { ShardChanges } from '../shard-changes.ts';

interface Row {
  /** The tenant's role. */
  readonly tenant: string;
  readonly id: string;
  readonly wanted: unknown;
  readonly isOld: boolean;
}

interface Deps {
  readonly tenants: Store<Tenant>;
  readonly registrations: Store<LtiRegistration>;
  readonly api: ResourceApi<LtiRegistration>;
  readonly events: EventRecorder;
  readonly log: Logger;
}

/** Rows that one poll reads; the next poll reads more. */
const MAX_ROWS = 100;
/** Rows of a tenant without a Tenant resource are deleted after this time. */
const OLD = '1 day';
/** The most registrations of a tenant, whatever created them: a tenant's server could request any number. */
const MAX_REGISTRATIONS = 100;

/**
 * Makes an LtiRegistration of each registration that an LMS made by Dynamic Registration (pkg/lti/dynamic-registration).
 *
 * Invariants:
 * - A row gives one resource, however often it is read: its name follows from the row's id.
 * - A resource is of the tenant whose role wrote the row, and has the fields of WantedRegistration alone: no Secret, no other
 *   Tenant.
 * - What the API server does not take is a Warning at the Tenant, and is not tried again; what it cannot take now is.
 */
export const createRequestedRegistrations = (deps: Deps): ShardChanges<Row> => ({
  isWanted: () => deps.tenants.size > 0,
  select: `SELECT tenant, id, wanted, requested_at < now() - interval '${OLD}' AS "isOld"
    FROM carrel.registration_requests ORDER BY random() LIMIT ${MAX_ROWS}`,
  async onChange(pool, rows) {
    const byRole = new Map(deps.tenants.list().map((tenant) => [tenantRole(slugOf(tenant)), tenant]));
    for (const row of rows) {
      const tenant = byRole.get(row.tenant);
      if (tenant) await handle(deps, pool, row, tenant);
      else if (row.isOld) await remove(pool, row);
    }
  },
});

async function handle(deps: Deps, pool: SqlPool, row: Row, tenant: ObservedTenant): Promise<void> {
  const refuse = (why: string): void =>
    deps.events.record(tenant, TENANT, {
      type: 'Warning',
      reason: 'RegistrationRefused',
      message: `an LMS registered itself, and no LtiRegistration could be made of it: ${why}. Delete the tool at the LMS`,
    });
  try {
    const parsed = WantedRegistration.safeParse(row.wanted);
    const { namespace, name } = tenant.metadata;
    const present = deps.registrations.byIndex(BY_TENANT, `${namespace}/${name}`).length;
    if (!parsed.success) refuse('what the server left is no registration');
    else if (present >= MAX_REGISTRATIONS) refuse(`the tenant has ${present} registrations`);
    else await create(deps, registrationOf(row.id, parsed.data, tenant));
  } catch (error) {
    if (!isFinal(error)) {
      deps.log.warn({ err: error, tenant: slugOf(tenant) }, 'could not make an LtiRegistration of a registration; will retry');
      return;
    }
    refuse((error as KubeError).message);
  }
  await remove(pool, row);
}

/**
 * True if the API server read the object and rejected it: unlike a missing right, a quota or a namespace, that does not change.
 */
const isFinal = (error: unknown): boolean => error instanceof KubeError && [400, 409, 413, 422].includes(error.status);

async function create({ api }: Deps, registration: LtiRegistration): Promise<void> {
  try {
    await api.create(registration, { fieldManager: FIELD_MANAGER });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error; // an earlier look made it, and could not delete the row
  }
}

const remove = (pool: SqlPool, { tenant, id }: Row): Promise<unknown> =>
  pool.query('DELETE FROM carrel.registration_requests WHERE tenant = $1 AND id = $2', [tenant, id]);

/** Pure. `id`: of the link, a UUID. */
export function registrationOf(id: string, wanted: WantedRegistration, tenant: Pick<Tenant, 'metadata'>): LtiRegistration {
  const { preset, issuer, name, authEndpoint, tokenEndpoint, jwksEndpoint, tokenAudience, clientId, deploymentId } = wanted;
  return {
    metadata: {
      name: `${preset}-${id.replaceAll('-', '')}`,
      namespace: tenant.metadata.namespace,
      annotations: { [ORIGIN_ANNOTATION]: `dynamic-registration/${id}`, [NEXT_STEP_ANNOTATION]: nextStepAtPreset(preset) },
    },
    spec: {
      tenantRef: { name: tenant.metadata.name },
      platform: {
        preset,
        issuer,
        ...(name === null ? {} : { name }),
        authEndpoint,
        tokenEndpoint,
        jwksEndpoint,
        ...(tokenAudience === null ? {} : { tokenAudience }),
      },
      clientId,
      ...(deploymentId === null ? { deploymentPolicy: 'Confirm' } : { deploymentIds: [deploymentId] }),
    },
  } as unknown as LtiRegistration;
}
