import { wholeBytes } from '../../../kube/quantity.ts';
import type { DatabaseAccessLevel, TenantLimits, Usage } from '../../../store/postgres/provisioning.ts';
import type { StepCondition } from '../../conditions/runner.ts';
import type { ObservedTenant } from '../../kinds.ts';

/**
 * A read-only schema may grow by this size, or by a quarter of its limit if that is more, before its role can no longer log in.
 */
const SLACK_BYTES = 1024 ** 3;

/** Returns the limits that `spec.limits` sets for all people of a tenant together. */
export const limitsOf = ({ spec }: Pick<ObservedTenant, 'spec'>): TenantLimits => ({
  storage: spec.limits.storage === undefined ? null : wholeBytes(spec.limits.storage),
  files: spec.limits.files ?? null,
});

type Limited = Pick<ObservedTenant, 'spec' | 'status'>;

/**
 * Returns what the tenant's role may do in its database, by the newest size of its tables. Beyond `spec.limits.database` it can
 * only read. Anyone with the role's password can lift that setting for a session. So if the tables keep growing from their size
 * at that time, the role may not log in.
 */
export function accessOf({ spec, status }: Limited, usage: Partial<Usage> | undefined): DatabaseAccessLevel {
  const limit = wholeBytes(spec.limits.database);
  const bytes = usage?.databaseBytes ?? 0;
  if (bytes <= limit) return 'write';
  const from = Math.max(limit, status?.usage?.readOnlyFromBytes ?? bytes);
  return bytes <= from + Math.max(limit / 4, SLACK_BYTES) ? 'read' : 'none';
}

/** Returns the newest count for the status. */
export function usageStatus(
  tenant: Limited,
  usage: Usage | undefined,
): NonNullable<NonNullable<ObservedTenant['status']>['usage']> {
  const { readOnlyFromBytes, ...known } = tenant.status?.usage ?? {};
  const newest = usage ? { ...usage } : known;
  if (accessOf(tenant, newest) === 'write') return newest;
  return { ...newest, readOnlyFromBytes: readOnlyFromBytes ?? newest.databaseBytes ?? 0 };
}

/** Returns the condition `WithinLimits`, by the newest count; the database decides each request itself. */
export function withinLimits(tenant: Limited, usage: Partial<Usage> | undefined): StepCondition {
  const access = accessOf(tenant, usage);
  if (access !== 'write') {
    const effect = access === 'read' ? 'the tenant can only be read' : 'its role kept writing, and may not log in';
    const size =
      `its tables take ${usage?.databaseBytes ?? 0} of ${wholeBytes(tenant.spec.limits.database)} bytes ` +
      '(spec.limits.database)';
    const message = `${size}: ${effect}; raise the limit, or make the tables smaller`;
    return { type: 'WithinLimits', status: 'False', reason: 'OverLimit', message };
  }
  const { storage, files } = limitsOf(tenant);
  const [bytes, entries] = [usage?.bytes ?? 0, usage?.entries ?? 0];
  const reached = [
    ...(storage !== null && bytes >= storage ? [`${bytes} of ${storage} bytes are stored (spec.limits.storage)`] : []),
    ...(files !== null && entries >= files
      ? [`${entries} of ${files} files, folders and their parts are stored (spec.limits.files)`]
      : []),
  ];
  if (reached.length === 0) return { type: 'WithinLimits', status: 'True', reason: 'HasRoom', message: '' };
  const message = `${reached.join(', and ')}: further additions are refused; delete something permanently, or raise the limit`;
  return { type: 'WithinLimits', status: 'False', reason: 'LimitReached', message };
}
