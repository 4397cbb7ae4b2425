import type * as models from '@kubernetes/client-node';
import { defineKind, type Json } from './object.ts';

/** The built-in kinds that a controller commonly uses. */
export type ConfigMap = Json<models.V1ConfigMap>;
export type CustomResourceDefinition = Json<models.V1CustomResourceDefinition>;
export type Deployment = Json<models.V1Deployment>;
export type EndpointSlice = Json<models.V1EndpointSlice>;
export type Event = Json<models.EventsV1Event>;
export type HorizontalPodAutoscaler = Json<models.V2HorizontalPodAutoscaler>;
export type Ingress = Json<models.V1Ingress>;
export type Lease = Json<models.V1Lease>;
export type Namespace = Json<models.V1Namespace>;
export type NetworkPolicy = Json<models.V1NetworkPolicy>;
export type Node = Json<models.V1Node>;
export type PodDisruptionBudget = Json<models.V1PodDisruptionBudget>;
export type Pod = Json<models.V1Pod>;
export type Secret = Json<models.V1Secret>;
export type Service = Json<models.V1Service>;
export type ServiceAccount = Json<models.V1ServiceAccount>;

const core = { group: '', version: 'v1', namespaced: true };
const apps = { group: 'apps', version: 'v1', namespaced: true };
const networking = { group: 'networking.k8s.io', version: 'v1', namespaced: true };

export const CONFIG_MAP = defineKind<ConfigMap>({ ...core, kind: 'ConfigMap', plural: 'configmaps' });
export const NAMESPACE = defineKind<Namespace>({ ...core, kind: 'Namespace', plural: 'namespaces', namespaced: false });
export const NODE = defineKind<Node>({ ...core, kind: 'Node', plural: 'nodes', namespaced: false });
export const POD = defineKind<Pod>({ ...core, kind: 'Pod', plural: 'pods' });
export const SECRET = defineKind<Secret>({ ...core, kind: 'Secret', plural: 'secrets' });
export const SERVICE = defineKind<Service>({ ...core, kind: 'Service', plural: 'services' });
export const SERVICE_ACCOUNT = defineKind<ServiceAccount>({ ...core, kind: 'ServiceAccount', plural: 'serviceaccounts' });
export const DEPLOYMENT = defineKind<Deployment>({ ...apps, kind: 'Deployment', plural: 'deployments' });
export const INGRESS = defineKind<Ingress>({ ...networking, kind: 'Ingress', plural: 'ingresses' });
export const NETWORK_POLICY = defineKind<NetworkPolicy>({ ...networking, kind: 'NetworkPolicy', plural: 'networkpolicies' });

export const ENDPOINT_SLICE = defineKind<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
});

export const POD_DISRUPTION_BUDGET = defineKind<PodDisruptionBudget>({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  namespaced: true,
});
export const HORIZONTAL_POD_AUTOSCALER = defineKind<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  namespaced: true,
});
export const LEASE = defineKind<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
});
export const EVENT = defineKind<Event>({
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
});
export const CUSTOM_RESOURCE_DEFINITION = defineKind<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
});
