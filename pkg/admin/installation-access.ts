import { guardedSockets } from '../net/guarded-sockets.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { systemRandom } from '../runtime/random.ts';
import { SealError, Sealer, type SealingKey } from '../runtime/sealing.ts';
import type { SqlPool } from '../store/postgres/pool.ts';
import { Registry, type RegisteredTenant } from '../store/postgres/registry.ts';
import { RedisUsers } from '../store/redis/acl.ts';
import { type TenantStorage, tenantStorage } from '../store/tenant-resources.ts';
import { StoreUnavailableError } from '../store/unavailable.ts';
import { CommandError, messageOf } from '../runtime/command-error.ts';
import { type Installation, requireKeys, type StoreSettings } from './installation.ts';
import { openShards } from './shards.ts';
import { missingRegistry } from './registry-access.ts';

/** The stores of an installation, as its operator reaches them. */
export interface InstallationAccess {
  readonly registry: Registry;
  readonly platformKeys: readonly SealingKey[];
  /** Pools by the shard's name; the first shard holds the registry. Statements have no time limit. */
  readonly shards: ReadonlyMap<string, SqlPool>;
  /** Throws CommandError if no tenant has this slug. */
  tenant(slug: string): Promise<RegisteredTenant>;
  /** Throws CommandError if the shard of a tenant is not configured here. */
  shardOf(tenant: RegisteredTenant): SqlPool;
  storageOf(slug: string): Promise<TenantStorage>;
  /**
   * Removes a tenant's cached data from Redis. Returns false, and does nothing, if no administrator of Redis is configured here.
   */
  forgetCaches(slug: string): Promise<boolean>;
}

/**
 * Opens the stores of an installation, as its operator reaches them. Throws CommandError if one does not answer, and the errors
 * of `work`.
 */
export async function withInstallation<T>(
  installation: Installation,
  work: (access: InstallationAccess) => Promise<T>,
): Promise<T> {
  const stores = await installation.stores();
  const platformKeys = requireKeys(stores);
  const shards = openShards(stores.shardsDir, 'operator', { poolSize: 8, queryTimeoutMs: 0 });
  try {
    return await work(accessOf(stores, platformKeys, shards));
  } catch (error) {
    if (error instanceof StoreUnavailableError)
      throw new CommandError(`${error.store} does not answer: ${messageOf(error.cause ?? error)}`);
    if (error instanceof SealError)
      throw new CommandError(`CARREL_PLATFORM_KEYS belongs to another installation: ${error.message}`);
    throw missingRegistry(error, [...shards.keys()][0] ?? '') ?? error;
  } finally {
    await Promise.all([...shards.values()].map((pool) => pool.close()));
  }
}

function accessOf(
  { shardsDir, redisUrl, egressAllow }: StoreSettings,
  platformKeys: readonly SealingKey[],
  shards: ReadonlyMap<string, SqlPool>,
): InstallationAccess {
  const [pool] = [...shards.values()] as [SqlPool];
  const time = { clock: systemClock, random: systemRandom };
  const registry = new Registry({ pool, sealer: new Sealer(platformKeys, systemRandom), ...time });
  const connect = guardedSockets({ allow: egressAllow, clock: systemClock });
  const storages = tenantStorage({ registry, pool, clock: systemClock, connect });
  const tenantOf = async (slug: string): Promise<RegisteredTenant> => {
    const tenant = await registry.find(slug);
    if (!tenant)
      throw new CommandError(`there is no tenant with the slug ${slug}, and no data of one${await namesakes(pool, slug)}`);
    return tenant;
  };
  return {
    registry,
    platformKeys,
    shards,
    tenant: tenantOf,
    shardOf: ({ slug, shard }) => {
      const found = shards.get(shard);
      if (!found) throw new CommandError(`the data of ${slug} are on shard ${shard}, which is not in ${shardsDir}`);
      return found;
    },
    storageOf: async (slug) => {
      const { tenantId } = await tenantOf(slug);
      if ((await registry.getSecret(tenantId, 'storage')) === null)
        throw new CommandError(`${slug} has no storage yet: its condition StorageReady says why`);
      return storages.of(slug);
    },
    forgetCaches: (slug) => forgetCaches(slug, redisUrl),
  };
}

/**
 * Names the slugs of Tenants of this name. A person may know only the name of the resource, which can differ from its slug, and
 * each namespace may have one of that name.
 */
async function namesakes(registry: SqlPool, name: string): Promise<string> {
  const found = await registry.query<{ slug: string; resource: string }>(
    `SELECT t.slug, t.namespace || '/' || t.name AS resource FROM registry.tenants t WHERE t.name = $1 ORDER BY t.slug LIMIT 10`,
    [name],
  );
  return found.map(({ slug, resource }) => `. The slug of Tenant ${resource} is ${slug}`).join('');
}

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
