import type { Clock } from '../runtime/clock.ts';
import type { SealingKey } from '../runtime/sealing.ts';
import type { SqlPool } from '../store/postgres/pool.ts';
import type { Objects } from '../store/s3/objects.ts';
import { copyObjects, MOST_FAULTS, type Progress, readUnknown } from './copy-objects.ts';
import { type Manifest, names, stampOf, stampsIn, writeManifest, isFinished } from './manifest.ts';
import { absentAmong, keptObjects, listedObjects } from './object-list.ts';
import { type Repository, RepositoryError } from './repository/repository.ts';
import { takeSnapshot } from './snapshot.ts';
import { openBackup, requireFiles } from './verify.ts';

/** A tenant whose data are read. */
export interface BackupSource {
  readonly slug: string;
  /** Decimal string. */
  readonly tenantId: string;
  /** Of the registry. */
  readonly installation: string;
  /** Of its shard, without a bound of a statement's time. */
  readonly pool: SqlPool;
  readonly objects: Objects;
  /** Signs the backup: the first. */
  readonly platformKey: SealingKey;
}

export interface BackupOptions {
  readonly repository: Repository;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: Progress;
}

export interface Backup {
  readonly stamp: string;
  readonly manifest: Manifest;
  /** Objects that were not in the repository yet. */
  readonly copied: { readonly objects: number; readonly bytes: number };
}

/**
 * While a tenant deletes for good, objects go that a snapshot still names; the next snapshot names fewer that are not copied yet.
 */
const MOST_SNAPSHOTS = 6;
/** An unfinished backup of so long ago runs no more. */
const UNFINISHED_MS = 24 * 3_600_000;

/**
 * Copies a tenant's rows and objects, as of one moment, to a repository, and reads back what it wrote.
 *
 * Invariants:
 * - The tenant goes on meanwhile: nothing is locked. Objects never change, so they may be copied after the snapshot; where one
 *   was deleted before it was copied, another snapshot is taken.
 * - The manifest is written last. A backup that was cut off is none, harms no other, and what it copied is used by the next.
 * - The manifest is signed, and what it has checksums of is all of the backup: an object that was there already counts only by
 *   the checksum of its row.
 * - Objects that the repository has already are not copied again.
 *
 * Throws RepositoryError and StoreUnavailableError.
 */
export async function backUp(source: BackupSource, options: BackupOptions): Promise<Backup> {
  const { slug, tenantId, installation } = source;
  const { repository } = options;
  const stamp = await freeStamp(options, slug);
  const total = { objects: 0, bytes: 0 };
  let gone = new Set<string>();
  for (let snapshots = 1; ; snapshots += 1) {
    const taken = await takeSnapshot({ pool: source.pool, slug, repository, stamp });
    await requireFiles(repository, { slug, stamp, ...taken });
    const copying = { ...options, source, stamp, total, of: taken.objects.count, list: taken.objects.sha256 };
    await copyObjects(copying);
    const unknown = await readUnknown(copying);
    const list = unknown?.sha256 ?? taken.objects.sha256;
    // Once more, by a listing: another backup may have deleted, with its oldest one, what this one found there.
    const known = await copyObjects({ ...copying, list });
    const found = {
      missing: new Set([...known.missing, ...(unknown?.faults.missing ?? [])]),
      damaged: new Set([...known.damaged, ...(unknown?.faults.damaged ?? [])]),
    };
    // What a later snapshot names again and is still not there has been lost, and so has what is damaged.
    const isLost = [...found.missing].every((key) => gone.has(key));
    if (isLost || snapshots === MOST_SNAPSHOTS) {
      const missing = [...found.missing, ...found.damaged].slice(0, MOST_FAULTS);
      const snapshot = { ...taken, objects: { ...taken.objects, sha256: list } };
      await requireFiles(repository, { slug, stamp, ...snapshot, tables: [] });
      const manifest = { format: 'carrel-backup/2' as const, slug, stamp, tenantId, installation, ...snapshot, missing };
      await writeManifest(repository, manifest, source.platformKey);
      return { stamp, manifest, copied: total };
    }
    gone = found.missing;
  }
}

/** A name of this second, or of the next that has none. */
async function freeStamp({ repository, clock }: BackupOptions, slug: string): Promise<string> {
  const taken = await stampsIn(repository, slug);
  while (taken.has(stampOf(clock.now()))) await clock.sleep(1_000);
  return stampOf(clock.now());
}

/**
 * Deletes what is older than the newest `keep` finished backups of a tenant, those that were cut off long ago, and objects that
 * none of the others names. Gives the names of those that it deleted.
 *
 * Only backups that `keys` signed are counted: whoever may add files to the repository must not crowd out those that can be
 * restored.
 */
export async function prune(
  repository: Repository,
  slug: string,
  { keep, keys, now }: { keep: number; keys: readonly SealingKey[]; now: Date },
): Promise<string[]> {
  const stamps = await stampsIn(repository, slug);
  const finished = [...stamps].filter(([, files]) => isFinished(files)).map(([stamp]) => stamp);
  const oldestKept = await oldestOfNewest(repository, slug, finished, { keep, keys });
  const oldest = stampOf(new Date(now.getTime() - UNFINISHED_MS));
  const outdated = [...stamps.keys()].filter((stamp) => stamp < (finished.includes(stamp) ? oldestKept : oldest));
  // The manifest first: what is deleted half-way is no backup any more.
  for (const stamp of outdated) {
    await repository.delete([names(slug).manifest(stamp)]);
    await repository.delete(stamps.get(stamp) ?? []);
  }
  const lists = [...stamps].filter(([stamp, files]) => !outdated.includes(stamp) && files.includes(names(slug).list(stamp)));
  await deleteUnnamed(
    repository,
    slug,
    lists.map(([stamp]) => stamp),
  );
  return outdated;
}

/** Of the newest `keep` that are signed; '' where there are fewer. */
async function oldestOfNewest(
  repository: Repository,
  slug: string,
  finished: readonly string[],
  { keep, keys }: { keep: number; keys: readonly SealingKey[] },
): Promise<string> {
  let left = keep;
  for (const stamp of finished.toReversed()) {
    const opened = await openBackup(repository, { slug, stamp }, keys).catch((error: unknown) => {
      if (!(error instanceof RepositoryError)) throw error;
      return undefined; // of another tenant, or it cannot be read
    });
    if (opened && opened.doubt === undefined) left -= 1;
    if (left === 0) return stamp;
  }
  return '';
}

const KEYS_AT_ONCE = 500;

/** A backup that still runs is among `stamps` from its first snapshot on. */
async function deleteUnnamed(repository: Repository, slug: string, stamps: readonly string[]): Promise<void> {
  let left: AsyncIterable<{ key: string; size: number }> = keptObjects(repository, slug);
  for (const stamp of stamps) left = absentAmong(left, listedObjects(repository, slug, stamp));
  let batch: string[] = [];
  for await (const { key } of left) {
    if (batch.push(names(slug).object(key)) < KEYS_AT_ONCE) continue;
    await repository.delete(batch);
    batch = [];
  }
  await repository.delete(batch);
}
