import { describe, expect, test } from '@jest/globals';
import { settingsWith, tenantWith } from '../../../../test/support/cluster/tenant-resources.ts';
import { httpRoute, sharedApiRoute } from './httproute.ts';

const accepted = {
  tenantId: '7',
  hosts: { app: 'north.files.example', lti: 'lti.north.files.example' },
};
const settings = settingsWith();

describe('the HTTPRoutes', () => {
  const gateway = { name: 'edge', namespace: 'gateways', sectionName: 'https' };
  const exposed = tenantWith({ exposure: { type: 'Gateway', gateway } });
  const toService = { group: '', kind: 'Service', name: 'north', port: 80, weight: 1 };

  test('lead both hosts from the named listener to the Service, one host where they are equal', () => {
    expect(httpRoute(exposed, { accepted, settings })).toMatchObject({
      metadata: { name: 'north', namespace: 'schools', labels: { 'app.kubernetes.io/managed-by': 'carrel-operator' } },
      spec: {
        parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', ...gateway }],
        hostnames: ['north.files.example', 'lti.north.files.example'],
        rules: [
          { matches: [{ path: { type: 'PathPrefix', value: '/' } }], backendRefs: [toService], timeouts: { request: '0s' } },
        ],
      },
    });
    const same = { ...accepted, hosts: { app: 'x.example', lti: 'x.example' } };
    expect(httpRoute(exposed, { accepted: same, settings })?.spec?.hostnames).toEqual(['x.example']);
  });

  test("leave the time of a request to the Gateway where the operator's settings do", () => {
    const route = httpRoute(exposed, { accepted, settings: settingsWith({ routeTimeout: undefined }) });

    expect(route?.spec?.rules?.[0]).not.toHaveProperty('timeouts');
  });

  test("name a Gateway of the Tenant's namespace where it gives none", () => {
    const near = tenantWith({ exposure: { type: 'Gateway', gateway: { name: 'edge' } } });

    expect(httpRoute(near, { accepted, settings })?.spec?.parentRefs).toEqual([
      { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'schools', name: 'edge' },
    ]);
  });

  test('lead the API of the shared host to the tenant that X-Tenant-ID names by slug or number, at any listener', () => {
    const named = (value: string) => ({
      path: { type: 'PathPrefix', value: '/api/v1' },
      headers: [{ type: 'Exact', name: 'X-Tenant-ID', value }],
    });

    expect(sharedApiRoute(tenantWith({ ...exposed.spec, slug: 'n' }), { accepted, settings })).toMatchObject({
      metadata: { name: 'north.api' },
      spec: {
        parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'gateways', name: 'edge' }],
        hostnames: ['api.files.example'],
        rules: [
          {
            matches: [named('n'), named('7')],
            filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['Cookie'] } }],
            backendRefs: [toService],
          },
        ],
      },
    });
    expect(sharedApiRoute(exposed, { accepted, settings })?.spec?.parentRefs?.[0]).not.toHaveProperty('sectionName');
    expect(sharedApiRoute(exposed, { accepted, settings: settingsWith({ apiHost: undefined }) })).toBeUndefined();
  });

  test('are not there for another exposure', () => {
    expect([httpRoute, sharedApiRoute].map((route) => route(tenantWith(), { accepted, settings }))).toEqual([
      undefined,
      undefined,
    ]);
  });
});
