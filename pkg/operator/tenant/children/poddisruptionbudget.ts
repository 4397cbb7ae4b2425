import { POD_DISRUPTION_BUDGET, type PodDisruptionBudget } from '../../../kube/kinds.ts';
import type { Tenant } from '../../kinds.ts';
import { identity, podLabels } from '../../names.ts';
import { mostReplicasOf } from '../workload/replicas.ts';

/**
 * Has a drained node give up one pod of a tenant at a time. Undefined where there is never more than one: there is nothing to
 * keep.
 */
export function podDisruptionBudget(tenant: Tenant): PodDisruptionBudget | undefined {
  if (mostReplicasOf(tenant) < 2) return undefined;
  return {
    ...identity(tenant, POD_DISRUPTION_BUDGET, tenant.metadata.name),
    // A pod that is not ready serves nobody, so nothing is lost with it.
    spec: { maxUnavailable: 1, selector: { matchLabels: podLabels(tenant) }, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  };
}
