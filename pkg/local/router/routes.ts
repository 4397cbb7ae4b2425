import type { V1HTTPIngressPath, V1IngressBackend } from '@kubernetes/client-node';
import { SUSPENDED_ANNOTATION } from '../../api/suspended-reply.ts';
import type { HttpRoute, HttpRouteMatch } from '../../kube/gateway-api.ts';
import type { Ingress, Pod, Service } from '../../kube/kinds.ts';
import { isDeleting, keyOf, keyText, type Json, type Observed } from '../../kube/object.ts';
import { PORTS_ANNOTATION } from '../node/addresses.ts';

/** The objects that the router reads, in their present state. */
export interface Objects {
  /** Returns Ingresses with a rule for this host; '' for rules without a host. */
  ingressesFor(host: string): readonly Observed<Ingress>[];
  /**
   * Returns HTTPRoutes that name this host ('' for routes without a host) and that a listener of one of this router's Gateways
   * serves at `host`.
   */
  routesFor(name: string, host: string): readonly Observed<HttpRoute>[];
  service(namespace: string, name: string): Observed<Service> | undefined;
  /** Returns pods with all these labels. */
  pods(namespace: string, selector: Readonly<Record<string, string>>): readonly Observed<Pod>[];
}

export interface Upstream {
  readonly host: string;
  readonly port: number;
}

/** The backend of a request: its service and its ready pods. */
export interface Route {
  /** `namespace/name` of the Service, for people and for taking turns. */
  readonly service: string;
  readonly upstreams: readonly Upstream[];
  /** Names of request headers that do not reach the pod, in lower case. */
  readonly withoutHeaders?: readonly string[];
  /** Its tenant is suspended: no pod answers for it. */
  readonly isSuspended?: boolean;
}

