import type { Random } from '../runtime/random.ts';
import { type SealingKey, tenantSealer } from '../runtime/sealing.ts';
import { COPY_SETTINGS, tablesOf } from '../store/postgres/data-tables.ts';
import { type CopyingSql, quoteIdentifier, type Sql, type SqlPool } from '../store/postgres/pool.ts';
import { replaceSchema, tenantRole, UnknownMigrations } from '../store/postgres/provisioning.ts';
import type { RegisteredTenant, Registry } from '../store/postgres/registry.ts';
import type { Objects } from '../store/s3/objects.ts';
import type { Clock } from '../runtime/clock.ts';
import { OBJECTS_AT_ONCE, type Progress } from './copy-objects.ts';
import { forEach } from './each.ts';
import { fitting, type LoadedTable, loadTables } from './load-tables.ts';
import { type BackedUpTable, type Manifest, names } from './manifest.ts';
import { measured } from './measured.ts';
import { absentAmong, type ListedObject, listedObjects } from './object-list.ts';
import { type Repository, RepositoryError } from './repository/repository.ts';
import { requireIds, restoreShared } from './restore-shared-tables.ts';
import { resealTenant, sealOf } from './sealed-columns.ts';
import { lastOf, migrationsIn } from './snapshot.ts';
import { type OpenedBackup, requireFiles, rowsIn } from './verify.ts';

/** A tenant whose data are replaced. */
interface RestoreTarget {
  readonly slug: string;
  /** Decimal string. */
  readonly tenantId: string;
  readonly credentials: RegisteredTenant['credentials'];
  /** The pool of its shard, with the owner's role and without a time limit for statements. */
  readonly pool: SqlPool;
  readonly objects: Objects;
  readonly registry: Pick<Registry, 'beginAdoption' | 'find' | 'installation'>;
}

export interface RestoreOptions {
  readonly repository: Repository;
  /** A backup of the slug that the person named. */
  readonly backup: OpenedBackup;
  /** Existing data may be replaced. */
  readonly replace: boolean;
  /** The backup may be one that Carrel did not make, or that was altered. */
  readonly unsigned: boolean;
  /** The backup may be that of a tenant which had the slug in another installation, or before it was deleted. */
  readonly former: boolean;
  /** The first key seals, all keys open. */
  readonly platformKeys: readonly SealingKey[];
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onProgress: Progress;
}

/** The target cannot be restored into as it is. The message says why and what to do. */
export class RestoreRefused extends Error {
  override readonly name = 'RestoreRefused';
}

interface Restored {
  /** Objects that the tenant's storage did not have. */
  readonly copied: { readonly objects: number; readonly bytes: number };
  /** Keys of objects that rows name and that neither the storage nor the backup has. */
  readonly missing: readonly string[];
  /** Secrets of webhooks and registrations that no platform key opens. */
  readonly unopenable: number;
}

const JOBS_RETRY_MS = 1_000;
/** Longer than an unrenewed lease lasts. */
const JOBS_MS = 120_000;

/**
 * Restores a suspended tenant to the state of a backup: rows in one transaction, objects before it.
 *
 * Invariants:
 * - Nothing of a backup is used before its signature, its tenant, and all its rows and names of objects have been verified.
 * - The registry and the person who restores decide which tenant the backup belongs to, which key opens its secrets and whether
 *   it is a copy. An unsigned manifest decides only which rows come.
 * - While it runs nobody uses the data: the role may not log in, and no job of the tenant runs. Otherwise it throws
 *   RestoreRefused.
 * - It happens as a whole or not at all. If it is interrupted, the tenant has its former rows, and perhaps objects that none of
 *   them names.
 * - A backup of another tenant is a copy: its webhooks, registrations and schedules are inactive, and its pending deliveries and
 *   jobs are omitted.
 * - Nobody is signed in afterwards.
 *
 * Also throws RepositoryError, UnknownMigrations, StoreUnavailableError.
 */
export async function restore(target: RestoreTarget, options: RestoreOptions): Promise<Restored> {
  const { pool, slug, tenantId, registry } = target;
  const { clock, signal, repository, backup } = options;
  const sealedFor = await requireKnownTenant(target, options);
  await pool.transaction((tx) => requireUnused(tx, slug, options.replace));
  await requireFiles(repository, { ...backup.manifest, stamp: backup.stamp });
  const copied = { objects: 0, bytes: 0 };
  await putObjects(target, options, copied);
  const until = clock.monotonic() + JOBS_MS;
  const attempt = () => pool.copying((tx) => replaceRows(tx, target, { ...options, sealedFor }));
  let replaced = await attempt();
  for (; !replaced; replaced = await attempt()) {
    if (clock.monotonic() > until)
      throw new RestoreRefused(`jobs of ${slug} are still running after ${JOBS_MS / 1_000} s; try again later`);
    signal.throwIfAborted();
    await clock.sleep(JOBS_RETRY_MS);
  }
  // The operator removes rows of resources that were deleted meanwhile, as after an adoption.
  await registry.beginAdoption(tenantId);
  // A job may have deleted objects until its row was replaced.
  const missing = await putObjects(target, options, copied);
  return { copied, missing, unopenable: replaced.unopenable };
}

