import { quoteIdentifier, type Sql } from '../../../store/postgres/pool.ts';
import { tenantRole } from '../../../store/postgres/provisioning.ts';
import type { Objects, ObjectsOptions } from '../../../store/s3/objects.ts';
import { ConditionError } from '../../conditions/runner.ts';

/** The location of a tenant's objects. */
export type StorageLocation = Pick<ObjectsOptions, 'endpoint' | 'bucket' | 'prefix'>;

/** The number of objects that are checked: the newest, which an incomplete copy lacks, and the oldest. */
const CHECKED_OBJECTS = 10;
const FILES_RETRY_MS = 60_000;
const PODS_RETRY_MS = 5_000;

export const isSameLocation = (one: StorageLocation, other: StorageLocation): boolean =>
  one.endpoint === other.endpoint && one.bucket === other.bucket && (one.prefix ?? '') === (other.prefix ?? '');

export const locationText = ({ endpoint, bucket, prefix = '' }: StorageLocation): string => `${bucket}/${prefix} at ${endpoint}`;

/** The desired location of a tenant, and the store that answers for it. */
interface WantedStore {
  readonly location: StorageLocation;
  ask<T>(question: (objects: Objects) => Promise<T>): Promise<T>;
}

/**
 * Requires the tenant's objects at a new location before it is used: else all of its files would be unavailable at once. `before`
 * is undefined where another owner adopted the data. Reads nothing unless the location changes. Throws ConditionError
 * FilesElsewhere.
 */
export async function requireFiles(
  sql: Sql,
  slug: string,
  before: StorageLocation | undefined,
  store: WantedStore,
): Promise<void> {
  const wanted = store.location;
  if (before && isSameLocation(before, wanted)) return;
  const keys = await someKeys(sql, slug);
  const missing = keys.length === 0 ? 0 : await store.ask((objects) => missingOf(keys, objects));
  if (missing === 0) return;
  throw new ConditionError(
    'FilesElsewhere',
    `the tenant's files are in ${before ? locationText(before) : 'another location'}; of ${keys.length} checked in ` +
      `${locationText(wanted)}, ${missing} are missing. ` +
      `Copy the objects with their keys, or ${before ? 'set spec.storage back' : 'name that location in spec.storage'}`,
    { isTerminal: true, retryAfterMs: FILES_RETRY_MS },
  );
}

/**
 * Returns whether bucket or prefix changes. If only the endpoint changes, the store is the same and pods may be replaced one by
 * one.
 */
export const isMove = (before: StorageLocation | undefined, wanted: StorageLocation): before is StorageLocation =>
  before !== undefined && !isSameLocation({ ...before, endpoint: wanted.endpoint }, wanted);

/**
 * A pod writes to its own location until it ends, so the last one must end before the location changes. Throws ConditionError
 * PodsRunning.
 */
export function requireNoPods(pods: number, before: StorageLocation, wanted: StorageLocation): void {
  if (pods === 0) return;
  throw new ConditionError(
    'PodsRunning',
    `spec.storage names ${locationText(wanted)} while ${pods === 1 ? '1 pod writes' : `${pods} pods write`} to ` +
      `${locationText(before)}. Suspend the tenant and copy its objects with their keys, or set spec.storage back`,
    { isTerminal: true, retryAfterMs: PODS_RETRY_MS },
  );
}

async function someKeys(sql: Sql, slug: string): Promise<string[]> {
  const table = `${quoteIdentifier(tenantRole(slug))}.file_versions`;
  const [schema] = await sql.query<{ isThere: boolean }>('SELECT to_regclass($1) IS NOT NULL AS "isThere"', [table]);
  if (!schema?.isThere) return [];
  const rows = await sql.query<{ key: string }>(
    `(SELECT blob_name AS key FROM ${table} ORDER BY id DESC LIMIT ${CHECKED_OBJECTS})
     UNION (SELECT blob_name FROM ${table} ORDER BY id LIMIT ${CHECKED_OBJECTS})`,
  );
  return rows.map(({ key }) => key);
}

async function missingOf(keys: readonly string[], objects: Objects): Promise<number> {
  const found = await Promise.all(keys.map((key) => objects.head(key)));
  return found.filter((object) => object === null).length;
}
