import { addAbortSignal, PassThrough, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Clock } from '../runtime/clock.ts';
import type { SqlPool } from '../store/postgres/pool.ts';
import { ObjectMissing, type Objects } from '../store/s3/objects.ts';
import { forEach } from './each.ts';
import { type Manifest, names, stampOf, stampsIn, writeManifest, isFinished } from './manifest.ts';
import { measure, measured } from './measured.ts';
import { absentAmong, keptObjects, type ListedObject, listedObjects } from './object-list.ts';
import { type Repository, RepositoryError } from './repository/repository.ts';
import { takeSnapshot, type Snapshot } from './snapshot.ts';

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
}

/** How far a backup or a restore is. */
export type Progress = (done: { readonly objects: number; readonly bytes: number; readonly of: number }) => void;

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

const OBJECTS_AT_ONCE = 4;
/** While a tenant deletes for good, objects go that a snapshot still names; the next snapshot names fewer that are not copied yet. */
const MOST_SNAPSHOTS = 6;
const MOST_FAULTS = 1_000;
/** An unfinished backup of so long ago runs no more. */
const UNFINISHED_MS = 24 * 3_600_000;

/**
 * Copies a tenant's rows and objects, as of one moment, to a repository, and reads back what it wrote.
 *
 * Invariants:
 * - The tenant goes on meanwhile: nothing is locked. Objects never change, so they may be copied after the snapshot; where one was deleted before it was
 *   copied, another snapshot is taken.
 * - The manifest is written last. A backup that was cut off is none, harms no other, and what it copied is used by the next.
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
    const snapshot = await takeSnapshot({ pool: source.pool, slug, repository, stamp });
    await readBack(repository, slug, stamp, snapshot);
    const copy = () => copyObjects(source, options, stamp, { total, of: snapshot.objects.count });
    await copy();
    // Once more, by a listing: another backup may have deleted, with its oldest one, what this one found there.
    const found = await copy();
    // What a later snapshot names again and is still not there has been lost, and so has what is damaged.
    const isLost = [...found.missing].every((key) => gone.has(key));
    if (isLost || snapshots === MOST_SNAPSHOTS) {
      const missing = [...found.missing, ...found.damaged].slice(0, MOST_FAULTS);
      const manifest: Manifest = { format: 'carrel-backup/1', slug, tenantId, installation, ...snapshot, missing };
      await writeManifest(repository, slug, stamp, manifest);
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

interface Copied {
  readonly missing: Set<string>;
  readonly damaged: Set<string>;
}

async function copyObjects(
  { slug, objects }: BackupSource,
  { repository, signal, onProgress }: BackupOptions,
  stamp: string,
  { total, of }: { total: { objects: number; bytes: number }; of: number },
): Promise<Copied> {
  const found: Copied = { missing: new Set(), damaged: new Set() };
  const absent = absentAmong(listedObjects(repository, slug, stamp), keptObjects(repository, slug));
  await forEach(absent, OBJECTS_AT_ONCE, async (object) => {
    signal.throwIfAborted();
    const outcome = await copyObject(objects, repository, names(slug).object(object.key), object, signal).catch((error: unknown) => {
      // Whatever it waited for: what ended it is why it failed.
      signal.throwIfAborted();
      throw error;
    });
    if (outcome !== 'copied') {
      if (found[outcome].size < MOST_FAULTS) found[outcome].add(object.key);
      return;
    }
    total.objects += 1;
    total.bytes += object.size;
    onProgress({ ...total, of });
  });
  return found;
}

/** Of a damaged object nothing is kept, so that each backup says so anew. */
async function copyObject(
  objects: Objects,
  repository: Repository,
  name: string,
  { key, size, checksum }: ListedObject,
  signal: AbortSignal,
): Promise<'copied' | 'missing' | 'damaged'> {
  const source = await objects.get(key, { signal }).catch((error: unknown) => {
    if (error instanceof ObjectMissing) return undefined;
    throw error;
  });
  if (!source) return 'missing';
  if (source.length !== size) {
    source.body.destroy();
    return 'damaged';
  }
  // A store may send a byte a minute, so it is not the end of the object that ends it.
  const { stream, result } = measured(addAbortSignal(signal, source.body as Readable) as AsyncIterable<Buffer>);
  await repository.put(name, stream, size);
  const { sha256 } = result();
  const stored = await measure((await repository.get(name)) as AsyncIterable<Buffer>);
  if (stored.sha256 !== sha256)
    throw new RepositoryError(`${name} reads back otherwise than it was written: ${repository.name} is not reliable`);
  if (checksum === null || checksum === sha256) return 'copied';
  await repository.delete([name]);
  return 'damaged';
}

