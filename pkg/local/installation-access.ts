import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { guardedSockets } from '../net/guarded-sockets.ts';
import { parseAllowedRanges } from '../net/private-address.ts';
import { withoutLineEnd } from '../runtime/line-end.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { systemRandom } from '../runtime/random.ts';
import { parseSealingKeys, SealError, Sealer, type SealingKey } from '../runtime/sealing.ts';
import { SqlPool } from '../store/postgres/pool.ts';
import { Registry, type RegisteredTenant } from '../store/postgres/registry.ts';
import { RedisUsers } from '../store/redis/acl.ts';
import { type TenantStorage, tenantStorage } from '../store/tenant-resources.ts';
import { StoreUnavailableError } from '../store/unavailable.ts';
import { CommandError, messageOf } from '../runtime/command-error.ts';
import { storeAddresses } from './platform.ts';
import { missingRegistry } from './registry-access.ts';
import { existingStateDirectory } from './state-directory.ts';

/** The stores of an installation, as its operator reaches them. */
export interface InstallationAccess {
  readonly registry: Registry;
  readonly platformKeys: readonly SealingKey[];
  /** By name; the first holds the registry. No statement's time is bounded. */
  readonly shards: ReadonlyMap<string, SqlPool>;
  /** Throws CommandError: there is none of this slug. */
  tenant(slug: string): Promise<RegisteredTenant>;
  /** Throws CommandError: the shard of a tenant is not configured here. */
  shardOf(tenant: RegisteredTenant): SqlPool;
  storageOf(slug: string): Promise<TenantStorage>;
  /** Removes what Redis has cached for a tenant. False: no administrator of Redis is configured here, and nothing was done. */
  forgetCaches(slug: string): Promise<boolean>;
}

interface Options {
  readonly stateDirectory: string;
  readonly env: NodeJS.ProcessEnv;
}

interface Addresses {
  readonly shardsDir: string;
  readonly platformKeys: string;
  readonly redisUrl: string | undefined;
  readonly egressAllow: string;
}

/**
 * Opens the stores as the operator's pod has them, else those of the platform on this machine. Throws CommandError where there are none or one does not
 * answer, and what `work` throws.
 */
export async function withInstallation<T>(options: Options, work: (access: InstallationAccess) => Promise<T>): Promise<T> {
  const addresses = addressesOf(options);
  const shards = poolsOf(addresses.shardsDir);
  try {
    return await work(accessOf(addresses, shards));
  } catch (error) {
    if (error instanceof StoreUnavailableError)
      throw new CommandError(`${error.store} does not answer: ${messageOf(error.cause ?? error)}`);
    if (error instanceof SealError) throw new CommandError(`CARREL_PLATFORM_KEYS is not that of this installation: ${error.message}`);
    throw missingRegistry(error, [...shards.keys()][0] ?? '') ?? error;
  } finally {
    await Promise.all([...shards.values()].map((pool) => pool.close()));
  }
}

function addressesOf({ env, stateDirectory }: Options): Addresses {
  const shardsDir = env['CARREL_SHARDS_DIR'];
  if (!shardsDir) {
    const { platformKeys, redis, shardsDir: own } = storeAddresses(existingStateDirectory(stateDirectory));
    return { shardsDir: own, platformKeys, redisUrl: redis.adminUrl, egressAllow: '127.0.0.0/8,::1/128' };
  }
  const platformKeys = env['CARREL_PLATFORM_KEYS'];
  if (!platformKeys) throw new CommandError('CARREL_PLATFORM_KEYS is not set. Run this where the operator runs: it has all that is needed');
  return { shardsDir, platformKeys, redisUrl: env['CARREL_REDIS_ADMIN_URL'], egressAllow: env['CARREL_EGRESS_ALLOW'] ?? '' };
}

function poolsOf(dir: string): ReadonlyMap<string, SqlPool> {
  const pools = new Map<string, SqlPool>();
  try {
    for (const name of readdirSync(dir)
      .filter((entry) => !entry.startsWith('.'))
      .toSorted()) {
      const url = withoutLineEnd(readFileSync(join(dir, name, 'url'), 'utf8'));
      pools.set(name, new SqlPool({ url, poolSize: 8, queryTimeoutMs: 0, log: silentLogger }));
    }
  } catch (error) {
    throw new CommandError(`${dir} has no file url of each shard (${messageOf(error)}). Run this where the operator runs`);
  }
  if (pools.size === 0) throw new CommandError(`${dir} holds no shard. Set CARREL_SHARDS_DIR as the operator has it`);
  return pools;
}

function accessOf(addresses: Addresses, shards: ReadonlyMap<string, SqlPool>): InstallationAccess {
  const [pool] = [...shards.values()] as [SqlPool];
  const time = { clock: systemClock, random: systemRandom };
  const platformKeys = keysOf(addresses.platformKeys);
  const registry = new Registry({ pool, sealer: new Sealer(platformKeys, systemRandom), ...time });
  const connect = guardedSockets({ allow: parseAllowedRanges(addresses.egressAllow), clock: systemClock });
  const storages = tenantStorage({ registry, pool, clock: systemClock, connect });
  const tenantOf = async (slug: string): Promise<RegisteredTenant> => {
    const tenant = await registry.find(slug);
    if (!tenant) throw new CommandError(`there is no tenant with the slug ${slug}, and no data of one${await namesakes(pool, slug)}`);
    return tenant;
  };
  return {
    registry,
    platformKeys,
    shards,
    tenant: tenantOf,
    shardOf: ({ slug, shard }) => {
      const found = shards.get(shard);
      if (!found) throw new CommandError(`the data of ${slug} are on shard ${shard}, which is not in ${addresses.shardsDir}`);
      return found;
    },
    storageOf: async (slug) => {
      const { tenantId } = await tenantOf(slug);
      if ((await registry.getSecret(tenantId, 'storage')) === null)
        throw new CommandError(`${slug} has no storage yet: its condition StorageReady says why`);
      return storages.of(slug);
    },
    forgetCaches: (slug) => forgetCaches(slug, addresses.redisUrl),
  };
}

/** Whoever names a tenant may know the name of its resource alone, which need not be its slug, and of which each namespace may have one. */
async function namesakes(registry: SqlPool, name: string): Promise<string> {
  const found = await registry.query<{ slug: string; resource: string }>(
    `SELECT t.slug, t.namespace || '/' || t.name AS resource FROM registry.tenants t WHERE t.name = $1 ORDER BY t.slug LIMIT 10`,
    [name],
  );
  return found.map(({ slug, resource }) => `. The slug of Tenant ${resource} is ${slug}`).join('');
}

/** Those of the operator's pod, else of the platform on this machine. Throws CommandError. */
export const platformKeysOf = (options: Options): SealingKey[] => keysOf(addressesOf(options).platformKeys);

async function forgetCaches(slug: string, url: string | undefined): Promise<boolean> {
  if (!url) return false;
  const users = new RedisUsers({ url, log: silentLogger });
  try {
    await users.removeKeys(slug);
    return true;
  } finally {
    await users.close();
  }
}

function keysOf(text: string): SealingKey[] {
  try {
    return parseSealingKeys(text);
  } catch (error) {
    if (error instanceof SealError) throw new CommandError(`CARREL_PLATFORM_KEYS is not valid: ${error.message}`);
    throw error;
  }
}
