import type { Deployment } from '../../kube/kinds.ts';
import type { Outcome } from '../steps.ts';

type Availability = Omit<Outcome<unknown>, 'value'>;

/**
 * Whether a Deployment serves what is wanted of it.
 * A new wish needs its whole rollout; once that was there (`wasAvailable`, for the present generation of the Tenant), the Deployment's own
 * word counts, so that a pod that is replaced does not take the tenant's readiness away while the others serve.
 */
export function availabilityOf(deployment: Deployment, wasAvailable: boolean): Availability {
  const { metadata, spec, status } = deployment;
  const wanted = spec?.replicas ?? 1;
  const ready = status?.readyReplicas ?? 0;
  if (wanted === 0) return { status: 'False', reason: 'ScaledToZero', message: 'no pods are wanted' };
  const isCurrent = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
  const isRolledOut = isCurrent && status?.updatedReplicas === wanted && status.replicas === wanted && status.availableReplicas === wanted;
  if (isRolledOut) return { reason: 'Available', message: `${wanted} of ${wanted} pods are ready` };
  if (isCurrent && wasAvailable && conditionOf(deployment, 'Available')?.status === 'True') {
    return { reason: 'Available', message: `${ready} of ${wanted} pods are ready` };
  }
  const progressing = conditionOf(deployment, 'Progressing');
  if (isCurrent && progressing?.reason === 'ProgressDeadlineExceeded') {
    return { status: 'False', reason: 'RolloutFailed', message: `pods do not become ready: ${progressing.message ?? ''}`, isStuck: true };
  }
  const failure = conditionOf(deployment, 'ReplicaFailure');
  if (isCurrent && failure?.status === 'True')
    return { status: 'False', reason: 'PodsRefused', message: failure.message ?? '', isStuck: true };
  return { status: 'False', reason: 'RollingOut', message: `${ready} of ${wanted} pods are ready` };
}

const conditionOf = (deployment: Deployment, type: string) => deployment.status?.conditions?.find((condition) => condition.type === type);
