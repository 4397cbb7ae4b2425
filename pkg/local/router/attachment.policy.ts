import type {
  Gateway,
  GatewayListener,
  HttpRoute,
  HttpRouteFilter,
  HttpRouteMatch,
  HttpRouteRule,
  ParentReference,
} from '../../kube/gateway-api.ts';
import type { ObjectKey } from '../../kube/object.ts';

/** The reason, from the Gateway API, why a Gateway does not serve a route. */
interface RouteRefusal {
  readonly reason: 'NoMatchingParent' | 'NotAllowedByListeners' | 'NoMatchingListenerHostname' | 'UnsupportedValue';
  readonly message: string;
}

export const parentKey = ({ metadata }: HttpRoute, { namespace, name }: ParentReference): ObjectKey => ({
  namespace: namespace ?? metadata?.namespace ?? '',
  name,
});

/** The listeners that serve a route, or why none does. */
export interface Attachment {
  readonly listeners: readonly GatewayListener[];
  readonly refusal?: RouteRefusal;
}

/**
 * Returns the listeners of a Gateway that serve a route, or why none does. The router supports an HTTPRoute's paths, headers,
 * removal of request headers, and Services of the route's own namespace. It refuses a route that uses more as a whole, so that
 * the route never leads where its owner did not intend.
 */
export function attach(route: HttpRoute, parent: ParentReference, gateway: Gateway): Attachment {
  const refused = (reason: RouteRefusal['reason'], message: string): Attachment => ({
    listeners: [],
    refusal: { reason, message },
  });
  const unsupported = (route.spec?.rules ?? []).map(unsupportedIn).find((field) => field !== undefined);
  if (unsupported !== undefined) return refused('UnsupportedValue', `this router does not support ${unsupported}`);
  const all = gateway.spec?.listeners ?? [];
  const named = all.filter(({ name }) => parent.sectionName === undefined || name === parent.sectionName);
  if (named.length === 0) return refused('NoMatchingParent', `there is no listener ${parent.sectionName}`);
  const open = named.filter((listener) => takesRoutesOf(listener, gateway, route));
  if (open.length === 0)
    return refused('NotAllowedByListeners', `no listener accepts routes of namespace ${route.metadata?.namespace}`);
  const { hostnames = [] } = route.spec ?? {};
  const fitting = open.filter((listener) => hostnames.length === 0 || hostnames.some((host) => isHostOf(listener, host)));
  if (fitting.length === 0) return refused('NoMatchingListenerHostname', `no listener has a host of ${hostnames.join(', ')}`);
  return { listeners: fitting };
}

/** Returns true if a listener answers for this host, or for these hosts (`*.example.org`). */
export const isHostOf = ({ hostname }: GatewayListener, host: string): boolean =>
  hostname === undefined || hostname === host || (hostname.startsWith('*.') && host.endsWith(hostname.slice(1)));

/** `Selector` would need the labels of namespaces, which the router does not read. */
function takesRoutesOf({ allowedRoutes }: GatewayListener, gateway: Gateway, route: HttpRoute): boolean {
  const from = allowedRoutes?.namespaces?.from ?? 'Same';
  return from === 'All' || (from === 'Same' && gateway.metadata?.namespace === route.metadata?.namespace);
}

function unsupportedIn({ matches = [], filters = [], backendRefs = [] }: HttpRouteRule): string | undefined {
  const filter = filters.find((each) => !isRemoval(each));
  if (filter) return `the filter ${filter.type}`;
  if (
    backendRefs.length > 1 ||
    backendRefs.some(({ kind = 'Service', namespace }) => kind !== 'Service' || namespace !== undefined)
  )
    return 'backendRefs other than one Service of the same namespace';
  return matches.map(unsupportedMatch).find((field) => field !== undefined);
}

const isRemoval = ({ type, requestHeaderModifier = {} }: HttpRouteFilter): boolean =>
  type === 'RequestHeaderModifier' && Object.keys(requestHeaderModifier).every((field) => field === 'remove');

function unsupportedMatch(match: HttpRouteMatch): string | undefined {
  const other = Object.keys(match).find((field) => field !== 'path' && field !== 'headers');
  if (other !== undefined) return `matches by ${other}`;
  const types = [match.path?.type, ...(match.headers ?? []).map(({ type }) => type)];
  return types.includes('RegularExpression') ? 'RegularExpression' : undefined;
}
