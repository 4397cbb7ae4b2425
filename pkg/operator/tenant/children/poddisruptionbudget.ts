import { POD_DISRUPTION_BUDGET, type PodDisruptionBudget } from '../../../kube/kinds.ts';
import type { Tenant } from '../../kinds.ts';
import { identity, podLabels } from '../../names.ts';
import { mostReplicasOf } from '../workload/replicas.ts';

/** Lets a drained node evict one pod of a tenant at a time. Returns undefined if the tenant never has more than one pod. */
export function podDisruptionBudget(tenant: Tenant): PodDisruptionBudget | undefined {
  if (mostReplicasOf(tenant) < 2) return undefined;
  return {
    ...identity(tenant, POD_DISRUPTION_BUDGET, tenant.metadata.name),
    // A pod that is not ready serves no requests, so its eviction costs nothing.
    spec: { maxUnavailable: 1, selector: { matchLabels: podLabels(tenant) }, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  };
}
