import {
  GATEWAY,
  HTTP_ROUTE,
  type HttpRoute,
  type HttpRouteFilter,
  type HttpRouteMatch,
  type ParentReference,
} from '../../../kube/gateway-api.ts';
import type { Tenant } from '../../kinds.ts';
import { identity, slugOf } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';
import type { ChildInput } from './child.ts';
import { SERVICE_PORT } from './service.ts';

interface Input {
  readonly accepted: Pick<ChildInput['accepted'], 'hosts' | 'tenantId'>;
  readonly settings: Pick<OperatorSettings, 'apiHost' | 'routeTimeout'>;
}

/** Routes both hosts of a tenant through the Gateway to its Service. Returns undefined if no Gateway exposes the tenant. */
export function httpRoute(tenant: Tenant, { accepted: { hosts }, settings }: Input): HttpRoute | undefined {
  const parent = gatewayOf(tenant);
  if (!parent) return undefined;
  const hostnames = [...new Set([hosts.app, hosts.lti])];
  return routeOf(tenant, { name: tenant.metadata.name, parent, hostnames, matches: [underPath('/')] }, settings);
}

/**
 * The API at the host that tenants share: requests whose X-Tenant-ID names the tenant, by slug or number. At any listener of the
 * Gateway:
 * `sectionName` is the one for the tenant's own hosts. Cookies do not pass: a browser sends those of one tenant with requests for
 * another.
 */
export function sharedApiRoute(tenant: Tenant, { accepted: { tenantId }, settings }: Input): HttpRoute | undefined {
  const parent = gatewayOf(tenant);
  const { apiHost } = settings;
  if (!parent || apiHost === undefined) return undefined;
  const { sectionName: _ofOwnHosts, ...gateway } = parent;
  const names = [slugOf(tenant), tenantId];
  const matches = names.map((value) => ({
    ...underPath('/api/v1'),
    headers: [{ type: 'Exact' as const, name: 'X-Tenant-ID', value }],
  }));
  return routeOf(
    tenant,
    { name: sharedApiRouteName(tenant), parent: gateway, hostnames: [apiHost], matches, filters: [WITHOUT_COOKIES] },
    settings,
  );
}

const WITHOUT_COOKIES: HttpRouteFilter = { type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['Cookie'] } };

/** The name has a dot, which no Tenant's name has, so it is never the name of another Tenant's own route. */
export const sharedApiRouteName = ({ metadata }: Tenant): string => `${metadata.name}.api`;

/** Returns the Gateway that the spec names, or undefined if no Gateway exposes the tenant. */
export function gatewayOf({
  metadata,
  spec,
}: Tenant): (Required<Pick<ParentReference, 'namespace'>> & ParentReference) | undefined {
  const { type, gateway } = spec.exposure;
  if (type !== 'Gateway' || !gateway) return undefined;
  const { name, namespace = metadata.namespace, sectionName } = gateway;
  return { group: GATEWAY.group, kind: GATEWAY.kind, namespace, name, ...(sectionName === undefined ? {} : { sectionName }) };
}

const underPath = (value: string): HttpRouteMatch => ({ path: { type: 'PathPrefix', value } });

/** Returns a route with every default of the schema, so that defaults which the API server fills in are no difference. */
function routeOf(
  tenant: Tenant,
  route: { name: string; parent: ParentReference; hostnames: string[]; matches: HttpRouteMatch[]; filters?: HttpRouteFilter[] },
  { routeTimeout }: Input['settings'],
): HttpRoute {
  const { name, parent, hostnames, matches, filters } = route;
  const backendRefs = [{ group: '', kind: 'Service', name: tenant.metadata.name, port: SERVICE_PORT, weight: 1 }];
  const timeouts = routeTimeout === undefined ? {} : { timeouts: { request: routeTimeout } };
  const rule = { matches, ...(filters ? { filters } : {}), backendRefs, ...timeouts };
  return { ...identity(tenant, HTTP_ROUTE, name), spec: { parentRefs: [parent], hostnames, rules: [rule] } };
}
