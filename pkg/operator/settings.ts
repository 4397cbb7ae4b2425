import type { NetworkPolicy } from '../kube/kinds.ts';
import type { SuspendedAnswer } from './suspended-server.ts';

/** A domain under which Tenants may have hosts of their own. */
export interface AllowedHosts {
  /** Undefined: Tenants of every namespace. */
  readonly namespace: string | undefined;
  /** The domain and every name below it; `*` is any host. */
  readonly suffix: string;
}

/** Peers of a NetworkPolicy. */
type Peers = readonly NonNullable<NonNullable<NonNullable<NetworkPolicy['spec']>['ingress']>[number]['from']>[number][];

/** The peers of a tenant's pods. */
export interface TenantNetwork {
  /** Empty: everybody. */
  readonly ingressControllers: Peers;
  /** Empty: the pods of the cluster. */
  readonly metricsFrom: Peers;
  /** The addresses of Postgres, Redis and the object store. Empty: any address, at their ports. */
  readonly stores: Peers;
  /** The address that receives traces. Empty: any address, at its port. */
  readonly collectors: Peers;
  readonly postgresPorts: readonly number[];
}

/** The settings that the operator's administrator makes for all tenants (environment: cmd/operator/config.ts). */
export interface OperatorSettings {
  /** The namespaces whose Tenants, LtiRegistrations and Webhooks it reconciles; empty: all. */
  readonly tenantNamespaces: readonly string[];
  /** Tenants without hosts of their own answer at `<slug>.<baseDomain>` and `lti.<slug>.<baseDomain>`. */
  readonly baseDomain: string | undefined;
  /** The domains in which Tenants may have hosts of their own, beside those of their slug. */
  readonly allowedHosts: readonly AllowedHosts[];
  /** The host at which a Gateway exposes the API of every tenant, by X-Tenant-ID. Undefined: none. */
  readonly apiHost: string | undefined;
  /** The time limit of a Gateway for a request of a tenant, such as `10m`; `0s`: no limit; undefined: the Gateway's default. */
  readonly routeTimeout: string | undefined;
  /** Hosts that no tenant gets, beside the shared API host. */
  readonly reservedHosts: readonly string[];
  /** The scheme and port that clients use for the tenants. */
  readonly publicScheme: 'http' | 'https';
  readonly publicPort: number;
  /** The server's image where a Tenant names none. */
  readonly image: string;
  /** Repositories that a Tenant may name, without tag and digest; the default image's own is always among them. */
  readonly imageRepositories: readonly string[];
  /** Keys of Ingress annotations that a Tenant may set; one that ends in `*` allows all that begin so. */
  readonly ingressAnnotations: readonly string[];
  /**
   * Keys of labels and annotations that a Tenant may give its pods, and keys of taints that these may tolerate; a final `*` as
   * above.
   */
  readonly podLabels: readonly string[];
  readonly podAnnotations: readonly string[];
  readonly tolerations: readonly string[];
  /** Priority classes that a Tenant may give its pods. */
  readonly priorityClasses: readonly string[];
  /** The addresses of the stores for tenants and the operator. */
  readonly redisAddress: string;
  readonly redisTls: boolean;
  readonly s3Endpoint: string;
  readonly s3Region: string;
  /** The number of proxies in front of a tenant's server (Koa's maxIpsCount). */
  readonly trustedProxies: number;
  readonly logLevel: string;
  /** The receiver of the tenants' traces, and which traces are sent. Undefined: servers make no traces. */
  readonly traces: { readonly endpoint: string; readonly sampler: string; readonly ratio: number } | undefined;
  /** Private address ranges that Webhooks, LMSs and named storage may use all the same: CIDR, with commas between. */
  readonly egressAllow: string;
  /** Certificate authorities in PEM that tenants' servers trust beside the public ones. */
  readonly trustedCertificates: readonly string[];
  /** Ids of the platform keys, from which the data keys of tenants are derived: the first seals. */
  readonly platformKeys: readonly string[];
  /** The address that answers requests for suspended tenants. Undefined: the Ingress controller answers them. */
  readonly suspendedAnswer: SuspendedAnswer | undefined;
  /** Undefined: tenants have no NetworkPolicy of the operator's. */
  readonly networkPolicy: TenantNetwork | undefined;
  readonly maxTenantsPerShard: number;
  /** The most connections to Postgres that one tenant's role may hold. */
  readonly maxConnectionsPerTenant: number;
  /** Tenants to which a new image is rolled out at once. */
  readonly rolloutConcurrency: number;
  /** Schema migrations that run at once. */
  readonly migrationConcurrency: number;
}
