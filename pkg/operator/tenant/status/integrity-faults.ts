import type { EventRecorder } from '../../../kube/events.ts';
import type { Store } from '../../../kube/store.ts';
import { tenantRole } from '../../../store/postgres/provisioning.ts';
import { type Tenant, TENANT } from '../../kinds.ts';
import { slugOf } from '../../names.ts';
import type { ShardChanges } from '../../shard-changes.ts';

interface Row {
  /** The tenant's role. */
  readonly tenant: string;
  readonly kind: string;
  readonly found: number;
  readonly repaired: number;
}

/** Rows that one poll reads; the next poll reads more. */
const MAX_ROWS = 100;

const WHAT: Readonly<Record<string, string>> = {
  missing_object: 'versions of files have no object in the store',
  wrong_size: 'objects have another size than their versions',
  wrong_checksum: 'objects have other bytes than were uploaded',
  unowned_object: 'objects belong to no version',
  foreign_object: 'objects in its bucket were not written by Carrel',
  wrong_usage: 'users had a wrong count of used bytes',
};

/**
 * Reports what the integrity check of a tenant found by Warnings at the Tenant: one for each kind of fault and check, and not
 * again within an hour, whatever the tenant's role writes.
 */
export const reportIntegrityFaults = ({
  tenants,
  events,
}: {
  tenants: Store<Tenant>;
  events: EventRecorder;
}): ShardChanges<Row> => ({
  isWanted: () => tenants.size > 0,
  select: `
    SELECT tenant, kind, found, repaired FROM carrel.integrity_faults
    WHERE found > 0 AND (reported_at IS NULL OR reported_at < noted_at AND reported_at < now() - interval '1 hour')
    ORDER BY noted_at LIMIT ${MAX_ROWS}`,
  async onChange(pool, rows) {
    // Marked first: an Event that is lost with a leader does less harm than one at every look.
    await pool.query(
      `UPDATE carrel.integrity_faults f SET reported_at = now() FROM unnest($1::name[], $2::text[]) AS r (tenant, kind)
       WHERE f.tenant = r.tenant AND f.kind = r.kind`,
      [rows.map(({ tenant }) => tenant), rows.map(({ kind }) => kind)],
    );
    const byRole = new Map(tenants.list().map((tenant) => [tenantRole(slugOf(tenant)), tenant]));
    for (const { tenant: role, kind, found, repaired } of rows) {
      const tenant = byRole.get(role);
      if (!tenant) continue;
      const rest = repaired === found ? 'All were put right.' : `carrel doctor --tenant ${slugOf(tenant)} shows each.`;
      events.record(tenant, TENANT, {
        type: 'Warning',
        reason: 'IntegrityFault',
        message: `the integrity check found: ${found} ${WHAT[kind] ?? kind}. ${rest}`,
      });
    }
  },
});
