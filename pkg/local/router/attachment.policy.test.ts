import { expect, test } from '@jest/globals';
import type { Gateway, GatewayListener, HttpRoute, HttpRouteRule } from '../../kube/gateway-api.ts';
import { attach } from './attachment.policy.ts';

const listener = (name: string, more: Partial<GatewayListener> = {}): GatewayListener => ({
  name,
  port: 80,
  protocol: 'HTTP',
  ...more,
});
const fromAll = { allowedRoutes: { namespaces: { from: 'All' } } };
const gateway = (...listeners: GatewayListener[]): Gateway => ({
  metadata: { name: 'edge', namespace: 'gateways' },
  spec: { gatewayClassName: 'carrel', listeners },
});
const route = (hostnames: string[], rule: HttpRouteRule = {}): HttpRoute => ({
  metadata: { name: 'north', namespace: 'schools' },
  spec: { hostnames, rules: [rule] },
});

const [ANY, NORTH] = [gateway(listener('http', fromAll)), route(['north.example'])];

test.each<[string, HttpRoute, Gateway, string | undefined, string]>([
  ['its only listener, if that accepts routes of all namespaces', NORTH, ANY, undefined, 'http'],
  [
    'only the listeners of its hosts',
    NORTH,
    gateway(
      listener('a', { ...fromAll, hostname: '*.example' }),
      listener('b', { ...fromAll, hostname: 'south.example' }),
      listener('c', { ...fromAll, hostname: 'north.example' }),
    ),
    undefined,
    'a c',
  ],
  ['the listener that it names', NORTH, gateway(listener('a', fromAll), listener('b', fromAll)), 'b', 'b'],
  ['none if it names a missing listener', NORTH, ANY, 'https', 'NoMatchingParent'],
  [
    'none if the Gateway accepts only routes of its namespace',
    NORTH,
    gateway(listener('http')),
    undefined,
    'NotAllowedByListeners',
  ],
  [
    'none if no listener has its host',
    NORTH,
    gateway(listener('a', { ...fromAll, hostname: '*.north.example' })),
    undefined,
    'NoMatchingListenerHostname',
  ],
  [
    'its listener with a filter that removes request headers',
    route([], { filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['Cookie'] } }] }),
    ANY,
    undefined,
    'http',
  ],
  [
    'none with another filter, which would be ignored',
    route([], { filters: [{ type: 'URLRewrite' }] }),
    ANY,
    undefined,
    'UnsupportedValue',
  ],
  ['none with a match by method', route([], { matches: [{ method: 'GET' } as object] }), ANY, undefined, 'UnsupportedValue'],
  [
    'none to a Service of another namespace',
    route([], { backendRefs: [{ name: 'x', namespace: 'other' }] }),
    ANY,
    undefined,
    'UnsupportedValue',
  ],
])('a route is served at %s', (_what, given, at, sectionName, expected) => {
  const { listeners, refusal } = attach(given, { name: 'edge', ...(sectionName === undefined ? {} : { sectionName }) }, at);

  expect(refusal?.reason ?? listeners.map(({ name }) => name).join(' ')).toBe(expected);
});
