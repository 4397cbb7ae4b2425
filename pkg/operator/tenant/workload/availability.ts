import type { Deployment } from '../../../kube/kinds.ts';
import { findCondition } from '../../../kube/status.ts';
import type { StepResult } from '../../conditions/runner.ts';

type Availability = Omit<StepResult<unknown>, 'value'>;

/**
 * Returns whether the pods of a Deployment serve. A new generation needs its whole rollout. After that (`wasAvailable`, for the
 * present generation of the Tenant) the Deployment's own condition `Available` counts, so that the tenant stays ready while a pod
 * is replaced and the others serve.
 */
export function availabilityOf(deployment: Deployment, wasAvailable: boolean): Availability {
  const { metadata, spec, status } = deployment;
  const wanted = spec?.replicas ?? 1;
  const ready = status?.readyReplicas ?? 0;
  if (wanted === 0) return { status: 'False', reason: 'ScaledToZero', message: 'it is scaled to 0 pods' };
  const isCurrent = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
  if (isRolledOut(deployment)) return { reason: 'Available', message: `${wanted} of ${wanted} pods are ready` };
  if (isCurrent && wasAvailable && findCondition(status?.conditions, 'Available')?.status === 'True') {
    return { reason: 'Available', message: `${ready} of ${wanted} pods are ready` };
  }
  const progressing = findCondition(status?.conditions, 'Progressing');
  if (isCurrent && progressing?.reason === 'ProgressDeadlineExceeded') {
    return {
      status: 'False',
      reason: 'RolloutFailed',
      message: `pods do not become ready: ${progressing.message ?? ''}`,
      isTerminal: true,
    };
  }
  const failure = findCondition(status?.conditions, 'ReplicaFailure');
  if (isCurrent && failure?.status === 'True')
    return { status: 'False', reason: 'PodsRefused', message: failure.message ?? '', isTerminal: true };
  return { status: 'False', reason: 'RollingOut', message: `${ready} of ${wanted} pods are ready` };
}

/** Returns whether all desired pods, even if there are none, have the present template and serve, and no older pod is counted. */
export function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const wanted = spec?.replicas ?? 1;
  if ((status?.observedGeneration ?? 0) < (metadata?.generation ?? 0)) return false;
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status ?? {};
  return updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted;
}
