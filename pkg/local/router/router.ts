import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { answerSuspended } from '../../api/suspended-reply.ts';
import { systemRandom } from '../../runtime/random.ts';
import { informer } from '../../kube/informer.ts';
import { INGRESS, type Ingress, POD, type Pod, SERVICE, type Service } from '../../kube/kinds.ts';
import { isDeleting, keyOf, type Observed } from '../../kube/object.ts';
import type { ResourceApi } from '../../kube/resource.ts';
import type { KubeClient } from '../../kube/transport.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { closeServer, listen } from '../../runtime/ops-server.ts';
import { codeOf } from '../../runtime/command-error.ts';
import { Gateways } from './gateways.ts';
import { runGatewayStatus } from './gateway-status.ts';
import { Proxy } from './proxy.ts';
import { hostIndex, hostOf, hostsIn, labelIndex, nameOf, type Objects, routeOf, type Upstream } from './routes.ts';

export interface RunningRouter {
  readonly port: number;
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 3_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * Starts the router on `port` of 127.0.0.1 and, if the machine has IPv6, ::1. It serves the hosts of all Ingress objects, those
 * of the HTTPRoutes at its Gateways, and `fixed` hosts that no object has.
 */
export async function startRouter(options: {
  client: KubeClient;
  port: number;
  fixed: ReadonlyMap<string, Upstream>;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}): Promise<RunningRouter> {
  const { client, clock, log, metrics, port, fixed } = options;
  const stopping = new AbortController();
  const shared = { client, clock, log, metrics };
  const ingresses = informer<Ingress>({ ...shared, kind: INGRESS, indexes: { host: hostIndex } });
  const services = informer<Service>({ ...shared, kind: SERVICE });
  const pods = informer<Pod>({ ...shared, kind: POD, indexes: { label: labelIndex } });
  const gateways = new Gateways(shared);
  const all = [ingresses, services, pods, gateways.classes, gateways.gateways, gateways.routes];
  const work = all.map((each) => each.run(stopping.signal));
  await Promise.all(all.map(({ store }) => store.waitForSync(stopping.signal)));
  ingresses.store.onChange(({ type, object }) => {
    if (type !== 'deleted') void claim(ingresses.api, object, log);
  });
  work.push(runGatewayStatus({ all: gateways, services: services.store, clock, log, metrics }, stopping.signal));
  const objects: Objects = {
    ingressesFor: (host) => ingresses.store.byIndex('host', host),
    routesFor: (name, host) => gateways.routesFor(name, host),
    service: (namespace, name) => services.store.get({ namespace, name }),
    pods: (namespace, selector) => {
      const [first, ...rest] = Object.entries(selector);
      const candidates = first ? pods.store.byIndex('label', `${namespace}/${first[0]}=${first[1]}`) : [];
      return candidates.filter(({ metadata }) => rest.every(([key, value]) => metadata.labels?.[key] === value));
    },
  };
  const hosts = (): string[] => [...new Set([...hostsIn(ingresses.store.list()), ...gateways.hosts(), ...fixed.keys()])];
  const server = await startRouting({ objects, fixed, hosts, port, log });
  return {
    port: server.port,
    stop: async () => {
      await server.stop();
      stopping.abort(new Error('the router stops'));
      await Promise.all(work);
    },
  };
}

/** Writes the address to the Ingress' status, as an ingress controller does. */
async function claim(api: ResourceApi<Ingress>, ingress: Observed<Ingress>, log: Logger): Promise<void> {
  if (isDeleting(ingress) || ingress.status?.loadBalancer?.ingress?.[0]?.hostname === 'localhost') return;
  await api.patchStatus(keyOf(ingress), { loadBalancer: { ingress: [{ hostname: 'localhost' }] } }).catch((error: unknown) => {
    log.warn({ err: error, ingress: nameOf(ingress) }, 'the status of an ingress is not written');
  });
}

/** Starts the listener of the router with the given objects. */
export async function startRouting(options: {
  objects: Objects;
  fixed?: ReadonlyMap<string, Upstream>;
  hosts: () => string[];
  port: number;
  log: Logger;
}): Promise<RunningRouter> {
  const proxy = new Proxy();
  const turns = new Map<string, number>();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    void serve(request, response, { ...options, proxy, turns }).catch((error: unknown) => {
      options.log.error({ err: error }, 'a request failed');
      response.destroy();
    });
  };
  const servers: Server[] = [];
  let { port } = options;
  for (const host of ['127.0.0.1', '::1']) {
    // A long upload is not an attack here; a client that sends only headers is still cut off (headersTimeout).
    const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 }, handle).on('checkContinue', handle);
    try {
      await listen(server, port, host);
    } catch (error) {
      if (host === '::1' && codeOf(error) !== 'EADDRINUSE') continue; // The machine has no IPv6.
      throw error;
    }
    const address = server.address();
    port = typeof address === 'object' && address ? address.port : port;
    servers.push(server);
  }
  return {
    port,
    stop: async () => {
      const cut = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), STOP_GRACE_MS);
      await Promise.all(servers.map(closeServer));
      clearTimeout(cut);
      proxy.close();
    },
  };
}

interface Routing {
  readonly objects: Objects;
  readonly fixed?: ReadonlyMap<string, Upstream>;
  readonly hosts: () => string[];
  readonly proxy: Proxy;
  /** The index of the next pod, per service. */
  readonly turns: Map<string, number>;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { objects, fixed, hosts, proxy, turns }: Routing,
): Promise<void> {
  const host = hostOf(request.headers.host);
  const program = fixed?.get(host);
  const [path = '/'] = (request.url ?? '/').split('?');
  const route =
    routeOf(objects, { host, path, headers: request.headers }) ?? (program && { service: host, upstreams: [program] });
  if (!route) return answer(request, response, 404, noRoutePage(host, hosts(), request.headers.host));
  if (route.isSuspended) return answerSuspended(request, response, systemRandom);
  const turn = turns.get(route.service) ?? 0;
  turns.set(route.service, (turn + 1) % Number.MAX_SAFE_INTEGER);
  for (let index = 0; index < route.upstreams.length; index++) {
    const upstream = route.upstreams[(turn + index) % route.upstreams.length];
    if (upstream && (await proxy.forward(request, response, upstream, route.withoutHeaders)) === 'answered') return;
    if (response.destroyed) return;
  }
  response.setHeader('retry-after', RETRY_AFTER_SECONDS);
  answer(
    request,
    response,
    503,
    page(
      'Not ready',
      `<p>No pod of Service <code>${escape(route.service)}</code> is ready just now. <code>make status</code> shows more.</p>`,
    ),
  );
}

function answer(request: IncomingMessage, response: ServerResponse, status: number, html: string): void {
  if (!request.complete) response.setHeader('connection', 'close'); // The body of the request is not read.
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(html);
}

function noRoutePage(host: string, hosts: string[], header: string | undefined): string {
  const port = /:\d+$/.exec(header ?? '')?.[0] ?? '';
  if (hosts.includes(host)) {
    const why = 'No tenant is served here for this path and header <code>X-Tenant-ID</code>.';
    return page('Not found', `<p><code>${escape(host)}</code>: ${why}</p>`);
  }
  const known = hosts.map((each) => `<li><a href="http://${escape(each)}${port}/">${escape(each)}</a></li>`).join('');
  const list = known === '' ? '<p>There is no tenant yet.</p>' : `<p>Hosts that answer here:</p><ul>${known}</ul>`;
  return page('Unknown host', `<p>Nothing is served at <code>${escape(host || '(no host)')}</code> under this path.</p>${list}`);
}

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body><h1>${title}</h1>${body}</body></html>\n`;

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
