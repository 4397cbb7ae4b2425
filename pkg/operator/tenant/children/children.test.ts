import { describe, expect, test } from '@jest/globals';
import { isOpened, isPrivateAddress, parseAllowedRanges } from '../../../net/private-address.ts';
import type { TenantNetwork } from '../../settings.ts';
import { settingsWith, tenantWith } from '../../../../test/support/cluster/tenant-resources.ts';
import { configMap } from './configmap.ts';
import { appliedReplicas } from '../workload/replicas.ts';
import { deployment } from './deployment.ts';
import { suspendedEndpoints } from './endpointslice.ts';
import { horizontalPodAutoscaler, scalingFault, withoutMeasurements } from './horizontalpodautoscaler.ts';
import { ingress } from './ingress.ts';
import { networkPolicy } from './networkpolicy.ts';
import { podDisruptionBudget } from './poddisruptionbudget.ts';
import { service } from './service.ts';
import { serviceAccount } from './serviceaccount.ts';

const hosts = { app: 'north.files.example', lti: 'lti.north.files.example' };
const addresses = { appUrl: 'https://a', ltiUrl: 'https://l', apiUrl: 'https://a/api/v1' };
const accepted = { tenantId: '7', hosts, addresses };
const settings = settingsWith();
const of = (tenant = tenantWith(), checksums: readonly string[] = []) =>
  deployment(tenant, { accepted, settings, checksums, replicas: 1 });
const pod = (tenant = tenantWith()) => of(tenant).spec?.template.spec;

test('every child bears the name of its tenant and the labels that its watches select', () => {
  const tenant = tenantWith();
  const all = [
    serviceAccount(tenant),
    configMap(tenant, { accepted, settings }),
    of(),
    service(tenant),
    ingress(tenant, { accepted }),
  ];

  for (const child of all) {
    expect(child?.metadata).toMatchObject({
      name: 'north',
      namespace: 'schools',
      labels: { 'app.kubernetes.io/managed-by': 'carrel-operator', 'app.kubernetes.io/instance': 'north' },
    });
  }
});

