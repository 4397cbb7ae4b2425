import { z } from 'zod';
import type { KubeClient } from '../kube/transport.ts';
import { type AllowedRange, parseAllowedRanges } from '../net/private-address.ts';
import { CommandError } from '../runtime/command-error.ts';
import { readBy, readConfig, wholeNumber } from '../runtime/config.ts';
import type { SealingKey } from '../runtime/sealing.ts';
import { MAX_TENANTS_PER_SHARD } from '../store/postgres/registry.ts';
import { platformSettings, queueSettings } from '../store/settings.ts';

export interface ObjectStoreAccess {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Where the stores of an installation are, and the keys of what they hold. What a pod does not have is undefined. */
export interface StoreSettings {
  readonly shardsDir: string;
  /** The first seals. */
  readonly platformKeys: readonly SealingKey[] | undefined;
  /** An administrator of the tenants' Redis. */
  readonly redisUrl: string | undefined;
  readonly queueRedisUrl: string | undefined;
  readonly objectStore: ObjectStoreAccess | undefined;
  /** Private ranges in which tenants may have storage of their own. */
  readonly egressAllow: readonly AllowedRange[];
}

/** The way to the stores and the cluster of an installation. */
export interface Access {
  /** Throws CommandError or ConfigError. */
  stores(): Promise<StoreSettings>;
  /** A client for the caller to close. Throws CommandError. */
  cluster(): Promise<KubeClient>;
}

/** An installation of Carrel, as its administrator reaches it. */
export interface Installation extends Access {
  /** The namespaces that may have Tenants; empty: all of the cluster. */
  readonly tenantNamespaces: readonly string[];
  /** The namespace of the operator's Lease. */
  readonly operatorNamespace: string;
  readonly maxTenantsPerShard: number;
}

/** A setting that a pod may lack; its description says what to set it to. */
const optional = <T extends z.ZodType>(setting: T) => setting.optional().describe(setting.description ?? '');

const storeSettings = z.object({
  CARREL_PLATFORM_KEYS: optional(platformSettings.CARREL_PLATFORM_KEYS),
  CARREL_REDIS_ADMIN_URL: optional(platformSettings.CARREL_REDIS_ADMIN_URL),
  CARREL_QUEUE_REDIS_URL: optional(queueSettings.CARREL_QUEUE_REDIS_URL),
  CARREL_S3_ENDPOINT: z.string().optional(),
  CARREL_S3_REGION: z.string().default('us-east-1'),
  CARREL_S3_ACCESS_KEY_ID: z.string().optional(),
  CARREL_S3_SECRET_ACCESS_KEY: z.string().optional(),
  CARREL_EGRESS_ALLOW: readBy(parseAllowedRanges)
    .default([])
    .describe('private address ranges, comma-separated, as the operator has them'),
});

const clusterSettings = z.object({
  CARREL_TENANT_NAMESPACES: z.string().default(''),
  CARREL_LEADER_ELECTION_NAMESPACE: z.string().default('carrel-system'),
  CARREL_MAX_TENANTS_PER_SHARD: wholeNumber(1, 1_000_000).default(MAX_TENANTS_PER_SHARD).describe('the most tenants of a shard'),
});

/**
 * The installation that the environment names, as the pods of operator and worker have it: its stores by CARREL_SHARDS_DIR, its
 * cluster as kubectl would find it. What the environment does not name is that of `here`, the platform on this machine. Throws
 * ConfigError.
 */
export function installationOf(env: NodeJS.ProcessEnv, here: Access): Installation {
  const settings = readConfig('carrel', clusterSettings, env);
  const { CARREL_SHARDS_DIR: shardsDir, KUBECONFIG: kubeconfig, KUBERNETES_SERVICE_HOST: inCluster } = env;
  return {
    stores: async () => (shardsDir ? storesOf(shardsDir, env) : here.stores()),
    cluster: async () => (kubeconfig || inCluster ? namedCluster() : here.cluster()),
    tenantNamespaces: settings.CARREL_TENANT_NAMESPACES.split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    operatorNamespace: settings.CARREL_LEADER_ELECTION_NAMESPACE,
    maxTenantsPerShard: settings.CARREL_MAX_TENANTS_PER_SHARD,
  };
}

function storesOf(shardsDir: string, env: NodeJS.ProcessEnv): StoreSettings {
  const settings = readConfig('carrel', storeSettings, env);
  const {
    CARREL_S3_ENDPOINT: endpoint,
    CARREL_S3_ACCESS_KEY_ID: accessKeyId,
    CARREL_S3_SECRET_ACCESS_KEY: secretAccessKey,
  } = settings;
  const region = settings.CARREL_S3_REGION;
  return {
    shardsDir,
    platformKeys: settings.CARREL_PLATFORM_KEYS,
    redisUrl: settings.CARREL_REDIS_ADMIN_URL,
    queueRedisUrl: settings.CARREL_QUEUE_REDIS_URL,
    objectStore: endpoint && accessKeyId && secretAccessKey ? { endpoint, region, accessKeyId, secretAccessKey } : undefined,
    egressAllow: settings.CARREL_EGRESS_ALLOW,
  };
}

/** Loaded by what needs a cluster alone: the library of kubeconfigs takes 0.3 s of CPU. */
async function namedCluster(): Promise<KubeClient> {
  const [{ KubeConfig }, { KubeClient: Client }, { createMetrics }] = await Promise.all([
    import('@kubernetes/client-node'),
    import('../kube/transport.ts'),
    import('../runtime/metrics.ts'),
  ]);
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromDefault();
  return new Client({ kubeConfig, metrics: createMetrics('carrel'), userAgent: 'carrel' });
}

/** Throws CommandError where there are none: `where` is the program whose pod has them. */
export function requireKeys({ platformKeys }: StoreSettings, where: 'operator' | 'worker' = 'operator'): readonly SealingKey[] {
  if (platformKeys) return platformKeys;
  throw new CommandError(`CARREL_PLATFORM_KEYS is not set. Run this where the ${where} runs: it has all that is needed.`);
}
