import { expect, test } from '@jest/globals';
import { addressesOf, hostsOf } from './addresses.ts';
import { tenantWith } from '../../../../test/support/cluster/tenant-resources.ts';

const hosts = { app: 'a.example', lti: 'lti.a.example' };

test.each([
  ['http', 80, 'http://a.example'],
  ['http', 8080, 'http://a.example:8080'],
  ['https', 443, 'https://a.example'],
  ['https', 8443, 'https://a.example:8443'],
] as const)('over %s at port %d a client dials %s', (publicScheme, publicPort, appUrl) => {
  expect(addressesOf(tenantWith(), hosts, { baseDomain: undefined, publicScheme, publicPort })).toEqual({
    appUrl,
    ltiUrl: appUrl.replace('a.example', 'lti.a.example'),
    apiUrl: `${appUrl}/api/v1`,
  });
});

test('with a certificate of its own a tenant of an http platform is dialled by https at its standard port', () => {
  const tenant = tenantWith({ exposure: { type: 'Ingress', tls: { secretName: 's' } } });

  expect(addressesOf(tenant, hosts, { baseDomain: undefined, publicScheme: 'http', publicPort: 8080 }).appUrl).toBe(
    'https://a.example',
  );
});

test('hosts come from the slug and the base domain where none are given', () => {
  const settings = { baseDomain: 'files.example', publicScheme: 'https', publicPort: 443 } as const;

  expect(hostsOf(tenantWith(), settings)).toEqual({ app: 'north.files.example', lti: 'lti.north.files.example' });
  expect(hostsOf(tenantWith({ slug: 'n', hosts: { app: 'x.example' } }), settings)).toEqual({
    app: 'x.example',
    lti: 'lti.n.files.example',
  });
  expect(hostsOf(tenantWith({ hosts: { app: 'x.example' } }), { ...settings, baseDomain: undefined })).toEqual({
    missing: ['spec.hosts.lti'],
  });
});
