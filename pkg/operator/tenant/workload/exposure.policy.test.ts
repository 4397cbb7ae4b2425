import { describe, expect, test } from '@jest/globals';
import type { Gateway, HttpRoute, ParentReference } from '../../../kube/gateway-api.ts';
import type { Observed } from '../../../kube/object.ts';
import type { Condition } from '../../../kube/status.ts';
import { exposureBy, programmedOnly, type SeenGateway } from './exposure.policy.ts';

const parent = { namespace: 'gateways', name: 'edge', sectionName: 'https' };
const metadata = { namespace: 'schools', uid: 'u-1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };

const is = (type: string, status: Condition['status'], reason: string = type, message = ''): Condition => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 3,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const ACCEPTED = [is('Accepted', 'True'), is('ResolvedRefs', 'True')];
const programmed: SeenGateway = { status: { conditions: [is('Programmed', 'True')] } };

/** Returns the condition as `status reason: message`. */
function exposure(conditions: Condition[], gateway: SeenGateway = programmed, parentRef: ParentReference = parent): string {
  const route: Observed<HttpRoute> = {
    metadata: { ...metadata, name: 'north', generation: 3 },
    spec: { hostnames: ['north.example', 'lti.north.example'] },
    status: { parents: [{ parentRef, controllerName: 'example.com/gateway', conditions }] },
  };
  const found = exposureBy(route, parent, gateway);
  return `${found.status} ${found.reason}: ${found.message}`;
}

describe('a tenant is exposed by a Gateway', () => {
  const exposed = 'True Exposed: HTTPRoute at Gateway gateways/edge for north.example, lti.north.example';
  const waits = 'Unknown WaitingForGateway: Waiting for Gateway gateways/edge:';
  const notAccepted = `${waits} its controller has not accepted HTTPRoute north yet. Does one run for the Gateway's class?`;

  test.each<[string, string, Parameters<typeof exposure>]>([
    ['when its controller accepts the route and has programmed the Gateway', exposed, [ACCEPTED]],
    ['when the Gateway is in a namespace that is not watched', exposed, [ACCEPTED, 'unseen']],
    ['not while there is no such Gateway', 'False GatewayMissing: there is no Gateway gateways/edge', [ACCEPTED, 'missing']],
    [
      'not where the listener refuses the route',
      'False NotAllowedByListeners: Gateway gateways/edge: Accepted is False: other namespaces',
      [[is('Accepted', 'False', 'NotAllowedByListeners', 'other namespaces'), is('ResolvedRefs', 'True')]],
    ],
    [
      'not where the controller does not find the Service',
      'False BackendNotFound: Gateway gateways/edge: ResolvedRefs is False: BackendNotFound',
      [[is('Accepted', 'True'), is('ResolvedRefs', 'False', 'BackendNotFound')]],
    ],
    [
      'not where the Gateway has no address',
      'False AddressNotAssigned: Gateway gateways/edge: Programmed is False: none is free',
      [ACCEPTED, { status: { conditions: [is('Programmed', 'False', 'AddressNotAssigned', 'none is free')] } }],
    ],
    ['not before the Gateway is programmed', `${waits} it is not programmed yet`, [ACCEPTED, {}]],
    ['not before a controller has looked at the route', notAccepted, [[]]],
    [
      'not by what was said of an earlier generation',
      notAccepted,
      [ACCEPTED.map((each) => ({ ...each, observedGeneration: 2 }))],
    ],
    ['not by what was said of another listener', notAccepted, [ACCEPTED, programmed, { ...parent, sectionName: 'http' }]],
    [
      'not by what was said of a Gateway in its own namespace',
      notAccepted,
      [ACCEPTED, programmed, { name: 'edge', sectionName: 'https' }],
    ],
  ])('%s', (_what, expected, given) => {
    expect(exposure(...given)).toBe(expected);
  });

  test('and a Gateway to which another route attaches is no change', () => {
    const gateway = (attachedRoutes: number, generation: number): Observed<Gateway> => ({
      metadata: { ...metadata, name: 'edge', generation },
      spec: { gatewayClassName: 'c', listeners: [] },
      status: { conditions: [is('Programmed', 'True'), is('Accepted', 'True')], listeners: [{ attachedRoutes }] },
    });

    expect(programmedOnly(gateway(1, 1))).toEqual(programmedOnly(gateway(2, 2)));
    expect(exposure(ACCEPTED, programmedOnly(gateway(1, 1)))).toBe(exposed);
  });
});