describe('the Deployment', () => {
  test('runs after the restricted pod security standard', () => {
    const [container] = pod()?.containers ?? [];

    expect(pod()?.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod()?.automountServiceAccountToken).toBe(false);
  });

  test('runs the image of the operator, or of the Tenant where it names one', () => {
    expect([pod()?.containers[0]?.image, pod(tenantWith({ image: 'carrel:2' }))?.containers[0]?.image]).toEqual([
      settings.image,
      'carrel:2',
    ]);
  });

  test('restarts its pods when a setting or a Secret changes, and at no other change', () => {
    const config = (...given: Parameters<typeof of>) => of(...given).spec?.template.metadata?.annotations?.['carrel.dev/config'];

    const first = config(tenantWith(), ['a', 'b']);

    expect(config(tenantWith({ replicas: 3 }), ['a', 'b'])).toBe(first);
    expect(config(tenantWith(), ['a', 'c'])).not.toBe(first);
    expect(config(tenantWith({ database: { poolSize: 7 } }), ['a', 'b'])).not.toBe(first);
  });

  test('gives the server longer to end than the server takes', () => {
    expect(pod()?.terminationGracePeriodSeconds).toBeGreaterThan(25 + 3);
  });

  test('has its replicas: one by default, as many as are wanted, none while suspended', () => {
    expect([
      appliedReplicas(tenantWith(), undefined),
      appliedReplicas(tenantWith({ replicas: 4 }), 2),
      appliedReplicas(tenantWith({ replicas: 0 }), 2),
      appliedReplicas(tenantWith({ replicas: 4, suspended: true }), 4),
    ]).toEqual([1, 4, 0, 0]);
  });

  test('begins with the fewest of autoscaling, and then leaves their number to the autoscaler', () => {
    const scaled = { autoscaling: { min: 3, max: 9, targetCPUPercent: 80 } };

    expect([undefined, 0, 2, 7].map((live) => appliedReplicas(tenantWith(scaled), live))).toEqual([3, 3, undefined, undefined]);
    expect(appliedReplicas(tenantWith({ ...scaled, suspended: true }), 7)).toBe(0);
    expect(deployment(tenantWith(scaled), { accepted, settings, checksums: [], replicas: undefined }).spec).not.toHaveProperty(
      'replicas',
    );
  });

  test('takes labels, annotations and scheduling of a Tenant, whose selectors count its own pods where they are left out', () => {
    const ownPods = { labelSelector: { matchLabels: of().spec?.selector.matchLabels } };
    const given = tenantWith({
      pod: {
        labels: { team: 'x', 'app.kubernetes.io/instance': 'south' },
        annotations: { note: 'y' },
        nodeSelector: { disk: 'ssd' },
        tolerations: [{ key: 'dedicated', operator: 'Exists' }],
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }],
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, podAffinityTerm: { topologyKey: 'zone', labelSelector: { matchLabels: { a: 'b' } } } },
            ],
          },
        },
        topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
        imagePullSecrets: [{ name: 'registry' }],
        priorityClassName: 'tenants',
      },
    });
    const { metadata, spec } = of(given).spec?.template ?? {};

    expect(metadata?.labels).toMatchObject({ team: 'x', 'app.kubernetes.io/instance': 'north' });
    expect(metadata?.annotations).toMatchObject({ note: 'y', 'carrel.dev/config': expect.any(String) });
    expect(spec).toMatchObject({
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', ...ownPods }],
          preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { labelSelector: { matchLabels: { a: 'b' } } } }],
        },
      },
      topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'zone', ...ownPods }],
      imagePullSecrets: [{ name: 'registry' }],
      priorityClassName: 'tenants',
      securityContext: { runAsNonRoot: true },
    });
    expect(pod()).toMatchObject({
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', ...ownPods }],
    });
    expect(pod()).not.toHaveProperty('tolerations');
  });

  test('takes what a tenant says of resources as a whole', () => {
    expect(pod(tenantWith({ resources: { limits: { cpu: 1, memory: '1Gi' } } }))?.containers[0]?.resources).toEqual({
      limits: { cpu: '1', memory: '1Gi' },
    });
    expect(pod()?.containers[0]?.resources?.limits).toEqual({ memory: '512Mi' });
  });

  test('selects its pods by labels that never change, and names no secret value', () => {
    expect(of().spec?.selector.matchLabels).toEqual({
      'app.kubernetes.io/name': 'carrel',
      'app.kubernetes.io/component': 'server',
      'app.kubernetes.io/instance': 'north',
    });
    const variables = pod()?.containers[0]?.env?.filter(({ valueFrom }) => valueFrom) ?? [];
    expect(variables.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name)).toContain('north-database');
  });
});

test('the ConfigMap holds sizes in bytes, times in seconds, and no limit of an upload where none is set', () => {
  const { data } = configMap(tenantWith(), { accepted, settings });

  expect(data).toMatchObject({
    CARREL_TENANT_ID: '7',
    CARREL_TENANT_SLUG: 'north',
    CARREL_TENANT_RESOURCE: 'schools/north',
    CARREL_LIMIT_DATABASE_BYTES: '53687091200',
    CARREL_DEFAULT_USER_QUOTA_BYTES: '10737418240',
    CARREL_TRASH_RETENTION_SECONDS: '2592000',
    CARREL_VERSIONS_KEEP: '50',
  });
  expect(data).not.toHaveProperty('CARREL_MAX_UPLOAD_BYTES');
});

test('the Service of a suspended tenant is marked and routes to the server that answers for it', () => {
  const suspended = tenantWith({ suspended: true });
  const answeredBy = (address: string) => ({ settings: settingsWith({ suspendedAnswer: { address, port: 8081 } }) });

  expect([service(suspended), service(tenantWith())].map(({ metadata }) => metadata?.annotations)).toEqual([
    { 'carrel.dev/suspended': 'true' },
    undefined,
  ]);
  expect(suspendedEndpoints(suspended, answeredBy('fd00::7'))).toMatchObject({
    metadata: { name: 'north-suspended', labels: { 'kubernetes.io/service-name': 'north' } },
    addressType: 'IPv6',
    endpoints: [{ addresses: ['fd00::7'] }],
    ports: [{ name: 'http', port: 8081 }],
  });
  expect([suspendedEndpoints(suspended, { settings }), suspendedEndpoints(tenantWith(), answeredBy('10.0.0.7'))]).toEqual([
    undefined,
    undefined,
  ]);
});

