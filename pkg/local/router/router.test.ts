import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Ingress, Pod, Service } from '../../kube/kinds.ts';
import type { Observed } from '../../kube/object.ts';
import { silentLogger } from '../../runtime/log.ts';
import type { HttpRoute } from '../../kube/gateway-api.ts';
import { closeServer, listen } from '../../runtime/ops-server.ts';
import { type RunningRouter, startRouting } from './router.ts';
import { hostIndex, hostOf, hostsIn, routeOf, type Objects, type Upstream } from './routes.ts';

const observed = <T>(object: T): Observed<T & object> => object as Observed<T & object>;
const meta = (name: string) => ({ name, namespace: 'ns', uid: name, resourceVersion: '1', creationTimestamp: '' });

const ingress = (host: string, ...paths: [path: string, service: string][]): Observed<Ingress> =>
  observed<Ingress>({
    metadata: meta(host),
    spec: {
      rules: [
        {
          host,
          http: {
            paths: paths.map(([path, name]) => ({
              path,
              pathType: 'Prefix',
              backend: { service: { name, port: { name: 'http' } } },
            })),
          },
        },
      ],
    },
  });
const podAt = (port: number, more: Partial<Pod['metadata']> = {}, ready = 'True'): Observed<Pod> =>
  observed<Pod>({
    metadata: { ...meta(`pod-${port}`), ...more },
    spec: { containers: [{ name: 'server', ports: [{ name: 'web', containerPort: port }] }] },
    status: { podIP: '127.0.0.1', conditions: [{ type: 'Ready', status: ready }] },
  });

/** Returns a route with one rule: these headers lead below this path to the service. */
const httpRoute = (host: string, path: string, service: string, headers: Record<string, string> = {}): Observed<HttpRoute> => ({
  metadata: meta(service),
  spec: {
    hostnames: [host],
    rules: [
      {
        matches: [
          {
            path: { type: 'PathPrefix', value: path },
            headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
          },
        ],
        filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['Cookie'] } }],
        backendRefs: [{ name: service, port: 80 }],
      },
    ],
  },
});

let routes: Observed<HttpRoute>[];
let ingresses: Observed<Ingress>[];
let pods: Record<string, Observed<Pod>[]>;
let fixed: Map<string, Upstream>;
let annotations: Record<string, string>;
let router: RunningRouter;
const upstreams: Server[] = [];
const objects: Objects = {
  ingressesFor: (host) => ingresses.filter((each) => hostIndex(each).includes(host)),
  routesFor: (name) => routes.filter(({ spec }) => spec?.hostnames?.includes(name)),
  service: (_, name) =>
    observed<Service>({
      metadata: { ...meta(name), annotations },
      spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 'web' }] },
    }),
  pods: (_, selector) => pods[selector['app'] ?? ''] ?? [],
};

beforeEach(async () => {
  ingresses = [ingress('x.localhost', ['/', 'x'])];
  routes = [];
  pods = {};
  fixed = new Map();
  annotations = {};
  router = await startRouting({
    objects,
    fixed,
    hosts: () => [...hostsIn(ingresses), ...routes.flatMap(({ spec }) => spec?.hostnames ?? [])],
    port: 0,
    log: silentLogger,
  });
});
afterEach(async () => {
  for (const server of upstreams.splice(0)) {
    server.closeAllConnections();
    await closeServer(server);
  }
  await router.stop();
});

