import type { Clock } from '../runtime/clock.ts';
import type { SealingKey } from '../runtime/sealing.ts';
import type { SqlPool } from '../store/postgres/pool.ts';
import type { Objects } from '../store/s3/objects.ts';
import { copyObjects, MOST_FAULTS, type Progress, readUnknown } from './copy-objects.ts';
import { type Manifest, stampOf, stampsIn, writeManifest } from './manifest.ts';
import type { Repository } from './repository/repository.ts';
import { takeSnapshot } from './snapshot.ts';
import { requireFiles } from './verify.ts';

/** A tenant whose data the backup reads. */
interface BackupSource {
  readonly slug: string;
  /** Decimal string. */
  readonly tenantId: string;
  /** The id of the installation, from the registry. */
  readonly installation: string;
  /** The pool of its shard, without a time limit for statements. */
  readonly pool: SqlPool;
  readonly objects: Objects;
  /** Signs the backup: the first platform key. */
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
  /** Objects that the repository did not have before. */
  readonly copied: { readonly objects: number; readonly bytes: number };
}

/**
 * While a tenant deletes for good, objects disappear that a snapshot still names. Each further snapshot names fewer objects that
 * are not copied yet.
 */
const MOST_SNAPSHOTS = 6;

/**
 * Copies a tenant's rows and objects, as of one moment, to a repository, and reads back what it wrote.
 *
 * Invariants:
 * - The tenant continues meanwhile: the backup locks nothing. Objects never change, so they may be copied after the snapshot. If
 *   one was deleted before it was copied, the backup takes another snapshot.
 * - The manifest is written last. An interrupted backup does not count, harms no other, and the next one uses what it copied.
 * - The manifest is signed, and its checksums cover the whole backup. An object that the repository already had counts only by
 *   the checksum of its row.
 * - Objects that the repository already has are not copied again.
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
    // Copies once more, by a listing: another backup may have deleted, with its oldest one, objects that this one found there.
    const known = await copyObjects({ ...copying, list });
    const found = {
      missing: new Set([...known.missing, ...(unknown?.faults.missing ?? [])]),
      damaged: new Set([...known.damaged, ...(unknown?.faults.damaged ?? [])]),
    };
    // An object that a later snapshot names again, and that is still missing, has been lost. A damaged object has been lost too.
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

/** Returns the name of this second, or of the next one that is free. */
async function freeStamp({ repository, clock }: BackupOptions, slug: string): Promise<string> {
  const taken = await stampsIn(repository, slug);
  while (taken.has(stampOf(clock.now()))) await clock.sleep(1_000);
  return stampOf(clock.now());
}
