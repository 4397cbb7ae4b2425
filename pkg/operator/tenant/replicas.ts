import type { Tenant } from '../kinds.ts';

/** Pods above the wanted number while a rollout runs. */
export const MAX_SURGE = 1;

/** Pods of the server while the tenant is not suspended. Nothing scales by load yet: the least that autoscaling names run. */
export const runningReplicasOf = ({ spec }: Tenant): number => spec.replicas ?? spec.autoscaling?.min ?? 1;

/** Pods of the server that a Tenant wants: none while it is suspended. */
export const replicasOf = (tenant: Tenant): number => (tenant.spec.suspended ? 0 : runningReplicasOf(tenant));
