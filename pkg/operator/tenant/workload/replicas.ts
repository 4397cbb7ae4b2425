import type { Tenant } from '../../kinds.ts';

/** Pods above the desired number while a rollout runs. */
export const MAX_SURGE = 1;

/** Returns the fewest pods of the server while the tenant is not suspended. */
const leastReplicasOf = ({ spec }: Tenant): number => spec.replicas ?? spec.autoscaling?.min ?? 1;

/** Returns the most pods of the server outside of rollouts; 0 while the tenant is suspended. */
export const mostReplicasOf = ({ spec }: Tenant): number => (spec.suspended ? 0 : (spec.replicas ?? spec.autoscaling?.max ?? 1));

/**
 * Returns the `replicas` that the operator applies to a Deployment that has `live`: 0 while the tenant is suspended, undefined if
 * the HorizontalPodAutoscaler decides. The autoscaler does nothing at 0 pods, so the operator starts the fewest and then leaves
 * the field to it.
 */
export function appliedReplicas(tenant: Tenant, live: number | undefined): number | undefined {
  if (tenant.spec.suspended) return 0;
  return tenant.spec.autoscaling && live ? undefined : leastReplicasOf(tenant);
}
