import type { Condition } from './status.ts';
import { defineKind, type KubeObject } from './object.ts';

/**
 * Kinds of the Gateway API (https://gateway-api.sigs.k8s.io), with the fields that are used here. A cluster need not have them.
 */
const group = 'gateway.networking.k8s.io';
const gatewayApi = { group, version: 'v1', namespaced: true };

export interface ParentReference {
  group?: string;
  kind?: string;
  /** Default: the namespace of the route. */
  namespace?: string;
  name: string;
  /** A listener of the Gateway. Default: every listener whose host name fits. */
  sectionName?: string;
}

export interface HttpRouteMatch {
  path?: { type?: 'Exact' | 'PathPrefix' | 'RegularExpression'; value?: string };
  headers?: { type?: 'Exact' | 'RegularExpression'; name: string; value: string }[];
}

interface BackendReference {
  group?: string;
  kind?: string;
  namespace?: string;
  name: string;
  port?: number;
  weight?: number;
}

export interface HttpRouteFilter {
  type: string;
  requestHeaderModifier?: { remove?: string[] };
}

export interface HttpRouteRule {
  /** A request matches if one of these does. */
  matches?: HttpRouteMatch[];
  backendRefs?: BackendReference[];
  filters?: HttpRouteFilter[];
  /** For the whole answer, as in `30s`; `0s`: no limit. Default: the Gateway's own. */
  timeouts?: { request?: string };
}

/** The status of a route that the controller of one Gateway reports. */
export interface RouteParentStatus {
  parentRef: ParentReference;
  controllerName: string;
  conditions?: Condition[];
}

export interface HttpRoute extends KubeObject {
  spec?: { parentRefs?: ParentReference[]; hostnames?: string[]; rules?: HttpRouteRule[] };
  status?: { parents: RouteParentStatus[] };
}

export interface GatewayListener {
  name: string;
  /** `*.example.org` is every name below it. Default: every host. */
  hostname?: string;
  port: number;
  protocol: string;
  allowedRoutes?: { namespaces?: { from?: string } };
}

export interface Gateway extends KubeObject {
  spec?: { gatewayClassName: string; listeners: GatewayListener[] };
  status?: { conditions?: Condition[]; addresses?: { type?: string; value: string }[]; listeners?: object[] };
}

export interface GatewayClass extends KubeObject {
  spec?: { controllerName: string };
  status?: { conditions?: Condition[] };
}

export const HTTP_ROUTE = defineKind<HttpRoute>({ ...gatewayApi, kind: 'HTTPRoute', plural: 'httproutes' });
export const GATEWAY = defineKind<Gateway>({ ...gatewayApi, kind: 'Gateway', plural: 'gateways' });
export const GATEWAY_CLASS = defineKind<GatewayClass>({
  ...gatewayApi,
  kind: 'GatewayClass',
  plural: 'gatewayclasses',
  namespaced: false,
});
