import { keyOf, type ObjectKey } from '../../kube/object.ts';
import type { Store } from '../../kube/store.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { BY_TENANT } from '../informers.ts';
import type { LtiRegistration, Tenant } from '../kinds.ts';
import { slugOf } from '../names.ts';
import type { ShardChanges } from '../shard-changes.ts';

interface Deps {
  readonly tenants: Store<Tenant>;
  readonly registrations: Store<LtiRegistration>;
  enqueue(key: ObjectKey): void;
}

/** Rows that one poll reads; the next poll reads more. */
const MAX_ROWS = 100;

/**
 * Enqueues the LtiRegistrations with `deploymentPolicy: Confirm` of tenants whose waiting or admitted deployments changed; their
 * reconcile reads the rows. Changes are deleted when they are read: one that is lost with a leader is not missed, since the next
 * leader begins with a reconcile of each.
 */
export const deploymentChanges = ({ tenants, registrations, enqueue }: Deps): ShardChanges<{ tenant: string }> => ({
  isWanted: () => registrations.size > 0,
  select: `SELECT tenant FROM carrel.deployment_changes ORDER BY random() LIMIT ${MAX_ROWS}`,
  async onChange(pool, rows) {
    const roles = new Set(rows.map(({ tenant }) => tenant));
    // Deleted first: a change during the reconcile is written again.
    await pool.query('DELETE FROM carrel.deployment_changes WHERE tenant = ANY ($1::name[])', [[...roles]]);
    for (const tenant of tenants.list().filter((one) => roles.has(tenantRole(slugOf(one))))) {
      const { namespace, name } = tenant.metadata;
      for (const registration of registrations.byIndex(BY_TENANT, `${namespace}/${name}`)) {
        if (registration.spec.deploymentPolicy === 'Confirm') enqueue(keyOf(registration));
      }
    }
  },
});
