import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { Sealer } from '../../../pkg/runtime/sealing.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { type ConnectionOptions, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import {
  ensureShard,
  ensureTenantDatabase,
  migrateTenant,
  type ShardAccess,
  type TenantDatabase,
  tenantRole,
} from '../../../pkg/store/postgres/provisioning.ts';
import { Registry } from '../../../pkg/store/postgres/registry.ts';
import type { StoreAddresses } from '../../../pkg/local/platform.ts';

const time = { clock: systemClock, random: systemRandom };

/** The operator's side of stores: a shard and a registry that are ready. */
export async function operatorSide(
  running: Pick<StoreAddresses, 'postgres'>,
): Promise<{ pool: SqlPool; shard: ShardAccess; registry: Registry }> {
  const pool = new SqlPool({ url: running.postgres.operator, poolSize: 20, log: silentLogger });
  const shard = { pool, ...time };
  await ensureShard(shard);
  const sealer = new Sealer([{ id: 'p1', key: systemRandom.bytes(32) }], systemRandom);
  const registry = new Registry({ pool, sealer, ...time });
  await registry.ensureSchema();
  return { pool, shard, registry };
}

export interface TenantLogin {
  readonly slug: string;
  readonly role: string;
  readonly tenantId: string;
  readonly password: string;
  readonly url: string;
}

/** Returns a new argument for ensureTenantDatabase. */
export const newDatabase = (): TenantDatabase => ({
  slug: `t-${systemRandom.hex(5)}`,
  tenantId: '3',
  password: systemRandom.base64url(24),
  connections: 7,
});

/** A tenant's schema and role, migrated. */
export async function newTenant(
  running: Pick<StoreAddresses, 'postgres'>,
  shard: ShardAccess,
  tenantId = '7',
): Promise<TenantLogin> {
  const slug = `t-${systemRandom.hex(5)}`;
  const password = systemRandom.base64url(24);
  await ensureTenantDatabase(shard, { slug, tenantId, password, connections: 30 });
  await migrateTenant(shard, { slug, tenantId });
  return { slug, role: tenantRole(slug), tenantId, password, url: tenantUrl(running, tenantRole(slug), password) };
}

export const tenantUrl = (running: Pick<StoreAddresses, 'postgres'>, role: string, password: string): string =>
  `postgres://${role}:${password}@${running.postgres.tenantAddress}/carrel`;

/** Opens a tenant's database as its server does. */
export const openDatabase = (tenant: TenantLogin, options: Partial<ConnectionOptions> = {}): Database =>
  new Database({ url: tenant.url, poolSize: 5, log: silentLogger, ...options });
