import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { type Sealer, type SealingKey, tenantSealer } from '../runtime/sealing.ts';
import type { Sql } from './postgres/pool.ts';
import type { Registry } from './postgres/registry.ts';
import type { Connect } from './s3/client.ts';
import { Objects } from './s3/objects.ts';

/** The operator seals it into the registry under the name `storage`. */
const Storage = z.object({
  endpoint: z.string(),
  region: z.string(),
  bucket: z.string(),
  prefix: z.string().default(''),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
  /** A value that an older operator sealed does not state who named the endpoint: it is treated as named by the tenant. */
  guarded: z.enum(['true', 'false']).default('true'),
  marker: z.string().default(''),
});

export interface TenantStorage {
  readonly objects: Objects;
  /** True if the tenant named the store's endpoint, so its behaviour is unknown. */
  readonly isNamed: boolean;
  /** The marker's text if the location is the tenant's; empty if unknown. */
  readonly marker: string;
}

const ROLE_PREFIX = 'tenant_';
/** The time for which credentials are used before they are read again. */
const CREDENTIALS_TTL_MS = 60_000;
const MAX_OPEN = 200;

/** Returns the slug of a tenant's role. */
export const slugOf = (role: string): string => role.slice(ROLE_PREFIX.length);

/** A resource of each tenant that needs a secret of the registry: loaded on first use, and again after a minute. */
export class PerTenant<T> {
  readonly #load: (slug: string) => Promise<T>;
  readonly #open: LRUCache<string, Promise<T>>;

  constructor(deps: { load: (slug: string) => Promise<T>; clock: Clock }) {
    this.#load = deps.load;
    this.#open = new LRUCache({
      max: MAX_OPEN,
      ttl: CREDENTIALS_TTL_MS,
      ttlResolution: 0,
      perf: { now: () => deps.clock.monotonic() },
    });
  }

  /** One load serves all concurrent callers; a failed load is not cached. */
  of(slug: string): Promise<T> {
    const known = this.#open.get(slug);
    if (known) return known;
    const value = this.#load(slug);
    this.#open.set(slug, value);
    value.catch(() => this.#open.peek(slug) === value && this.#open.delete(slug));
    return value;
  }

  close(): void {
    this.#open.clear();
  }
}

/** `pool` is that of the registry's shard. */
interface RegistryAccess {
  readonly registry: Registry;
  readonly pool: Sql;
  readonly clock: Clock;
}

/** Returns the buckets of tenants, each opened with the tenant's own key. */
export const tenantStorage = ({
  registry,
  pool,
  clock,
  connect,
}: RegistryAccess & { /** For endpoints that tenants named. */ connect: Connect }): PerTenant<TenantStorage> =>
  new PerTenant({
    clock,
    load: async (slug) => {
      const sealed = await registry.getSecret(await tenantIdOf(pool, slug), 'storage');
      if (!sealed) throw new Error(`the registry has no storage of tenant ${slug}`);
      const { guarded, marker, ...storage } = Storage.parse(JSON.parse(sealed));
      const isNamed = guarded === 'true';
      return { objects: new Objects({ ...storage, ...(isNamed ? { connect } : {}) }), isNamed, marker };
    },
  });

/**
 * Returns the openers of the secrets in tenants' rows: each tenant's data keys, derived from the platform's. A worker seals
 * nothing.
 */
export const tenantSealers = (
  access: Pick<RegistryAccess, 'pool' | 'clock'> & { platformKeys: readonly SealingKey[]; random: Random },
): PerTenant<TenantSeal> =>
  new PerTenant({
    clock: access.clock,
    load: async (slug) => {
      const tenantId = await tenantIdOf(access.pool, slug);
      return { tenantId, sealer: tenantSealer(access.platformKeys, tenantId, access.random) };
    },
  });

export interface TenantSeal {
  /** Decimal string. */
  readonly tenantId: string;
  readonly sealer: Sealer;
}

async function tenantIdOf(pool: Sql, slug: string): Promise<string> {
  const [tenant] = await pool.query<{ id: string }>('SELECT id::text AS id FROM registry.tenants WHERE slug = $1', [slug]);
  if (!tenant) throw new Error(`the registry has no tenant ${slug}`);
  return tenant.id;
}
