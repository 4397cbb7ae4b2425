import { wholeBytes } from '../../kube/quantity.ts';
import type { TenantLimits, Usage } from '../../store/postgres/provisioning.ts';
import type { StepCondition } from '../conditions/runner.ts';
import type { ObservedTenant } from '../kinds.ts';

/** What `spec.limits` lets all people of a tenant have together. */
export const limitsOf = ({ spec }: Pick<ObservedTenant, 'spec'>): TenantLimits => ({
  storage: spec.limits.storage === undefined ? null : wholeBytes(spec.limits.storage),
  files: spec.limits.files ?? null,
});

/** Whether there is room, by the newest count; the database decides each request by itself. */
export function withinLimits(tenant: Pick<ObservedTenant, 'spec'>, usage: Partial<Usage> | undefined): StepCondition {
  const { storage, files } = limitsOf(tenant);
  const [bytes, entries] = [usage?.bytes ?? 0, usage?.entries ?? 0];
  const reached = [
    ...(storage !== null && bytes >= storage ? [`${bytes} of ${storage} bytes are stored (spec.limits.storage)`] : []),
    ...(files !== null && entries >= files
      ? [`there are ${entries} of ${files} files, folders and what belongs to them (spec.limits.files)`]
      : []),
  ];
  if (reached.length === 0) return { type: 'WithinLimits', status: 'True', reason: 'HasRoom', message: '' };
  const message = `${reached.join(', and ')}: what would add to them is refused; have something deleted for ever, or raise the limit`;
  return { type: 'WithinLimits', status: 'False', reason: 'LimitReached', message };
}