test('the Service finds the port of the server by its name', () => {
  expect(service(tenantWith()).spec?.ports).toEqual([{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http' }]);
});

describe('the PodDisruptionBudget', () => {
  test('has a drain take one pod at a time, by the labels of the pods', () => {
    expect(podDisruptionBudget(tenantWith({ replicas: 2 }))?.spec).toEqual({
      maxUnavailable: 1,
      selector: { matchLabels: of().spec?.selector.matchLabels },
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    });
    expect(podDisruptionBudget(tenantWith({ autoscaling: { min: 1, max: 3, targetCPUPercent: 80 } }))).toBeDefined();
  });

  test('is not there where there is never more than one pod', () => {
    expect(podDisruptionBudget(tenantWith())).toBeUndefined();
    expect(podDisruptionBudget(tenantWith({ replicas: 3, suspended: true }))).toBeUndefined();
  });
});

describe('the HorizontalPodAutoscaler', () => {
  const autoscaling = { min: 2, max: 9, targetCPUPercent: 70 };

  test('scales the Deployment by the CPU that its pods use of what they request', () => {
    expect(horizontalPodAutoscaler(tenantWith({ autoscaling }))?.spec).toEqual({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'north' },
      minReplicas: 2,
      maxReplicas: 9,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } }],
    });
  });

  test('is not there for a number of pods of its own, nor while the tenant is suspended', () => {
    expect(horizontalPodAutoscaler(tenantWith({ replicas: 3 }))).toBeUndefined();
    expect(horizontalPodAutoscaler(tenantWith({ autoscaling, suspended: true }))).toBeUndefined();
  });

  test('is kept without what it measured, and with why it does not scale', () => {
    const spec = { maxReplicas: 9, scaleTargetRef: { kind: 'Deployment', name: 'north' } };
    const seen = (status: string) => {
      const conditions = [
        { type: 'AbleToScale', status: 'True' },
        { type: 'ScalingActive', status, reason: 'FailedGetResourceMetric', message: 'at 12:00:01' },
      ];
      return withoutMeasurements({
        metadata: { name: 'north' },
        spec,
        status: { desiredReplicas: 4, currentMetrics: [], conditions },
      });
    };

    expect(seen('False')).toEqual({
      metadata: { name: 'north' },
      spec,
      status: { conditions: [{ type: 'ScalingActive', status: 'False', reason: 'FailedGetResourceMetric' }] },
    });
    expect([scalingFault(seen('False')), scalingFault(seen('True')), scalingFault(undefined)]).toEqual([
      'FailedGetResourceMetric',
      undefined,
      undefined,
    ]);
  });
});

describe('the NetworkPolicy', () => {
  const rules: TenantNetwork = { ingressControllers: [], metricsFrom: [], stores: [], collectors: [], postgresPorts: [5432] };
  const policy = (given: Partial<TenantNetwork> = {}, more = {}) =>
    networkPolicy(tenantWith(), { settings: settingsWith({ networkPolicy: { ...rules, ...given }, ...more }) })?.spec;

  test('lets clients and Prometheus in, and lets pods reach DNS, the stores’ ports, public addresses and opened ranges', () => {
    const {
      podSelector,
      policyTypes,
      ingress: incoming,
      egress = [],
    } = policy({}, { egressAllow: '10.20.0.0/16, fd00::/8,' }) ?? {};

    expect([podSelector, policyTypes]).toEqual([{ matchLabels: of().spec?.selector.matchLabels }, ['Ingress', 'Egress']]);
    expect(incoming).toEqual([
      { ports: [{ port: 8080, protocol: 'TCP' }] },
      { ports: [{ port: 9090, protocol: 'TCP' }], from: [{ namespaceSelector: {} }] },
    ]);
    expect(egress.map(({ ports }) => ports?.map(({ port = 'any' }) => port))).toEqual([[53, 53], [5432, 6379, 443], ['any']]);
    expect(egress.map(({ to }) => to?.map(({ ipBlock }) => ipBlock?.cidr))).toEqual([
      undefined,
      undefined,
      ['0.0.0.0/0', '2000::/3', '10.20.0.0/16', 'fd00::/8'],
    ]);
  });

  test('has the peers that the operator names', () => {
    const peer = (name: string) => [{ namespaceSelector: { matchLabels: { name } } }];
    const traces = { endpoint: 'http://collector:4318', sampler: 'always_on', ratio: 1 };
    const named = {
      ingressControllers: peer('ingress'),
      metricsFrom: peer('monitoring'),
      stores: peer('stores'),
      collectors: peer('traces'),
    };
    const made = policy(named, { traces });

    const reached = [made?.ingress?.map(({ from }) => from), made?.egress?.[1]?.to, made?.egress?.[2]];
    expect(reached).toEqual([
      [peer('ingress'), peer('monitoring')],
      peer('stores'),
      { ports: [{ port: 4318, protocol: 'TCP' }], to: peer('traces') },
    ]);
  });

  test('leads to no private address and no metadata service of a cloud', () => {
    const [, , { to = [] } = {}] = policy()?.egress ?? [];
    const reaches = (address: string): boolean => {
      const isWithin = (cidr: string): boolean => isOpened(address, parseAllowedRanges(cidr));
      return to.some(({ ipBlock }) => ipBlock && isWithin(ipBlock.cidr) && !ipBlock.except?.some(isWithin));
    };
    const inner = [
      '10.0.0.1',
      '127.0.0.1',
      '169.254.169.254',
      '168.63.129.16',
      '172.31.255.255',
      '192.168.7.7',
      '100.64.0.1',
      '224.0.0.1',
      'fd00::1',
      'fe80::1',
      '::1',
    ];

    expect(inner.filter(reaches)).toEqual([]);
    expect(inner.filter((address) => !isPrivateAddress(address, []))).toEqual([]);
    expect(['1.1.1.1', '172.32.0.1', '223.255.255.255', '2606:4700::1'].filter((address) => !reaches(address))).toEqual([]);
  });

  test('is not there where the operator makes none', () => {
    expect(networkPolicy(tenantWith(), { settings })).toBeUndefined();
  });
});

