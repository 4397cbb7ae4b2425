import { quoteIdentifier, type Sql } from '../../store/postgres/pool.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { Objects, type ObjectsOptions } from '../../store/s3/objects.ts';
import { NotYet } from '../steps.ts';

/** Where a tenant's objects lie. */
export type Place = Pick<ObjectsOptions, 'endpoint' | 'bucket' | 'prefix'>;

/** The newest, which a copy made too early misses, and the oldest, which any copy has. */
const LOOKED_AT = 10;
const LOOK_AGAIN_MS = 60_000;
const PODS_RETRY_MS = 5_000;

export const isSame = (one: Place, other: Place): boolean =>
  one.endpoint === other.endpoint && one.bucket === other.bucket && (one.prefix ?? '') === (other.prefix ?? '');

export const text = ({ endpoint, bucket, prefix = '' }: Place): string => `${bucket}/${prefix} at ${endpoint}`;

/**
 * Another place is taken only once the tenant's objects are there: its files would all be out of reach at once. `before` is not known
 * where data that were kept have come to another owner.
 * Reads nothing unless the place is another. Throws NotYet FilesElsewhere.
 */
export async function requireFiles(sql: Sql, slug: string, before: Place | undefined, wanted: ObjectsOptions): Promise<void> {
  if (before && isSame(before, wanted)) return;
  const keys = await someKeys(sql, slug);
  const missing = await missingOf(keys, wanted);
  if (missing === 0) return;
  throw new NotYet(
    'FilesElsewhere',
    `the tenant's files are in ${before ? text(before) : 'another place'}; of ${keys.length} looked for in ${text(wanted)} ${missing} are not there. ` +
      `Copy the objects with their keys, or ${before ? 'set spec.storage back' : 'name that place in spec.storage'}`,
    { isStuck: true, retryAfterMs: LOOK_AGAIN_MS },
  );
}

/** Of two places at one store, or of one name: a store that has only got another address is gone over to by pods one after the other. */
export const isMove = (before: Place | undefined, wanted: Place): before is Place =>
  before !== undefined && !isSame({ ...before, endpoint: wanted.endpoint }, wanted);

/** What a pod has acknowledged lies where it wrote it, so the last one ends before the place changes. Throws NotYet PodsRunning. */
export function requireNoPods(pods: number, before: Place, wanted: Place): void {
  if (pods === 0) return;
  throw new NotYet(
    'PodsRunning',
    `spec.storage names ${text(wanted)} while ${pods === 1 ? '1 pod writes' : `${pods} pods write`} to ${text(before)}. Suspend the tenant and copy its objects with their keys, or set spec.storage back`,
    { isStuck: true, retryAfterMs: PODS_RETRY_MS },
  );
}

async function someKeys(sql: Sql, slug: string): Promise<string[]> {
  const table = `${quoteIdentifier(tenantRole(slug))}.file_versions`;
  const [schema] = await sql.query<{ isThere: boolean }>('SELECT to_regclass($1) IS NOT NULL AS "isThere"', [table]);
  if (!schema?.isThere) return [];
  const rows = await sql.query<{ key: string }>(
    `(SELECT blob_name AS key FROM ${table} ORDER BY id DESC LIMIT ${LOOKED_AT}) UNION (SELECT blob_name FROM ${table} ORDER BY id LIMIT ${LOOKED_AT})`,
  );
  return rows.map(({ key }) => key);
}

async function missingOf(keys: readonly string[], wanted: ObjectsOptions): Promise<number> {
  const objects = new Objects(wanted);
  try {
    const found = await Promise.all(keys.map((key) => objects.head(key)));
    return found.filter((object) => object === null).length;
  } finally {
    objects.close();
  }
}
