import { isIP } from 'node:net';
import { z } from 'zod';
import { SERVICE_ACCOUNT_DIR } from '../../pkg/kube/in-cluster.ts';
import { parseAllowedRanges } from '../../pkg/net/private-address.ts';
import { HTTP_PORT, OPS_PORT } from '../../pkg/operator/tenant/children/deployment.ts';
import { parseAllowedHosts, parseHosts } from '../../pkg/operator/tenant/acceptance/hosts.policy.ts';
import type { OperatorSettings, TenantNetwork } from '../../pkg/operator/settings.ts';
import type { SuspendedAnswer } from '../../pkg/operator/suspended-server.ts';
import { ConfigError, isReadable, readBy, wholeNumber } from '../../pkg/runtime/config.ts';
import { traceSettings } from '../../pkg/runtime/trace-settings.ts';
import { trustedCertificatesFile } from '../../pkg/runtime/trusted-certificates.ts';
import { MAX_TENANTS_PER_SHARD } from '../../pkg/store/postgres/registry.ts';
import { platformSettings } from '../../pkg/store/settings.ts';
import { bucketName, type StorageAdminOptions } from '../../pkg/store/s3/admin.ts';

const url = (protocols: RegExp) => z.url({ protocol: protocols, error: 'must be an address' });
const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  );

const peers = z
  .array(
    z
      .strictObject({
        namespaceSelector: z.looseObject({}),
        podSelector: z.looseObject({}),
        ipBlock: z.looseObject({ cidr: z.string() }),
      })
      .partial(),
  )
  .max(50)
  .default([]);
const tenantNetwork = z.strictObject({
  ingressControllers: peers,
  metricsFrom: peers,
  stores: peers,
  collectors: peers,
  postgresPorts: z.array(z.int().min(1).max(65_535)).min(1).max(20).default([5432]),
});

/** Throws an Error if the text is not valid. */
const parseTenantNetwork = (text: string): TenantNetwork => tenantNetwork.parse(JSON.parse(text)) as TenantNetwork;