describe('the Ingress', () => {
  test('leads both hosts to the Service, one rule where they are equal', () => {
    const rules = (given: typeof hosts) =>
      ingress(tenantWith(), { accepted: { hosts: given } })?.spec?.rules?.map(({ host }) => host);

    expect(rules(hosts)).toEqual(['north.files.example', 'lti.north.files.example']);
    expect(rules({ app: 'x.example', lti: 'x.example' })).toEqual(['x.example']);
  });

  test('carries class, annotations and certificate', () => {
    const exposure = {
      type: 'Ingress',
      ingressClassName: 'nginx',
      annotations: { team: 'x' },
      tls: { secretName: 'cert' },
    } as const;
    const made = ingress(tenantWith({ exposure }), { accepted });

    expect(made?.metadata?.annotations).toEqual({ team: 'x' });
    expect(made?.spec).toMatchObject({ ingressClassName: 'nginx', tls: [{ hosts: Object.values(hosts), secretName: 'cert' }] });
  });

  test("asks cert-manager for the certificate where a ClusterIssuer is named, whatever the tenant's own annotations say", () => {
    const annotations = { 'cert-manager.io/cluster-issuer': 'other', team: 'x' };
    const exposure = { type: 'Ingress', annotations, tls: { secretName: 'cert', clusterIssuer: 'letsencrypt' } } as const;

    expect(ingress(tenantWith({ exposure }), { accepted })?.metadata?.annotations).toEqual({
      'cert-manager.io/cluster-issuer': 'letsencrypt',
      team: 'x',
    });
  });

  test('is not there for another exposure', () => {
    expect(ingress(tenantWith({ exposure: { type: 'None' } }), { accepted })).toBeUndefined();
  });
});

test.each([
  ['', undefined],
  ['127.0.0.0/8,::1/128', '127.0.0.0/8,::1/128'],
])('private ranges that the operator opens (%j) reach the server', (egressAllow, expected) => {
  const opened = settingsWith({ egressAllow });

  expect(configMap(tenantWith(), { accepted, settings: opened }).data?.CARREL_EGRESS_ALLOW).toBe(expected);
});

test('certificate authorities of the installation reach the server, and a change of them restarts its pods', () => {
  const trusting = (trustedCertificates: string[]) => settingsWith({ trustedCertificates });
  const annotations = (certificates: string[]) =>
    deployment(tenantWith(), { accepted, settings: trusting(certificates), checksums: [], replicas: 1 }).spec?.template.metadata
      ?.annotations;
  const written = (certificates: string[]) =>
    configMap(tenantWith(), { accepted, settings: trusting(certificates) }).data?.CARREL_TRUSTED_CERTIFICATES;

  expect(written([])).toBeUndefined();
  expect(written(['first\n', 'second\n'])).toBe('first\nsecond\n');
  expect(annotations(['first\n'])).not.toEqual(annotations(['second\n']));
});
