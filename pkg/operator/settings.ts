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
export type Peers = readonly NonNullable<NonNullable<NonNullable<NetworkPolicy['spec']>['ingress']>[number]['from']>[number][];

/** Who is on the other side of a tenant's pods. */
export interface TenantNetwork {
  /** Empty: everybody. */
  readonly ingressControllers: Peers;
  /** Empty: the pods of the cluster. */
  readonly metricsFrom: Peers;
  /** Where Postgres, Redis and the object store are. Empty: anywhere, at their ports. */
  readonly stores: Peers;
  /** Where traces are sent to. Empty: anywhere, at its port. */
  readonly collectors: Peers;
  readonly postgresPorts: readonly number[];
}

/** What the operator's administrator decides for all tenants (environment: cmd/operator/config.ts). */
export interface OperatorSettings {
  /** The namespaces whose Tenants, LtiRegistrations and Webhooks it reconciles; empty: all. */
  readonly tenantNamespaces: readonly string[];
  /** Tenants without hosts of their own answer at `<slug>.<baseDomain>` and `lti.<slug>.<baseDomain>`. */
  readonly baseDomain: string | undefined;
  /** Where Tenants may have hosts of their own, beside those of their slug. */
  readonly allowedHosts: readonly AllowedHosts[];
  /** The host at which the API of every tenant answers that a Gateway exposes, by X-Tenant-ID; undefined: there is none. */
  readonly apiHost: string | undefined;
  /** How long a Gateway may take for a request of a tenant, as in `10m`; `0s`: no limit; undefined: what the Gateway takes. */
  readonly routeTimeout: string | undefined;
  /** Hosts that no tenant gets, beside the shared API host. */
  readonly reservedHosts: readonly string[];
  /** As a client dials the tenants: through which scheme and port. */
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
  /** Where tenants and the operator reach the stores. */
  readonly redisAddress: string;
  readonly redisTls: boolean;
  readonly s3Endpoint: string;
  readonly s3Region: string;
  /** How many proxies are in front of a tenant's server (Koa's maxIpsCount). */
  readonly trustedProxies: number;
  readonly logLevel: string;
  /** Where tenants' servers send traces, and which; undefined: they make none. */
  readonly traces: { readonly endpoint: string; readonly sampler: string; readonly ratio: number } | undefined;
  /** Private address ranges that Webhooks, LMSs and named storage may use all the same: CIDR, with commas between. */
  readonly egressAllow: string;
  /** Certificate authorities in PEM that tenants' servers trust beside the public ones. */
  readonly trustedCertificates: readonly string[];
  /** Ids of the platform keys, from which the data keys of tenants are derived: the first seals. */
  readonly platformKeys: readonly string[];
  /** Where requests for suspended tenants are sent; undefined: the Ingress controller answers them. */
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