export const operatorConfigSchema = z.object({
  CARREL_SHARDS_DIR: z
    .string()
    .describe('a directory with one subdirectory per Postgres shard, each with files url and tenant-address'),
  ...platformSettings,
  CARREL_REDIS_ADDRESS: z.string().min(1).describe('host:port of Redis as tenants connect to it'),
  CARREL_S3_ENDPOINT: url(/^https?$/).describe('the address of the object store, https://host:port'),
  CARREL_S3_ADMIN_ENDPOINT: url(/^https?$/)
    .optional()
    .describe("the address of the object store's admin interface; default: every Tenant names a bucket and a key of its own"),
  CARREL_S3_REGION: z.string().default('us-east-1').describe("the object store's region"),
  CARREL_S3_ACCESS_KEY_ID: z
    .string()
    .refine((id) => !id.startsWith(bucketName('')), `must not begin with ${bucketName('')}, as the keys of tenants do`)
    .optional()
    .describe("the access key of the object store's administrator; with CARREL_S3_ADMIN_ENDPOINT"),
  CARREL_S3_SECRET_ACCESS_KEY: z
    .string()
    .optional()
    .describe("the secret key of the object store's administrator; with CARREL_S3_ADMIN_ENDPOINT"),
  CARREL_TENANT_NAMESPACES: list
    .refine((names) => names.every((name) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)), 'must be names of namespaces')
    .describe('namespaces whose Tenants the operator reconciles, comma-separated; it needs rights only in these; default: all'),
  CARREL_BASE_DOMAIN: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'must be a domain name')
    .optional()
    .describe('the domain of the hosts of tenants that name none'),
  CARREL_ALLOWED_HOSTS: readBy(parseAllowedHosts)
    .default([])
    .describe(
      'domains under which Tenants may have hosts of their own, comma-separated: example.org, namespace=example.org for the ' +
        'Tenants of one namespace, * for any host; default: only hosts under the base domain that belong to their slug',
    ),
  CARREL_RESERVED_HOSTS: readBy(parseHosts)
    .default([])
    .describe('hosts that no tenant may have, comma-separated, such as a host under the base domain that is in use'),
  CARREL_API_HOST: readBy(parseHosts)
    .refine((hosts) => hosts.length === 1, 'must be one host name')
    .optional()
    .describe('the host at which tenants that a Gateway exposes share the API, by X-Tenant-ID; default: api.<base domain>'),
  CARREL_ROUTE_TIMEOUT: z
    .string()
    .regex(/^(gateway|([0-9]{1,5}(h|m|s|ms)){1,4})$/, 'must be a time such as 10m, or gateway')
    .default('0s')
    .describe(
      "time that a Gateway may take for a request, such as 10m; 0s, the default: no limit; gateway: the Gateway's own limit",
    ),
  CARREL_PUBLIC_SCHEME: z.enum(['http', 'https']).default('https').describe('http or https, as clients connect to tenants'),
  CARREL_PUBLIC_PORT: wholeNumber(1, 65_535).optional().describe('the port that clients connect to; default: the standard one'),
  CARREL_IMAGE: z.string().describe('the image of the server, repository:tag'),
  CARREL_IMAGE_REPOSITORIES: list.describe('repositories that tenants may name, comma-separated'),
  CARREL_INGRESS_ANNOTATIONS: list.describe(
    'Ingress annotation keys that tenants may set, comma-separated; a final * allows all keys with that prefix',
  ),
  CARREL_POD_LABELS: list.describe(
    'label keys that tenants may give their pods, comma-separated; a final * allows all keys with that prefix',
  ),
  CARREL_POD_ANNOTATIONS: list.describe(
    'annotation keys that tenants may give their pods, comma-separated, with a final * as above',
  ),
  CARREL_TOLERATIONS: list.describe('keys of taints that the pods of tenants may tolerate, comma-separated; * allows all'),
  CARREL_PRIORITY_CLASSES: list.describe('priority classes that tenants may give their pods, comma-separated'),
  CARREL_EGRESS_ALLOW: z
    .string()
    .default('')
    .refine((text) => isReadable(() => parseAllowedRanges(text)), 'must be address ranges, comma-separated')
    .describe('private address ranges that webhooks, LMSs and storage of tenants may use, such as 127.0.0.0/8,::1/128'),
  ...trustedCertificatesFile,
  CARREL_TENANT_NETWORK: z
    .string()
    .refine((text) => isReadable(() => parseTenantNetwork(text)), 'must be JSON with lists of peers of a NetworkPolicy')
    .transform(parseTenantNetwork)
    .optional()
    .describe(
      '{"ingressControllers":[],"metricsFrom":[],"stores":[],"collectors":[],"postgresPorts":[5432]}, ' +
        'each a list of peers of a NetworkPolicy; if set, each tenant has a NetworkPolicy',
    ),
  CARREL_TRUSTED_PROXIES: wholeNumber(0, 10).default(1).describe('the number of proxies in front of a tenant'),
  CARREL_MAX_TENANTS_PER_SHARD: wholeNumber(1, 1_000_000)
    .default(MAX_TENANTS_PER_SHARD)
    .describe('the maximum number of tenants of a shard'),
  CARREL_MAX_CONNECTIONS_PER_TENANT: wholeNumber(1, 10_000)
    .default(50)
    .describe('the maximum number of connections to Postgres of one tenant: poolSize × (replicas + 1) + 2'),
  CARREL_ROLLOUT_CONCURRENCY: wholeNumber(1, 10_000)
    .default(10)
    .describe('the number of tenants to which a new CARREL_IMAGE, or another setting that all pods get, is rolled out at once'),
  CARREL_MIGRATION_CONCURRENCY: wholeNumber(1, 64).default(4).describe('the number of schemas that are migrated at once'),
  CARREL_LEADER_ELECTION_NAMESPACE: z
    .string()
    .default('carrel-system')
    .describe('the namespace of the Lease with which operators elect their leader'),
  CARREL_POD_IP: z
    .string()
    .refine((text) => isIP(text) !== 0, 'must be an IP address')
    .optional()
    .describe(
      "this pod's own address (status.podIP), to which requests for suspended tenants are routed; " +
        'default: the Ingress controller answers them',
    ),
  CARREL_SUSPENDED_PORT: wholeNumber(0, 65_535)
    .refine((port) => port !== HTTP_PORT && port !== OPS_PORT, 'must not be a port of the tenants’ pods (8080, 9090)')
    .default(8081)
    .describe(
      'the port that answers for suspended tenants if CARREL_POD_IP is set; it must differ from the ports of the pods ' +
        '(8080, 9090); default: 8081',
    ),
  CARREL_SERVICE_ACCOUNT_DIR: z
    .string()
    .default(SERVICE_ACCOUNT_DIR)
    .describe("the directory with token and ca.crt of the pod's ServiceAccount; read unless KUBECONFIG is set"),
  CARREL_LISTEN_HOST: z.string().optional().describe('the address that the ops port listens on; default: all'),
  CARREL_OPS_PORT: wholeNumber(0, 65_535).default(9090).describe('the port of /healthz, /readyz and /metrics'),
  CARREL_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('trace, debug, info, warn or error'),
  ...traceSettings,
});

