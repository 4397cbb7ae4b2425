import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { RATE_LIMITS } from '../../pkg/http/rate-limits.ts';
import { configMap } from '../../pkg/operator/tenant/children/configmap.ts';
import { deployment } from '../../pkg/operator/tenant/children/deployment.ts';
import { settingsWith, tenantWith } from '../../test/support/cluster/tenant-resources.ts';
import { serverConfigSchema } from './config.ts';

/** A pod listens on all its addresses. */
const BY_HAND = ['CARREL_LISTEN_HOST'];

test('the operator writes every setting of a server except the address to listen on', () => {
  const displayName = 'Faculty of Biology';
  const tenant = tenantWith({
    displayName,
    storage: { defaultUserQuota: '10Gi', maxUploadSize: '1Gi' },
    versions: { keep: 50, days: 365 },
  });
  const addresses = { appUrl: 'https://a.example', ltiUrl: 'https://l.example', apiUrl: 'https://a.example/api/v1' };
  const accepted = { tenantId: '7', hosts: { app: 'a.example', lti: 'l.example' }, addresses };
  const traces = { endpoint: 'http://collector:4318', sampler: 'traceidratio', ratio: 0.1 };
  const input = {
    accepted,
    settings: settingsWith({ egressAllow: '10.0.0.0/8', trustedCertificates: ['PEM'], traces }),
    checksums: [],
    replicas: 1,
  };
  const { data = {} } = configMap(tenant, input);
  const { env = [] } = deployment(tenant, input).spec?.template.spec?.containers[0] ?? {};
  const written = [...Object.keys(data), ...env.map(({ name }) => name)].filter((name) => /^(CARREL|OTEL)_/.test(name));

  expect(written.toSorted()).toEqual(
    Object.keys(serverConfigSchema.shape)
      .filter((name) => !BY_HAND.includes(name))
      .toSorted(),
  );
});

test('the limits of a Tenant resource have the defaults and the bounds of the server', () => {
  const crd = parse(readFileSync(join(import.meta.dirname, '../../crds/tenants.carrel.dev.yaml'), 'utf8'));
  const { limits } = crd.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties;
  const bounds = ({ default: usual, maximum: max }: { default: number; maximum: number }) => ({ default: usual, max });

  expect({
    userPerMinute: bounds(limits.properties.requestsPerUserPerMinute),
    tenantPerMinute: bounds(limits.properties.requestsPerTenantPerMinute),
    addressPerHour: bounds(limits.properties.requestsPerIpPerHour),
  }).toEqual(RATE_LIMITS);
});