/** Returns the id of the tenant that the secrets in the backup are sealed for. Throws RestoreRefused. */
async function requireKnownTenant({ registry, tenantId }: RestoreTarget, options: RestoreOptions): Promise<string> {
  const { backup, unsigned, former } = options;
  const { slug, manifest, doubt } = backup;
  if (doubt !== undefined && !unsigned)
    throw new RestoreRefused(
      `${doubt}. Nothing was restored. Use another backup; the key of another installation, or a former key, goes to the end ` +
        'of CARREL_PLATFORM_KEYS; or add --unsigned if you know who could write to the repository',
    );
  const [installation, known] = [await registry.installation(), await registry.find(slug)];
  const isKnown = manifest.installation === installation && manifest.tenantId === known?.tenantId;
  if (!isKnown && !former)
    throw new RestoreRefused(
      `the backup is of tenant ${manifest.tenantId} of installation ${manifest.installation}; ` +
        `${known ? `${slug} is tenant ${known.tenantId}` : `there is no tenant ${slug}`} of installation ${installation}. ` +
        `Nothing was restored. Add --former if it belongs to a former tenant ${slug}: of another installation, or from before ` +
        'it was deleted',
    );
  // Otherwise the author of the manifest could have another tenant's secrets opened for this one.
  return doubt === undefined ? manifest.tenantId : (known?.tenantId ?? tenantId);
}

/** Throws RestoreRefused if the tenant is in use or has data. */
async function requireUnused(sql: Sql, slug: string, replace: boolean): Promise<void> {
  const role = tenantRole(slug);
  const [found] = await sql.query<{ limit: number; sessions: number; hasTables: boolean }>(
    `SELECT r.rolconnlimit AS "limit", (SELECT count(*)::int FROM pg_stat_activity a WHERE a.usename = r.rolname) AS sessions,
       to_regclass(quote_ident(r.rolname) || '.files') IS NOT NULL AS "hasTables"
     FROM pg_roles r JOIN carrel.tenants t ON t.role = r.rolname WHERE r.rolname = $1`,
    [role],
  );
  if (!found)
    throw new RestoreRefused(
      `${slug} has no schema yet. Apply its Tenant with suspended: true, and wait for its condition DatabaseReady`,
    );
  if (found.limit !== 0 || found.sessions > 0)
    throw new RestoreRefused(`${slug} is in use. Set suspended: true in its Tenant, and wait until its pods have ended`);
  if (replace || !found.hasTables) return;
  const schema = quoteIdentifier(role);
  const [data] = await sql.query<{ isThere: boolean }>(
    `SELECT EXISTS (SELECT FROM ${schema}.files)
       OR (SELECT count(*) FROM (SELECT FROM ${schema}.users WHERE NOT is_system LIMIT 2) u) > 1 AS "isThere"`,
  );
  if (data?.isThere)
    throw new RestoreRefused(
      `${slug} already has people or files, which this would delete. Back it up, then add --replace if you mean it`,
    );
}

/** Returns undefined if a job of the tenant is running; then nothing was changed. */
async function replaceRows(
  tx: CopyingSql,
  target: RestoreTarget,
  { backup, repository, ...options }: RestoreOptions & { sealedFor: string },
): Promise<{ unopenable: number } | undefined> {
  const { slug, tenantId } = target;
  const { manifest } = backup;
  const role = tenantRole(slug);
  await tx.query(COPY_SETTINGS);
  await requireUnused(tx, slug, options.replace);
  requireKnown(await migrationsIn(tx, 'carrel'), manifest);
  await tx.query('SELECT FROM carrel.tenants WHERE role = $1 FOR UPDATE', [role]);
  if (await hasRunningJobs(tx, role)) return undefined;
  const isCopy = backup.slug !== slug;
  const last = new Map<string, string>();
  for (const table of await tablesOf(tx, role)) last.set(table.name, await lastOf(tx, role, table));
  const of = (kind: BackedUpTable['of']): LoadedTable[] =>
    manifest.tables
      .filter((table) => table.of === kind)
      .map((table) => ({
        name: table.name,
        columns: table.columns,
        expected: table,
        last: last.get(table.name) ?? '0',
        rowsOf: () => rowsIn(repository, backup, table),
      }));
  const fill = async (): Promise<void> => {
    await loadTables(tx, slug, of('tenant'));
    for (const table of await tablesOf(tx, role)) await requireIds(tx, quoteIdentifier(table.name), table);
  };
  await fitting('the rows', () => replaceSchema(tx, { slug, tenantId }, manifest.migrations, fill));
  await restoreShared(tx, slug, isCopy ? [] : of('shared'));
  await tx.query('UPDATE users SET tenant_id = $1 WHERE tenant_id = $2', [tenantId, manifest.tenantId]);
  await tx.query('UPDATE sessions SET ended_at = now() WHERE ended_at IS NULL');
  if (isCopy) await silence(tx);
  return { unopenable: await sealAnew(tx, target, backup, options) };
}