export type OperatorConfig = z.output<typeof operatorConfigSchema>;

/** Returns the access to the store's admin interface; undefined if the platform does not create buckets. Throws ConfigError. */
export function storageAdminOf(config: OperatorConfig): StorageAdminOptions | undefined {
  const {
    CARREL_S3_ADMIN_ENDPOINT: adminEndpoint,
    CARREL_S3_ACCESS_KEY_ID: accessKeyId,
    CARREL_S3_SECRET_ACCESS_KEY: secretAccessKey,
  } = config;
  if (adminEndpoint === undefined) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigError(
      'operator: CARREL_S3_ADMIN_ENDPOINT needs CARREL_S3_ACCESS_KEY_ID and CARREL_S3_SECRET_ACCESS_KEY ' +
        '(docs/operate/settings.md).',
    );
  return { endpoint: config.CARREL_S3_ENDPOINT, adminEndpoint, region: config.CARREL_S3_REGION, accessKeyId, secretAccessKey };
}

export const settingsOf = (config: OperatorConfig, suspendedAnswer?: SuspendedAnswer): OperatorSettings => ({
  suspendedAnswer,
  tenantNamespaces: [...new Set(config.CARREL_TENANT_NAMESPACES)],
  baseDomain: config.CARREL_BASE_DOMAIN,
  allowedHosts: config.CARREL_ALLOWED_HOSTS,
  apiHost:
    config.CARREL_API_HOST?.[0] ?? (config.CARREL_BASE_DOMAIN === undefined ? undefined : `api.${config.CARREL_BASE_DOMAIN}`),
  routeTimeout: config.CARREL_ROUTE_TIMEOUT === 'gateway' ? undefined : config.CARREL_ROUTE_TIMEOUT,
  reservedHosts: config.CARREL_RESERVED_HOSTS,
  publicScheme: config.CARREL_PUBLIC_SCHEME,
  publicPort: config.CARREL_PUBLIC_PORT ?? (config.CARREL_PUBLIC_SCHEME === 'https' ? 443 : 80),
  image: config.CARREL_IMAGE,
  imageRepositories: config.CARREL_IMAGE_REPOSITORIES,
  ingressAnnotations: config.CARREL_INGRESS_ANNOTATIONS,
  podLabels: config.CARREL_POD_LABELS,
  podAnnotations: config.CARREL_POD_ANNOTATIONS,
  tolerations: config.CARREL_TOLERATIONS,
  priorityClasses: config.CARREL_PRIORITY_CLASSES,
  redisAddress: config.CARREL_REDIS_ADDRESS,
  redisTls: config.CARREL_REDIS_ADMIN_URL.startsWith('rediss:'),
  s3Endpoint: config.CARREL_S3_ENDPOINT,
  s3Region: config.CARREL_S3_REGION,
  trustedProxies: config.CARREL_TRUSTED_PROXIES,
  logLevel: config.CARREL_LOG_LEVEL,
  traces:
    config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
      ? undefined
      : {
          endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
          sampler: config.OTEL_TRACES_SAMPLER,
          ratio: config.OTEL_TRACES_SAMPLER_ARG,
        },
  egressAllow: config.CARREL_EGRESS_ALLOW,
  trustedCertificates: config.CARREL_TRUSTED_CERTIFICATES_FILE,
  platformKeys: config.CARREL_PLATFORM_KEYS.map(({ id }) => id),
  networkPolicy: config.CARREL_TENANT_NETWORK,
  maxTenantsPerShard: config.CARREL_MAX_TENANTS_PER_SHARD,
  maxConnectionsPerTenant: config.CARREL_MAX_CONNECTIONS_PER_TENANT,
  rolloutConcurrency: config.CARREL_ROLLOUT_CONCURRENCY,
  migrationConcurrency: config.CARREL_MIGRATION_CONCURRENCY,
});
