import type { ObservedTenant, Tenant } from '../../../pkg/operator/kinds.ts';
import type { OperatorSettings } from '../../../pkg/operator/settings.ts';

type Spec = Partial<Tenant['spec']>;

/** For unit tests: a Tenant as the API server returns it, with the schema's defaults. */
export const tenantWith = (spec: Spec = {}, status?: NonNullable<Tenant['status']>): ObservedTenant => ({
  apiVersion: 'carrel.dev/v1alpha1',
  kind: 'Tenant',
  metadata: {
    name: 'north',
    namespace: 'schools',
    uid: 'u-1',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation: 1,
  },
  spec: {
    exposure: { type: 'Ingress' },
    database: { poolSize: 5 },
    storage: { defaultUserQuota: '10Gi' },
    limits: { requestsPerUserPerMinute: 100, requestsPerTenantPerMinute: 1000, requestsPerIpPerHour: 10000, database: '50Gi' },
    trashRetention: '30d',
    versions: { keep: 50 },
    suspended: false,
    deletionPolicy: 'Retain',
    ...spec,
  },
  ...(status ? { status } : {}),
});

export const settingsWith = (more: Partial<OperatorSettings> = {}): OperatorSettings => ({
  tenantNamespaces: [],
  baseDomain: 'files.example',
  allowedHosts: [{ namespace: undefined, suffix: 'example.org' }],
  apiHost: 'api.files.example',
  routeTimeout: '0s',
  reservedHosts: ['lms.files.example'],
  publicScheme: 'https',
  publicPort: 443,
  image: 'registry.example:5000/carrel:1.2',
  imageRepositories: ['mirror.example/carrel'],
  ingressAnnotations: ['nginx.ingress.kubernetes.io/*', 'team'],
  podLabels: ['team', 'cost.example/*'],
  podAnnotations: ['backup.example/*'],
  tolerations: ['dedicated'],
  priorityClasses: ['tenants'],
  redisAddress: 'redis:6379',
  redisTls: false,
  s3Endpoint: 'https://s3.example',
  s3Region: 'us-east-1',
  trustedProxies: 1,
  logLevel: 'info',
  traces: undefined,
  egressAllow: '',
  trustedCertificates: [],
  platformKeys: ['2026'],
  suspendedAnswer: undefined,
  networkPolicy: undefined,
  maxTenantsPerShard: 1000,
  maxConnectionsPerTenant: 50,
  rolloutConcurrency: 10,
  migrationConcurrency: 4,
  ...more,
});
