import type { SealingKey } from '../runtime/sealing.ts';
import { OBJECTS_AT_ONCE, type Progress, storedState } from './copy-objects.ts';
import { forEach } from './each.ts';
import { type Manifest, names, readManifest } from './manifest.ts';
import { measure } from './measured.ts';
import { LIST_BOUND, listedObjects } from './object-list.ts';
import { ROW_BOUND, unpacked } from './packed.ts';
import { type Repository, RepositoryError } from './repository/repository.ts';
import { signatureFault } from './signature.ts';

/** Which backup, and what its files must be. */
type Files = Pick<Manifest, 'slug' | 'tables' | 'objects'> & { readonly stamp: string };

/** The rows of a table, no more of them than the manifest says. */
export const rowsIn = (
  repository: Repository,
  { slug, stamp }: Pick<Files, 'slug' | 'stamp'>,
  table: Manifest['tables'][number],
) =>
  unpacked(repository, names(slug).table(stamp, table), {
    ...ROW_BOUND,
    ...(table.bytes === undefined ? {} : { total: table.bytes }),
  });

/** Reads the rows and the list of the objects, and compares them with their checksums. Throws RepositoryError. */
export async function requireFiles(repository: Repository, files: Files): Promise<void> {
  const list = names(files.slug).list(files.stamp);
  for (const table of files.tables)
    await requireSum(names(files.slug).table(files.stamp, table), rowsIn(repository, files, table), table);
  await requireSum(list, unpacked(repository, list, LIST_BOUND), files.objects);
}

async function requireSum(name: string, content: AsyncIterable<Buffer>, { sha256 }: { readonly sha256: string }): Promise<void> {
  if ((await measure(content)).sha256 !== sha256)
    throw new RepositoryError(`${name} is not what was written: it is damaged, altered, or of another backup`);
}

/** What is known of a backup before any other of its files is read. */
export interface OpenedBackup {
  readonly slug: string;
  readonly stamp: string;
  readonly manifest: Manifest;
  /** Why it is not known to be what Carrel wrote; undefined: it is. */
  readonly doubt: string | undefined;
}

/** The backup of this name. Throws RepositoryError: there is none, or it was written under another name. */
export async function openBackup(
  repository: Repository,
  { slug, stamp }: { slug: string; stamp: string },
  keys: readonly SealingKey[],
): Promise<OpenedBackup> {
  const { manifest, document } = await readManifest(repository, slug, stamp);
  const name = names(slug).manifest(stamp);
  if (manifest.slug !== slug)
    throw new RepositoryError(`${name} is of ${manifest.slug}: a backup of another tenant was put among those of ${slug}`);
  if (manifest.stamp !== undefined && manifest.stamp !== stamp)
    throw new RepositoryError(`${name} is of the backup ${manifest.stamp}: its folder was renamed, or its files exchanged`);
  const fault = signatureFault(document, keys);
  return { slug, stamp, manifest, doubt: fault === undefined ? undefined : `${name} ${fault}` };
}

/** What is wrong with a backup, in words; empty: nothing. Reads every byte of it. */
export async function verifyBackup(
  repository: Repository,
  { slug, stamp, manifest, doubt }: OpenedBackup,
  { signal, onProgress }: { signal: AbortSignal; onProgress: Progress },
): Promise<string[]> {
  await requireFiles(repository, { ...manifest, stamp });
  const wrong = new Map(manifest.missing.map((key) => [key, `${key} was lost already when the backup was made`]));
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