function requireKnown(present: readonly string[], { sharedMigrations }: Manifest): void {
  const unknown = sharedMigrations.filter((name) => !present.includes(name));
  if (unknown.length > 0) throw new UnknownMigrations(unknown);
}

/** Locks the rows, so that no job begins. */
async function hasRunningJobs(tx: Sql, role: string): Promise<boolean> {
  const running = [];
  for (const table of ['work', 'deliveries'])
    running.push(
      ...(await tx.query(
        `SELECT FROM (SELECT leased_until FROM carrel.${table} WHERE tenant = $1 AND due_at IS NOT NULL FOR UPDATE) w
         WHERE leased_until > now()`,
        [role],
      )),
    );
  return running.length > 0;
}

/**
 * Deactivates a copy: two tenants must not call the same receivers and helpers, or answer the same LMS. Rows that a resource made
 * are left to the resources of this tenant. Nothing runs that changes what somebody wants to look at. Tasks without a job here
 * have ended.
 */
async function silence(tx: Sql): Promise<void> {
  await tx.query('DELETE FROM webhooks WHERE managed_by IS NOT NULL');
  await tx.query('DELETE FROM lti_tools WHERE managed_by IS NOT NULL');
  await tx.query('DELETE FROM helpers');
  await tx.query('DELETE FROM schedules WHERE managed_by IS NOT NULL');
  await tx.query('UPDATE settings SET share_links_managed_by = NULL WHERE share_links_managed_by IS NOT NULL');
  await tx.query('UPDATE webhooks SET active = false WHERE active');
  await tx.query('UPDATE lti_tools SET is_active = false WHERE is_active');
  await tx.query('UPDATE schedules SET active = false, next_tick = NULL WHERE active');
  await tx.query(`UPDATE tasks SET state = 'canceled', ended_at = now() WHERE state IN ('queued', 'running')`);
}

/**
 * Seals the secrets again: they were sealed for the id that the tenant had, and perhaps with a platform key that is no longer the
 * first. Returns the number that no key opens.
 */
async function sealAnew(
  tx: Sql,
  target: RestoreTarget,
  { doubt }: OpenedBackup,
  { platformKeys, random, signal, sealedFor }: Pick<RestoreOptions, 'platformKeys' | 'random' | 'signal'> & { sealedFor: string },
): Promise<number> {
  const former = { tenantId: sealedFor, sealer: tenantSealer(platformKeys, sealedFor, random) };
  const { resealed, unchanged, unopenable } = await resealTenant(
    tx,
    { ...sealOf(target, platformKeys, random), keyId: undefined, former },
    { signal },
  );
  // A tenant's role can write values that nobody can open. If none can be opened, the key is missing.
  if (doubt === undefined && unopenable > 0 && resealed + unchanged === 0)
    throw new RestoreRefused(
      `the ${unopenable} secrets of webhooks and registrations in the backup are sealed with a missing platform key. ` +
        'Add the key of that time to the end of CARREL_PLATFORM_KEYS',
    );
  return unopenable;
}

/** Returns the keys of objects that are neither in the tenant's storage nor in the backup. */
async function putObjects(
  { objects }: RestoreTarget,
  { repository, backup: { stamp, manifest, doubt }, signal, onProgress }: RestoreOptions,
  copied: { objects: number; bytes: number },
): Promise<string[]> {
  const missing: string[] = [];
  const lost = new Set(manifest.missing);
  const listed = listedObjects(repository, manifest.slug, stamp, manifest.objects.sha256);
  await forEach(absentAmong(listed, objects.list()), OBJECTS_AT_ONCE, async (object) => {
    signal.throwIfAborted();
    // A list of Carrel's own has no checksum for objects that were already lost.
    if (lost.has(object.key) || (object.checksum === null && doubt === undefined)) return void missing.push(object.key);
    await putObject(objects, repository, names(manifest.slug).object(object.key), object, signal);
    copied.objects += 1;
    copied.bytes += object.size;
    onProgress({ ...copied, of: manifest.objects.count });
  });
  return missing;
}

/** Stores an object unless it differs from what its row says. */
async function putObject(
  objects: Objects,
  repository: Repository,
  name: string,
  { key, size, checksum }: ListedObject,
  signal: AbortSignal,
): Promise<void> {
  const { stream } = measured((await repository.get(name)) as AsyncIterable<Buffer>, (sha256) => {
    if (checksum !== null && sha256 !== checksum)
      throw new RepositoryError(`${name} is damaged: its SHA-256 differs from that of the file`);
  });
  await objects.put(key, stream, { contentLength: size, signal });
}