async function upstream(listener: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<number> {
  const server = createServer((request, response) => void listener(request, response));
  upstreams.push(server);
  await listen(server, 0, '127.0.0.1');
  return (server.address() as AddressInfo).port;
}

async function get(
  path: string,
  options: { host?: string; method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<{ response: IncomingMessage; body: string }> {
  const { host = 'x.localhost', method = 'GET', body, headers = {} } = options;
  const request = httpRequest({
    host: '127.0.0.1',
    port: router.port,
    path,
    method,
    headers: { host: `${host}:${router.port}`, ...headers },
    agent: false,
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { response, body: await text(response) };
}

test('a request reaches the pod with its own host, path and body, and its true origin, whatever the client claims', async () => {
  const port = await upstream(async (request, response) =>
    response.end(JSON.stringify({ url: request.url, headers: request.headers, body: await text(request) })),
  );
  pods['x'] = [podAt(port)];

  const { body } = await get('/a%2Fb?c=%20', {
    method: 'POST',
    body: 'hello',
    headers: {
      'x-forwarded-for': '9.9.9.9',
      forwarded: 'for=9.9.9.9',
      'x-real-ip': '9.9.9.9',
      connection: 'x-drop',
      'x-drop': '1',
    },
  });

  const seen = JSON.parse(body) as { url: string; headers: Record<string, string>; body: string };
  expect(seen).toMatchObject({ url: '/a%2Fb?c=%20', body: 'hello' });
  expect(seen.headers).toMatchObject({
    host: `x.localhost:${router.port}`,
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': `x.localhost:${router.port}`,
  });
  expect(Object.keys(seen.headers)).not.toEqual(expect.arrayContaining(['forwarded']));
  expect(seen.headers['x-real-ip'] ?? seen.headers['x-drop']).toBeUndefined();
});

test('pods take turns; a pod that is ending or not ready gets nothing', async () => {
  const [a, b, c, d] = await Promise.all(['a', 'b', 'c', 'd'].map((name) => upstream((_, response) => response.end(name))));
  pods['x'] = [
    podAt(a ?? 0),
    podAt(b ?? 0),
    podAt(c ?? 0, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    podAt(d ?? 0, {}, 'False'),
  ];

  const bodies = [];
  for (let index = 0; index < 4; index++) bodies.push((await get('/')).body);

  expect(bodies).toEqual(['a', 'b', 'a', 'b']);
});

test('a pod that cannot be reached is skipped, even for a POST, since nothing was sent', async () => {
  const port = await upstream(async (request, response) => response.end(await text(request)));
  pods['x'] = [podAt(1), podAt(port)];

  const answers = await Promise.all([get('/', { method: 'POST', body: 'one' }), get('/', { method: 'POST', body: 'two' })]);

  expect(answers.map(({ body }) => body)).toEqual(['one', 'two']);
});

test('a fixed host reaches its program, until an Ingress takes the host', async () => {
  const [program, pod] = [
    await upstream((_, response) => response.end('program')),
    await upstream((_, response) => response.end('pod')),
  ];
  fixed.set('lms.localhost', { host: '127.0.0.1', port: program });
  const before = await get('/', { host: 'lms.localhost' });
  ingresses = [...ingresses, ingress('lms.localhost', ['/', 'x'])];
  pods['x'] = [podAt(pod)];

  const after = await get('/', { host: 'lms.localhost' });

  expect([before.body, after.body]).toEqual(['program', 'pod']);
});

test('an unknown host is a 404 page that lists the known ones, without trusting the name', async () => {
  const { response, body } = await get('/', { host: '<b>' });

  expect(response.statusCode).toBe(404);
  expect(body).toContain('http://x.localhost');
  expect(body).not.toContain('<b>');
});

test('a suspended tenant is a 503 in the form of the API, and a page for people, even while its last pod ends', async () => {
  pods['x'] = [podAt(await upstream((_, response) => response.end('pod')))];
  annotations = { 'carrel.dev/suspended': 'true' };

  const [api, json, page] = [
    await get('/api/v1/users/me'),
    await get('/lti/entry', { headers: { accept: 'application/json' } }),
    await get('/lti/entry', { method: 'POST', body: 'x', headers: { accept: 'text/html,application/json' } }),
  ];

  const body = { error: 'suspended', message: 'This tenant is suspended.', request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) };
  expect([JSON.parse(api.body), JSON.parse(json.body)]).toEqual([body, body]);
  expect(page.body).toContain('This service is suspended.');
  for (const { response } of [api, json, page])
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '60']);
  expect(page.response.headers['content-security-policy']).toContain('frame-ancestors *');
});

test('a host without a ready pod is a 503 with Retry-After', async () => {
  const { response } = await get('/');

  expect(response.statusCode).toBe(503);
  expect(response.headers['retry-after']).toBe('1');
});

test('a pod that breaks off before it answers is a 502, and no other pod gets its request', async () => {
  let reached = 0;
  const breaks = await upstream((request) => {
    reached++;
    request.socket.destroy();
  });
  pods['x'] = [podAt(breaks), podAt(breaks)];

  const { response } = await get('/', { method: 'POST', body: 'x' });

  expect(response.statusCode).toBe(502);
  expect(reached).toBe(1);
});

test('bytes flow both ways as they arrive', async () => {
  const port = await upstream((request, response) => {
    response.writeHead(200);
    request.on('data', (chunk: Buffer) => response.write(`echo ${chunk.toString()}`));
    request.on('end', () => response.end('end'));
  });
  pods['x'] = [podAt(port)];
  const request = httpRequest({
    host: '127.0.0.1',
    port: router.port,
    method: 'POST',
    headers: { host: 'x.localhost', 'transfer-encoding': 'chunked' },
    agent: false,
  });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;

  request.write('one');
  const [response] = await answered;
  const [first] = (await once(response, 'data')) as [Buffer];
  request.write('two');
  const [second] = (await once(response, 'data')) as [Buffer];
  request.end();

  expect([first.toString(), second.toString()]).toEqual(['echo one', 'echo two']);
  expect(await text(response)).toBe('end');
});

test('an upload that is refused at once is answered, although its rest was never sent', async () => {
  const port = await upstream((_, response) => response.writeHead(413).end('too large'));
  pods['x'] = [podAt(port)];
  const request = httpRequest({
    host: '127.0.0.1',
    port: router.port,
    method: 'POST',
    headers: { host: 'x.localhost', 'content-length': '1000000' },
    agent: false,
  });
  request.on('error', () => {});
  request.write('x');

  const [response] = (await once(request, 'response')) as [IncomingMessage];

  expect(response.statusCode).toBe(413);
  expect(await text(response)).toBe('too large');
  request.destroy();
});

test('a client that sends Expect: 100-continue gets 100 Continue from the pod', async () => {
  const port = await upstream(async (request, response) => response.end(await text(request)));
  pods['x'] = [podAt(port)];
  const request = httpRequest({
    host: '127.0.0.1',
    port: router.port,
    method: 'POST',
    headers: { host: 'x.localhost', expect: '100-continue', 'content-length': '5' },
    agent: false,
  });
  request.flushHeaders();

  await once(request, 'continue');
  request.end('hello');
  const [response] = (await once(request, 'response')) as [IncomingMessage];

  expect(await text(response)).toBe('hello');
});

test('half an answer does not look complete', async () => {
  const port = await upstream((_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half');
    setTimeout(() => response.destroy(), 20);
  });
  pods['x'] = [podAt(port)];

  await expect(get('/')).rejects.toThrow('aborted');
});

test.each([
  ['x.localhost', '/', 'ns/x'],
  ['x.localhost', '/lti', 'ns/lti'],
  ['x.localhost', '/lti/launch', 'ns/lti'],
  ['x.localhost', '/ltix', 'ns/x'],
  ['a.wild.localhost', '/', 'ns/wild'],
  ['b.a.wild.localhost', '/', undefined],
])('%s%s goes to %s', (host, path, service) => {
  ingresses = [ingress('x.localhost', ['/', 'x'], ['/lti', 'lti']), ingress('*.wild.localhost', ['/', 'wild'])];

  expect(routeOf(objects, { host, path, headers: {} })?.service).toBe(service);
});

test.each<[string, Record<string, string>, string | undefined]>([
  ['/api/v1/files', { 'x-tenant-id': 'a' }, 'ns/a'],
  ['/api/v1', { 'x-tenant-id': '12' }, 'ns/b'],
  ['/api/v1/files', { 'x-tenant-id': 'b' }, undefined],
  ['/api/v1/files', {}, undefined],
  ['/lti/launch', { 'x-tenant-id': 'a' }, undefined],
  ['/api/v1/files', { 'x-tenant-id': '12', 'x-beta': '1' }, 'ns/beta'],
])('at a shared host %s with %j goes to %s', (path, headers, service) => {
  routes = [
    httpRoute('api.localhost', '/api/v1', 'a', { 'X-Tenant-ID': 'a' }),
    httpRoute('api.localhost', '/api/v1', 'b', { 'X-Tenant-ID': '12' }),
    httpRoute('api.localhost', '/api/v1', 'beta', { 'X-Tenant-ID': '12', 'X-Beta': '1' }),
  ];

  expect(routeOf(objects, { host: 'api.localhost', path, headers })?.service).toBe(service);
});

test('an HTTPRoute keeps the headers that it removes from the pod, and an unmatched request to its host is a 404', async () => {
  routes = [httpRoute('api.localhost', '/api/v1', 'x', { 'X-Tenant-ID': 'x' })];
  pods['x'] = [
    podAt(await upstream(({ headers }, response) => response.end(JSON.stringify([headers['x-tenant-id'], headers.cookie])))),
  ];

  const [named, wrong] = await Promise.all(
    ['x', 'y'].map((name) => get('/api/v1/users/me', { host: 'api.localhost', headers: { 'x-tenant-id': name, cookie: 'a=b' } })),
  );

  expect([named?.response.statusCode, named?.body]).toEqual([200, '["x",null]']);
  expect([wrong?.response.statusCode, wrong?.body]).toEqual([404, expect.stringContaining('No tenant is served here')]);
});

test('a host is compared without case, port and last dot', () => {
  expect(hostOf('Tenant.LOCALHOST.:8080')).toBe('tenant.localhost');
});
