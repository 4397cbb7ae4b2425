import type { Sql } from './pool.ts';

/** The place where a tenant's objects are stored. */
export interface StorageLocation {
  readonly endpoint: string;
  readonly bucket: string;
  /** Empty: the whole bucket. */
  readonly prefix: string;
}

/** The location, a location that contains it or one within it belongs to another tenant. */
export class StorageTaken extends Error {
  override readonly name = 'StorageTaken';

  constructor() {
    super('the storage location belongs to another tenant, lies within that of another tenant, or contains one');
  }
}

/**
 * Returns one spelling for all addresses that can be recognized from the text as one store: case, default ports, a trailing slash
 * or dot and the scheme make no difference. The marker object distinguishes names that only resolve to the same store.
 */
export function normalizedEndpoint(endpoint: string): string {
  const url = new URL(endpoint);
  const port = url.port === '80' || url.port === '443' ? '' : url.port;
  return url.hostname.replace(/\.$/, '') + (port === '' ? '' : `:${port}`) + url.pathname.replace(/\/+$/, '');
}

/** A location and its owner, according to the tenant's sealed access. */
export interface KnownLocation extends StorageLocation {
  readonly tenantId: string;
  readonly isOwn: boolean;
}

/** Writers run one after the other: no unique index detects prefixes that contain each other. */
const LOCK = 'LOCK TABLE registry.storage_locations IN SHARE ROW EXCLUSIVE MODE';

/** Row `b` is another tenant's location that equals, contains or lies within row `a`. */
const CLASH = `b.endpoint = a.endpoint AND b.bucket = a.bucket AND b.tenant_id <> a.tenant_id
  AND (starts_with(b.prefix, a.prefix) OR starts_with(a.prefix, b.prefix))`;

/**
 * Records the locations of tenants' objects in the transaction of `tx`, even if they clash. Returns the tenants that clash with
 * another one.
 */
export async function recordLocations(tx: Sql, read: () => Promise<readonly KnownLocation[]>): Promise<ReadonlySet<string>> {
  await tx.query(LOCK);
  const known = await read();
  await tx.query(
    `INSERT INTO registry.storage_locations AS l (endpoint, bucket, prefix, tenant_id, own)
     SELECT k.*
       FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::boolean[])
         AS k (endpoint, bucket, prefix, tenant_id, own)
     WHERE NOT EXISTS (
       SELECT FROM registry.storage_locations a
       WHERE (a.endpoint, a.bucket, a.prefix, a.tenant_id) = (k.endpoint, k.bucket, k.prefix, k.tenant_id)
     )
     ON CONFLICT (tenant_id, own) DO UPDATE SET endpoint = excluded.endpoint, bucket = excluded.bucket, prefix = excluded.prefix`,
    [
      known.map(({ endpoint }) => normalizedEndpoint(endpoint)),
      known.map(({ bucket }) => bucket),
      known.map(({ prefix }) => prefix),
      known.map(({ tenantId }) => tenantId),
      known.map(({ isOwn }) => isOwn),
    ],
  );
  const clashing = await tx.query<{ tenantId: string }>(
    `SELECT DISTINCT a.tenant_id::text AS "tenantId"
       FROM registry.storage_locations a JOIN registry.storage_locations b ON ${CLASH}`,
  );
  return new Set(clashing.map(({ tenantId }) => tenantId));
}

/** Returns true if another tenant has its objects there too, which is possible only from before locations were recorded. */
export async function isShared(sql: Sql, tenantId: string): Promise<boolean> {
  const rows = await sql.query(
    `SELECT FROM registry.storage_locations a JOIN registry.storage_locations b ON ${CLASH} WHERE a.tenant_id = $1 LIMIT 1`,
    [tenantId],
  );
  return rows.length > 0;
}

/**
 * Gives the location to the tenant, in the transaction of `tx`; one that the tenant named before becomes free. A bucket that was
 * made for the tenant (`isOwn`) stays its own until the tenant is deleted. If several have had the location since before
 * locations were recorded, the first keeps it. Throws StorageTaken.
 */
export async function takeLocation(
  tx: Sql,
  tenantId: string,
  location: StorageLocation & { readonly isOwn: boolean },
): Promise<void> {
  const { bucket, prefix, isOwn } = location;
  const key = [normalizedEndpoint(location.endpoint), bucket, prefix];
  await tx.query(LOCK);
  const [other] = await tx.query(
    `SELECT FROM registry.storage_locations b
     WHERE endpoint = $1 AND bucket = $2 AND (starts_with(prefix, $3) OR starts_with($3, prefix)) AND tenant_id <> $4
       AND (tenant_id < $4 OR NOT EXISTS (
         SELECT FROM registry.storage_locations WHERE (endpoint, bucket, prefix, tenant_id) = ($1, $2, $3, $4)
       )) LIMIT 1`,
    [...key, tenantId],
  );
  if (other) throw new StorageTaken();
  await tx.query(
    `DELETE FROM registry.storage_locations
     WHERE tenant_id = $4 AND (own = $5 OR NOT own) AND (endpoint, bucket, prefix) <> ($1, $2, $3)`,
    [...key, tenantId, isOwn],
  );
  await tx.query(
    `INSERT INTO registry.storage_locations (endpoint, bucket, prefix, tenant_id, own)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
    [...key, tenantId, isOwn],
  );
}