/** Compares what the repository has of a snapshot with what was written. */
async function readBack(repository: Repository, slug: string, stamp: string, { tables, objects }: Snapshot): Promise<void> {
  const all = [...tables.map((table) => [names(slug).table(stamp, table), table.sha256]), [names(slug).list(stamp), objects.sha256]];
  for (const [name = '', sha256] of all) {
    const read = await measure(await unpacked(repository, name));
    if (read.sha256 !== sha256) throw new RepositoryError(`${name} is not what was written: it is damaged`);
  }
}

/** A packed file of a repository. Fails with RepositoryError where it is damaged. */
export async function unpacked(repository: Repository, name: string): Promise<AsyncIterable<Buffer>> {
  const packed = await repository.get(name);
  const through = packed.pipe(createGunzip());
  const out = through.pipe(new PassThrough());
  packed.on('error', (error) => through.destroy(error));
  through.on('error', (error) => out.destroy(new RepositoryError(`${name} is damaged: ${error.message}`, { cause: error })));
  out.on('close', () => packed.destroy());
  return out as AsyncIterable<Buffer>;
}

/** What `verify` found wrong, in words; empty: nothing. Reads every byte of the backup. */
export async function verifyBackup(
  repository: Repository,
  slug: string,
  { stamp, manifest }: { stamp: string; manifest: Manifest },
  { signal, onProgress }: Pick<BackupOptions, 'signal' | 'onProgress'>,
): Promise<string[]> {
  await readBack(repository, slug, stamp, manifest);
  const wrong = new Map(manifest.missing.map((key) => [key, `${key} was lost already when the backup was made`]));
  const done = { objects: 0, bytes: 0 };
  await forEach(listedObjects(repository, slug, stamp), OBJECTS_AT_ONCE, async ({ key, size, checksum }) => {
    signal.throwIfAborted();
    if (wrong.has(key)) return;
    const name = names(slug).object(key);
    const read = await repository.get(name).then(
      (body) => measure(body as AsyncIterable<Buffer>),
      (error: unknown) => {
        if (error instanceof RepositoryError) return undefined;
        throw error;
      },
    );
    if (!read) wrong.set(key, `${name} is missing`);
    else if (read.bytes !== size || (checksum !== null && read.sha256 !== checksum)) wrong.set(key, `${name} is damaged`);
    done.objects += 1;
    done.bytes += size;
    onProgress({ ...done, of: manifest.objects.count });
  });
  return [...wrong.values()];
}

/**
 * Deletes all but the newest `keep` finished backups of a tenant, those that were cut off long ago, and objects that none of the others names.
 * Gives the names of those that it deleted.
 */
export async function prune(repository: Repository, slug: string, { keep, now }: { keep: number; now: Date }): Promise<string[]> {
  const stamps = await stampsIn(repository, slug);
  const finished = [...stamps].filter(([, files]) => isFinished(files)).map(([stamp]) => stamp);
  const newest = new Set(finished.slice(-keep));
  const oldest = stampOf(new Date(now.getTime() - UNFINISHED_MS));
  const outdated = [...stamps.keys()].filter((stamp) => (finished.includes(stamp) ? !newest.has(stamp) : stamp < oldest));
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
