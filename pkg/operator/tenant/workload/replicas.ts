import type { Tenant } from '../../kinds.ts';

/** Pods above the wanted number while a rollout runs. */
export const MAX_SURGE = 1;

/** The fewest pods of the server while the tenant is not suspended. */
const leastReplicasOf = ({ spec }: Tenant): number => spec.replicas ?? spec.autoscaling?.min ?? 1;

/** The most pods of the server, but for a rollout; none while the tenant is suspended. */
export const mostReplicasOf = ({ spec }: Tenant): number => (spec.suspended ? 0 : (spec.replicas ?? spec.autoscaling?.max ?? 1));

/**
 * The `replicas` that the operator applies to a Deployment that has `live`. None while the tenant is suspended. Undefined: the
 * HorizontalPodAutoscaler decides. It does nothing at 0 pods, so the operator starts the fewest, and then leaves the field to it.
 */
export function appliedReplicas(tenant: Tenant, live: number | undefined): number | undefined {
  if (tenant.spec.suspended) return 0;
  return tenant.spec.autoscaling && live ? undefined : leastReplicasOf(tenant);
}
