import { DEPLOYMENT, HORIZONTAL_POD_AUTOSCALER, type HorizontalPodAutoscaler } from '../../../kube/kinds.ts';
import { apiVersionOf } from '../../../kube/object.ts';
import type { Tenant } from '../../kinds.ts';
import { identity } from '../../names.ts';

/**
 * Scales the server's pods by the CPU that they use of what they request. Undefined while nothing scales, and while the tenant is
 * suspended.
 */
export function horizontalPodAutoscaler(tenant: Tenant): HorizontalPodAutoscaler | undefined {
  const { autoscaling, suspended } = tenant.spec;
  if (!autoscaling || suspended) return undefined;
  const { name } = tenant.metadata;
  return {
    ...identity(tenant, HORIZONTAL_POD_AUTOSCALER, name),
    spec: {
      scaleTargetRef: { apiVersion: apiVersionOf(DEPLOYMENT), kind: DEPLOYMENT.kind, name },
      minReplicas: autoscaling.min,
      maxReplicas: autoscaling.max,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: autoscaling.targetCPUPercent } },
        },
      ],
    },
  };
}

/**
 * Returns why the autoscaler cannot scale by load, from its condition `ScalingActive`. Returns undefined if it can, or has not
 * checked yet.
 */
export function scalingFault(autoscaler: HorizontalPodAutoscaler | undefined): string | undefined {
  const active = autoscaler?.status?.conditions?.find(({ type }) => type === 'ScalingActive');
  return active?.status === 'False' ? active.reason : undefined;
}

/** Removes the measurements before the operator stores the object: they change every 15 s and are not used here. */
export function withoutMeasurements<T extends HorizontalPodAutoscaler>(autoscaler: T): T {
  const conditions = autoscaler.status?.conditions?.flatMap(({ type, status, reason }) =>
    type === 'ScalingActive' ? [{ type, status, ...(reason === undefined ? {} : { reason }) }] : [],
  );
  const { status: _status, ...kept } = autoscaler;
  return { ...kept, ...(conditions?.length ? { status: { conditions } } : {}) } as T;
}
