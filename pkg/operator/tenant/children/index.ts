import { HTTP_ROUTE } from '../../../kube/gateway-api.ts';
import {
  CONFIG_MAP,
  DEPLOYMENT,
  ENDPOINT_SLICE,
  HORIZONTAL_POD_AUTOSCALER,
  INGRESS,
  NETWORK_POLICY,
  POD_DISRUPTION_BUDGET,
  SECRET,
  SERVICE,
  SERVICE_ACCOUNT,
  type Service,
} from '../../../kube/kinds.ts';
import type { Kind } from '../../../kube/object.ts';
import { child, type Child, type ChildInput, type WorkloadInput } from './child.ts';
import { configMap } from './configmap.ts';
import { deployment } from './deployment.ts';
import { suspendedEndpoints } from './endpointslice.ts';
import { horizontalPodAutoscaler } from './horizontalpodautoscaler.ts';
import { httpRoute, sharedApiRoute } from './httproute.ts';
import { ingress } from './ingress.ts';
import { networkPolicy } from './networkpolicy.ts';
import { podDisruptionBudget } from './poddisruptionbudget.ts';
import { service } from './service.ts';
import { serviceAccount } from './serviceaccount.ts';

/**
 * The objects that a tenant gets, by the condition whose step applies them, in the order in which they are applied.
 * To add one: a file beside this one, a line here, and the right in charts/carrel/templates/operator/role.yaml, which a test
 * compares with this table (pkg/operator/rights.ts).
 */
export const CHILDREN: {
  readonly WorkloadAvailable: readonly Child<WorkloadInput>[];
  readonly Exposed: readonly Child<ChildInput>[];
} = {
  WorkloadAvailable: [
    child(SERVICE_ACCOUNT, serviceAccount),
    child(CONFIG_MAP, configMap),
    // Before the pods: none is without it.
    child(NETWORK_POLICY, networkPolicy),
    child(DEPLOYMENT, deployment, { leave: [['spec', 'replicas']] }),
    // After the Deployment: one of that name that is somebody else's must not keep the pods from being changed.
    child(HORIZONTAL_POD_AUTOSCALER, horizontalPodAutoscaler),
    child(POD_DISRUPTION_BUDGET, podDisruptionBudget),
  ],
  Exposed: [
    child(SERVICE, service, { replacement: ({ spec }: Service) => ({ spec: { ports: spec?.ports } }) }),
    child(ENDPOINT_SLICE, suspendedEndpoints),
    // Before the Ingress: one that is to be replaced goes once the routes are there.
    child(HTTP_ROUTE, httpRoute),
    child(HTTP_ROUTE, sharedApiRoute),
    child(INGRESS, ingress),
  ],
};

/** Every kind of which the operator makes objects. Secrets are written by the steps that generate their values. */
export const OWNED_KINDS: readonly Kind[] = [
  ...new Set<Kind>([SECRET, ...[...CHILDREN.WorkloadAvailable, ...CHILDREN.Exposed].map(({ kind }) => kind)]),
];
