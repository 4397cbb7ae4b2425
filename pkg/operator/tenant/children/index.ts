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
    // The policy comes before the pods, so that no pod runs without it.
    child(NETWORK_POLICY, networkPolicy),
    child(DEPLOYMENT, deployment, { leave: [['spec', 'replicas']] }),
    // It comes after the Deployment: an autoscaler of that name with another owner must not block changes to the pods.
    child(HORIZONTAL_POD_AUTOSCALER, horizontalPodAutoscaler),
    child(POD_DISRUPTION_BUDGET, podDisruptionBudget),
  ],
  Exposed: [
    child(SERVICE, service, { replacement: ({ spec }: Service) => ({ spec: { ports: spec?.ports } }) }),
    child(ENDPOINT_SLICE, suspendedEndpoints),
    // Routes come before the Ingress: an Ingress that they replace is deleted once they exist.
    child(HTTP_ROUTE, httpRoute),
    child(HTTP_ROUTE, sharedApiRoute),
    child(INGRESS, ingress),
  ],
};

/** Every kind of object that the operator creates. The steps that generate values write the Secrets. */
export const OWNED_KINDS: readonly Kind[] = [
  ...new Set<Kind>([SECRET, ...[...CHILDREN.WorkloadAvailable, ...CHILDREN.Exposed].map(({ kind }) => kind)]),
];