/** Normalises `Tenant.localhost.:8080` to `tenant.localhost`; returns '' if there is none. */
export const hostOf = (header: string | undefined): string =>
  (header ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');

/** The parts of a request that decide its route. */
interface RequestLine {
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Returns the route of a request by the rules of networking.k8s.io/v1 Ingress and gateway.networking.k8s.io/v1 HTTPRoute. An
 * exact host comes before `*.`, and that before no host. Within a host the longest matching path wins, `Exact` before `Prefix`,
 * and then the most headers. Returns undefined if no rule matches.
 */
export function routeOf(objects: Objects, request: RequestLine): Route | undefined {
  const { host, path } = request;
  for (const name of [host, host.replace(/^[^.]+/, '*'), '']) {
    const matches = [
      ...objects.ingressesFor(name).flatMap((ingress) => matchesOf(ingress, name, path)),
      ...objects.routesFor(name, host).flatMap((route) => routeMatches(route, request)),
    ];
    const [best] = matches.sort((a, b) => b.weight - a.weight);
    if (best) return { ...routeTo(objects, best.namespace, best.backend), withoutHeaders: best.withoutHeaders ?? [] };
  }
  return undefined;
}

interface Match {
  readonly namespace: string;
  readonly backend: Json<V1IngressBackend>;
  readonly withoutHeaders?: readonly string[];
  readonly weight: number;
}

function matchesOf(ingress: Observed<Ingress>, host: string, path: string): Match[] {
  const namespace = ingress.metadata.namespace ?? '';
  const rules = (ingress.spec?.rules ?? []).filter((rule) => (rule.host ?? '') === host);
  const found = rules.flatMap((rule) =>
    (rule.http?.paths ?? []).flatMap((each) => {
      const weight = weightOf(each, path);
      return weight === 0 ? [] : [{ namespace, backend: each.backend, weight }];
    }),
  );
  const fallback = host === '' ? ingress.spec?.defaultBackend : undefined;
  return fallback ? [...found, { namespace, backend: fallback, weight: 0.5 }] : found;
}

/** Each header weighs less than a letter of the path, and so do all of them together (an HTTPRoute has at most 16). */
const HEADER_WEIGHT = 1 / 64;

function routeMatches({ metadata, spec }: Observed<HttpRoute>, request: RequestLine): Match[] {
  return (spec?.rules ?? []).flatMap(({ matches = [{}], filters = [], backendRefs = [] }) => {
    const weight = Math.max(0, ...matches.map((match) => matchWeight(match, request)));
    const [backend] = backendRefs;
    if (weight === 0 || !backend) return [];
    const service = { name: backend.name, port: { number: backend.port ?? 0 } };
    const withoutHeaders = filters.flatMap(({ requestHeaderModifier }) => requestHeaderModifier?.remove ?? []);
    return [
      {
        namespace: metadata.namespace ?? '',
        backend: { service },
        withoutHeaders: withoutHeaders.map((name) => name.toLowerCase()),
        weight,
      },
    ];
  });
}

/** Returns 0 for no match. */
function matchWeight({ path, headers = [] }: HttpRouteMatch, request: RequestLine): number {
  if (!headers.every(({ name, value }) => request.headers[name.toLowerCase()] === value)) return 0;
  const weight = weightOf({ path: path?.value ?? '/', pathType: path?.type === 'Exact' ? 'Exact' : 'Prefix' }, request.path);
  return weight === 0 ? 0 : weight + headers.length * HEADER_WEIGHT;
}

/** Returns 0 for no match. Prefixes match whole segments. */
function weightOf({ path: wanted = '/', pathType }: Pick<Json<V1HTTPIngressPath>, 'path' | 'pathType'>, path: string): number {
  if (pathType === 'Exact') return path === wanted ? wanted.length + 0.5 : 0;
  const prefix = wanted.replace(/\/+$/, '');
  return path === prefix || path.startsWith(`${prefix}/`) ? prefix.length + 1 : 0;
}

function routeTo(objects: Objects, namespace: string, backend: Json<V1IngressBackend>): Route {
  const name = backend.service?.name ?? '';
  const service = objects.service(namespace, name);
  const wanted = backend.service?.port;
  const port = service?.spec?.ports?.find((each) =>
    wanted?.name === undefined ? each.port === wanted?.number : each.name === wanted.name,
  );
  const selector = service?.spec?.selector;
  const pods = port && selector && Object.keys(selector).length > 0 ? objects.pods(namespace, selector).filter(isReady) : [];
  const upstreams = pods.flatMap((pod) => {
    const number = portIn(pod, (port?.targetPort as string | number | undefined) ?? port?.port);
    return number === undefined ? [] : [{ host: pod.status?.podIP ?? '', port: number }];
  });
  return {
    service: `${namespace}/${name}`,
    upstreams,
    isSuspended: service?.metadata.annotations?.[SUSPENDED_ANNOTATION] === 'true',
  };
}

/** A terminating pod gets no new request, whatever its last probe result. */
const isReady = (pod: Observed<Pod>): boolean =>
  !isDeleting(pod) &&
  pod.status?.podIP !== undefined &&
  (pod.status.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

function portIn(pod: Observed<Pod>, target: string | number | undefined): number | undefined {
  const ports = (pod.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  const number = typeof target === 'string' ? ports.find(({ name }) => name === target)?.containerPort : target;
  const exchanged = pod.metadata.annotations?.[PORTS_ANNOTATION];
  if (number === undefined || exchanged === undefined) return number;
  return (JSON.parse(exchanged) as Record<string, number>)[String(number)] ?? number;
}

/** Returns every host that an Ingress names. */
export const hostsIn = (ingresses: readonly Observed<Ingress>[]): string[] =>
  [...new Set(ingresses.flatMap((ingress) => (ingress.spec?.rules ?? []).flatMap(({ host }) => host ?? [])))].sort();

/** For the store's index: hosts of an Ingress; '' for rules without a host and for a default backend. */
export const hostIndex = (ingress: Ingress): string[] => [
  ...new Set([...(ingress.spec?.rules ?? []).map(({ host }) => host ?? ''), ...(ingress.spec?.defaultBackend ? [''] : [])]),
];

/** For the store's index: `namespace/key=value` of each label. */
export const labelIndex = (pod: Pod): string[] =>
  Object.entries(pod.metadata?.labels ?? {}).map(([key, value]) => `${pod.metadata?.namespace}/${key}=${value}`);

export const nameOf = (ingress: Observed<Ingress>): string => keyText(keyOf(ingress));
