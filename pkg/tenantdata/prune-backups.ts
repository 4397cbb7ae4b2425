import type { SealingKey } from '../runtime/sealing.ts';
import { DAY_MS } from '../runtime/time.ts';
import { isFinished, names, stampOf, stampsIn } from './manifest.ts';
import { absentAmong, keptObjects, listedObjects } from './object-list.ts';
import { type Repository, RepositoryError } from './repository/repository.ts';
import { openBackup } from './verify.ts';

/** An unfinished backup of this age is no longer running. */
const UNFINISHED_MS = DAY_MS;

/**
 * Deletes backups older than the newest `keep` finished ones of a tenant, backups interrupted long ago, and objects that no
 * remaining backup names. Returns the names of the deleted backups.
 *
 * Only backups that `keys` signed count: whoever may add files to the repository must not crowd out those that can be restored.
 */
export async function pruneBackups(
  repository: Repository,
  slug: string,
  { keep, keys, now }: { keep: number; keys: readonly SealingKey[]; now: Date },
): Promise<string[]> {
  const stamps = await stampsIn(repository, slug);
  const finished = [...stamps].filter(([, files]) => isFinished(files)).map(([stamp]) => stamp);
  const oldestKept = await oldestOfNewest(repository, slug, finished, { keep, keys });
  const oldest = stampOf(new Date(now.getTime() - UNFINISHED_MS));
  const outdated = [...stamps.keys()].filter((stamp) => stamp < (finished.includes(stamp) ? oldestKept : oldest));
  // Deletes the manifest first: without it, a half-deleted backup no longer counts.
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

/** Returns the oldest of the newest `keep` signed backups, or '' if fewer exist. */
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
      return undefined; // It belongs to another tenant, or it cannot be read.
    });
    if (opened && opened.doubt === undefined) left -= 1;
    if (left === 0) return stamp;
  }
  return '';
}

const KEYS_AT_ONCE = 500;

/** `stamps` includes a backup that is still running from its first snapshot on. */
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
