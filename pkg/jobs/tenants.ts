import { z } from 'zod';
import type { Clock } from '../runtime/clock.ts';
import type { SqlPool } from '../store/postgres/pool.ts';
import type { Registry } from '../store/postgres/registry.ts';
import { Objects } from '../store/s3/objects.ts';

/** What the operator seals into the registry under the name `storage`. */
const Storage = z.object({
  endpoint: z.string(),
  region: z.string(),
  bucket: z.string(),
  prefix: z.string().default(''),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
});

const ROLE_PREFIX = 'tenant_';
/** How long credentials are used before they are read again. */
const CREDENTIALS_TTL_MS = 60_000;
const MAX_OPEN = 200;

/** The slug of a tenant's role. */
export const slugOf = (role: string): string => role.slice(ROLE_PREFIX.length);

/** The buckets of tenants, each opened with the tenant's own key out of the registry. */
export class TenantStorage {
  readonly #registry: Registry;
  readonly #pool: SqlPool;
  readonly #clock: Clock;
  readonly #open = new Map<string, { objects: Promise<Objects>; until: number }>();

  /** `pool`: the registry's shard. */
  constructor(deps: { registry: Registry; pool: SqlPool; clock: Clock }) {
    this.#registry = deps.registry;
    this.#pool = deps.pool;
    this.#clock = deps.clock;
  }

  async of(slug: string): Promise<Objects> {
    const known = this.#open.get(slug);
    if (known && known.until > this.#clock.monotonic()) return known.objects;
    const objects = this.#load(slug);
    this.#open.delete(slug);
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
    this.#open.set(slug, { objects, until: this.#clock.monotonic() + CREDENTIALS_TTL_MS });
    objects.catch(() => this.#open.delete(slug));
    return objects;
  }

  close(): void {
    this.#open.clear();
  }

  async #load(slug: string): Promise<Objects> {
    const [tenant] = await this.#pool.query<{ id: string }>('SELECT id::text AS id FROM registry.tenants WHERE slug = $1', [slug]);
    const sealed = tenant && (await this.#registry.getSecret(tenant.id, 'storage'));
    if (!sealed) throw new Error(`the registry has no storage of tenant ${slug}`);
    return new Objects(Storage.parse(JSON.parse(sealed)));
  }
}
