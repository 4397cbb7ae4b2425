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

/** The stores of an installation and the keys of their contents. Settings that a pod lacks are undefined. */
export interface StoreSettings {
  readonly shardsDir: string;
  /** The first key seals. */
  readonly platformKeys: readonly SealingKey[] | undefined;
  /** The URL of an administrator of the tenants' Redis. */
  readonly redisUrl: string | undefined;
  readonly queueRedisUrl: string | undefined;
  readonly objectStore: ObjectStoreAccess | undefined;
  /** Private ranges in which tenants may have storage of their own. */
  readonly egressAllow: readonly AllowedRange[];
}

/** Access to the stores and the cluster of an installation. */
export interface Access {
  /** Throws CommandError or ConfigError. */
  stores(): Promise<StoreSettings>;
  /** Returns a client, which the caller must close. Throws CommandError. */
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
  CARREL_MAX_TENANTS_PER_SHARD: wholeNumber(1, 1_000_000)
    .default(MAX_TENANTS_PER_SHARD)
    .describe('the maximum number of tenants of a shard'),
});

/**
 * Returns the installation that the environment names, as in the pods of operator and worker: its stores by CARREL_SHARDS_DIR,
 * its cluster as kubectl would find it. `here`, the platform on this machine, supplies what the environment does not name. Throws
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

/** Loads the library of kubeconfigs, which takes 0.3 s of CPU, only for commands that need a cluster. */
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

/** Throws CommandError if the keys are missing: `where` is the program whose pod has them. */
export function requireKeys({ platformKeys }: StoreSettings, where: 'operator' | 'worker' = 'operator'): readonly SealingKey[] {
  if (platformKeys) return platformKeys;
  throw new CommandError(`CARREL_PLATFORM_KEYS is not set. Run this where the ${where} runs: its pod has all settings.`);
}
