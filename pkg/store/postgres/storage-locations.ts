import type { Sql } from './pool.ts';

/** Where a tenant's objects lie. */
export interface StorageLocation {
  readonly endpoint: string;
  readonly bucket: string;
  /** Empty: the whole bucket. */
  readonly prefix: string;
}

/** The location, one around it or one within it is another tenant's. */
export class StorageTaken extends Error {
  override readonly name = 'StorageTaken';

  constructor() {
    super('the storage location belongs to another tenant, lies within one that does, or has one within it');
  }
}

/**
 * One spelling for all addresses of one store that can be told from the text: case, default ports, a trailing slash or dot and the scheme make
 * no difference. Names that only resolve to the same store are told apart by the marker object.
 */
export function normalizedEndpoint(endpoint: string): string {
  const url = new URL(endpoint);
  const port = url.port === '80' || url.port === '443' ? '' : url.port;
  return url.hostname.replace(/\.$/, '') + (port === '' ? '' : `:${port}`) + url.pathname.replace(/\/+$/, '');
}

/**
 * Makes the location the tenant's, in the transaction of `tx`; one that the tenant named before is free again. A bucket that was made for it
 * (`isOwn`) stays its until the tenant is forgotten. Throws StorageTaken.
 */
export async function takeLocation(tx: Sql, tenantId: string, location: StorageLocation & { readonly isOwn: boolean }): Promise<void> {
  const { bucket, prefix, isOwn } = location;
  const place = [normalizedEndpoint(location.endpoint), bucket, prefix];
  // One after the other: prefixes that contain each other are no matter of a unique index.
  await tx.query('LOCK TABLE registry.storage_locations IN SHARE ROW EXCLUSIVE MODE');
  const [other] = await tx.query(
    `SELECT FROM registry.storage_locations
     WHERE endpoint = $1 AND bucket = $2 AND (starts_with(prefix, $3) OR starts_with($3, prefix)) AND tenant_id <> $4 LIMIT 1`,
    [...place, tenantId],
  );
  if (other) throw new StorageTaken();
  await tx.query(
    `DELETE FROM registry.storage_locations
     WHERE tenant_id = $4 AND (own = $5 OR NOT own) AND (endpoint, bucket, prefix) <> ($1, $2, $3)`,
    [...place, tenantId, isOwn],
  );
  await tx.query(
    'INSERT INTO registry.storage_locations (endpoint, bucket, prefix, tenant_id, own) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING',
    [...place, tenantId, isOwn],
  );
}
