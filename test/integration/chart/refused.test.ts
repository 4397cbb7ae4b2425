import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { CHART } from '../../../hack/helm.ts';
import { LEAST, renderText, runHelm } from '../../support/cluster/chart.ts';

/** Values that Helm refuses, with the name of the field. */
test.each([
  ['shards is empty. Name at least one Postgres database', { ...LEAST, shards: [] }],
  [
    'shards names main twice',
    {
      ...LEAST,
      shards: [
        { name: 'main', secretName: 'a' },
        { name: 'main', secretName: 'b' },
      ],
    },
  ],
  ['redis.address is missing. Set it to host:port', { ...LEAST, redis: {} }],
  ['objectStore.endpoint is missing. Set it to the address of the S3 store', { ...LEAST, objectStore: {} }],
  ['backup.repository is missing. Set it to s3://bucket/prefix', { ...LEAST, backup: { enabled: true } }],
  ['worker.autoscaling counts nothing', { ...LEAST, worker: { autoscaling: { enabled: true, targetCPUPercent: 0 } } }],
  [
    'worker.autoscaling.min is above worker.autoscaling.max',
    { ...LEAST, worker: { autoscaling: { enabled: true, min: 5, max: 4 } } },
  ],
  [
    'worker.autoscaling.targetCPUPercent is a share of worker.resources.requests.cpu, which is missing',
    { ...LEAST, worker: { autoscaling: { enabled: true }, resources: { requests: { cpu: null } } } },
  ],
  [
    'trustedCertificates.configMapName and trustedCertificates.secretName are both set',
    { ...LEAST, trustedCertificates: { configMapName: 'ca', secretName: 'ca' } },
  ],
  [
    'monitoring.podMonitor.enabled and monitoring.serviceMonitor.enabled are both true',
    { ...LEAST, monitoring: { podMonitor: { enabled: true }, serviceMonitor: { enabled: true } } },
  ],
])('%s', async (message, values) => {
  await expect(renderText(values)).rejects.toThrow(message);
});

test.each([
  ["'/operator/replicas': maximum", { operator: { replicas: 11 } }],
  ["'/operator/replicas': got string", { operator: { replicas: 'two' } }],
  ["'/operator': additional properties 'replica'", { operator: { replica: 2 } }],
  ["'': additional properties 'operators'", { operators: {} }],
  ["'/logLevel': value must be one of", { logLevel: 'verbose' }],
  ["'/shards/0/secretName'", { shards: [{ name: 'main', secretName: 'Not A Name' }] }],
  ["'/shards/0': missing property 'secretName'", { shards: [{ name: 'main' }] }],
  [
    "'/shards/0': additional properties 'url'",
    { shards: [{ name: 'main', secretName: 'a', url: 'postgres://user:password@host/db' }] },
  ],
  ["'/redis/address'", { redis: { address: 'redis://user:password@host:6379' } }],
  ["'/objectStore/endpoint'", { objectStore: { endpoint: 's3.example.org' } }],
  ["'/objectStore': additional properties 'secretAccessKey'", { objectStore: { secretAccessKey: 'text' } }],
  ["'/tenants/egressAllow/0'", { tenants: { egressAllow: ['10.0.0.1'] } }],
  ["'/tenants/egressAllow/1'", { tenants: { egressAllow: ['10.0.0.0/32', '10.0.0.0/99'] } }],
  ["'/tenants/egressAllow/1'", { tenants: { egressAllow: ['fd00::/128', 'fd00::/129'] } }],
  ["'/tenants/egressAllow/0'", { tenants: { egressAllow: ['10.0.0.256/8'] } }],
  ["'/tenants/reservedHosts/0'", { tenants: { reservedHosts: ['a..b'] } }],
  ["'/tenants/apiHost'", { tenants: { apiHost: 'a..b' } }],
  ["'/tenants/baseDomain'", { tenants: { baseDomain: '-a.b' } }],
  ["'/tenants/allowedHosts/0'", { tenants: { allowedHosts: ['a..b'] } }],
  ["'/commonLabels/app.kubernetes.io~1instance'", { commonLabels: { 'app.kubernetes.io/instance': 'other' } }],
  ["'/operator/podLabels/app.kubernetes.io~1name'", { operator: { podLabels: { 'app.kubernetes.io/name': 'other' } } }],
  ["'/worker/podLabels/app.kubernetes.io~1component'", { worker: { podLabels: { 'app.kubernetes.io/component': 'other' } } }],
  ["'/backup/podLabels/app.kubernetes.io~1instance'", { backup: { podLabels: { 'app.kubernetes.io/instance': 'other' } } }],
  ...['metricsFrom', 'ingressControllers', 'stores', 'collectors'].flatMap((name): [string, object][] => [
    [`'/networkPolicy/${name}/0': additional properties 'namespaces'`, { networkPolicy: { [name]: [{ namespaces: {} }] } }],
    [`'/networkPolicy/${name}/0/ipBlock': missing property 'cidr'`, { networkPolicy: { [name]: [{ ipBlock: {} }] } }],
    [
      `'/networkPolicy/${name}': maxItems`,
      { networkPolicy: { [name]: Array.from({ length: 51 }, () => ({ podSelector: {} })) } },
    ],
  ]),
  ["'/tenants/allowedHosts/0'", { tenants: { allowedHosts: ['https://example.org'] } }],
  ["'/tenants/publicPort': maximum", { tenants: { publicPort: 70_000 } }],
  ["'/trustedCertificates/configMapName'", { trustedCertificates: { configMapName: 'Not A Name' } }],
  ["'/image/digest'", { image: { digest: 'sha256:abc' } }],
  ["'/worker/webhookTimeoutSeconds': maximum", { worker: { webhookTimeoutSeconds: 61 } }],
  ["'/backup/repository'", { backup: { repository: '/var/backups' } }],
  ["'/backup/schedule'", { backup: { schedule: 'at night' } }],
  ["'/tracing/endpoint'", { tracing: { endpoint: 'collector:4318' } }],
  ["'/tracing/sampler': value must be one of", { tracing: { sampler: 'all' } }],
  ["'/tracing/samplerArg'", { tracing: { samplerArg: '2' } }],
  ["'/monitoring/podMonitor/interval'", { monitoring: { podMonitor: { interval: 'often' } } }],
  ["'/dependencies/postgres/size'", { dependencies: { postgres: { size: 'large' } } }],
])('the schema refuses %s', async (message, values) => {
  await expect(renderText({ ...LEAST, ...values })).rejects.toThrow(message);
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Paths of all values; a list, an empty map and a map of texts are one value. */
const leaves = (value: unknown, path: string): string[] =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length > 0 &&
  !/\.(resources|labels)$/.test(path)
    ? Object.entries(value).flatMap(([key, below]) => leaves(below, `${path}.${key}`))
    : [path];

const described = ({ properties }: Schema, path: string): string[] =>
  properties ? Object.entries(properties).flatMap(([key, below]) => described(below, `${path}.${key}`)) : [path];

test('values.yaml has every value that the schema knows, and no other', () => {
  const values: unknown = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
  const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema;

  // `global` is Helm's own, for charts within charts.
  expect(leaves(values, '').toSorted()).toEqual(
    described(schema, '')
      .filter((path) => path !== '.global')
      .toSorted(),
  );
});

test('helm lint finds nothing wrong', async () => {
  const { code, output } = await runHelm(['lint', '--strict', CHART], { values: LEAST });

  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('1 chart(s) linted, 0 chart(s) failed') });
});
