import type { SealingKey } from '../runtime/sealing.ts';
import { OBJECTS_AT_ONCE, type Progress, storedState } from './copy-objects.ts';
import { forEach } from './each.ts';
import { type Manifest, names, readManifest } from './manifest.ts';
import { measure } from './measured.ts';
import { LIST_BOUND, listedObjects } from './object-list.ts';
import { ROW_BOUND, unpacked } from './packed.ts';
import { type Repository, RepositoryError } from './repository/repository.ts';
import { signatureFault } from './signature.ts';

/** Names a backup, and the expected content of its files. */
type Files = Pick<Manifest, 'slug' | 'tables' | 'objects'> & { readonly stamp: string };

/** Returns the rows of a table, at most as many as the manifest says. */
export const rowsIn = (
  repository: Repository,
  { slug, stamp }: Pick<Files, 'slug' | 'stamp'>,
  table: Manifest['tables'][number],
) =>
  unpacked(repository, names(slug).table(stamp, table), {
    ...ROW_BOUND,
    ...(table.bytes === undefined ? {} : { total: table.bytes }),
  });

/** Reads the rows and the list of objects, and compares them with their checksums. Throws RepositoryError. */
export async function requireFiles(repository: Repository, files: Files): Promise<void> {
  const list = names(files.slug).list(files.stamp);
  for (const table of files.tables)
    await requireSum(names(files.slug).table(files.stamp, table), rowsIn(repository, files, table), table);
  await requireSum(list, unpacked(repository, list, LIST_BOUND), files.objects);
}

async function requireSum(name: string, content: AsyncIterable<Buffer>, { sha256 }: { readonly sha256: string }): Promise<void> {
  if ((await measure(content)).sha256 !== sha256)
    throw new RepositoryError(`${name} differs from what was written: it is damaged, altered, or part of another backup`);
}

/** The part of a backup that is known before its other files are read. */
export interface OpenedBackup {
  readonly slug: string;
  readonly stamp: string;
  readonly manifest: Manifest;
  /** The reason to doubt that Carrel wrote it; undefined if it did. */
  readonly doubt: string | undefined;
}

/** Opens the backup of this name. Throws RepositoryError if it does not exist or was written under another name. */
export async function openBackup(
  repository: Repository,
  { slug, stamp }: { slug: string; stamp: string },
  keys: readonly SealingKey[],
): Promise<OpenedBackup> {
  const { manifest, document } = await readManifest(repository, slug, stamp);
  const name = names(slug).manifest(stamp);
  if (manifest.slug !== slug)
    throw new RepositoryError(`${name} belongs to ${manifest.slug}: a backup of another tenant was put among those of ${slug}`);
  if (manifest.stamp !== undefined && manifest.stamp !== stamp)
    throw new RepositoryError(
      `${name} belongs to the backup ${manifest.stamp}: its folder was renamed, or its files were exchanged`,
    );
  const fault = signatureFault(document, keys);
  return { slug, stamp, manifest, doubt: fault === undefined ? undefined : `${name} ${fault}` };
}

/** Returns the faults of a backup in words. Reads every byte of it. */
export async function verifyBackup(
  repository: Repository,
  { slug, stamp, manifest, doubt }: OpenedBackup,
  { signal, onProgress }: { signal: AbortSignal; onProgress: Progress },
): Promise<string[]> {
  await requireFiles(repository, { ...manifest, stamp });
  const wrong = new Map(manifest.missing.map((key) => [key, `${key} was already lost when the backup was made`]));
  if (doubt !== undefined) wrong.set('', doubt);
  const done = { objects: 0, bytes: 0 };
  await forEach(listedObjects(repository, slug, stamp), OBJECTS_AT_ONCE, async (object) => {
    signal.throwIfAborted();
    if (wrong.has(object.key)) return;
    const name = names(slug).object(object.key);
    const state = await storedState(repository, name, object);
    if (state !== 'whole') wrong.set(object.key, `${name} is ${state}`);
    done.objects += 1;
    done.bytes += object.size;
    onProgress({ ...done, of: manifest.objects.count });
  });
  return [...wrong.values()];
}
