import { addAbortSignal, type Readable } from 'node:stream';
import { ObjectMissing, type Objects } from '../store/s3/objects.ts';
import { forEach } from './each.ts';
import { names } from './manifest.ts';
import { measure, measured, type Measures } from './measured.ts';
import { absentAmong, keptObjects, lineOf, type ListedObject, listedObjects } from './object-list.ts';
import { storePacked } from './packed.ts';
import { type Repository, RepositoryError } from './repository/repository.ts';

/** Reports the progress of a backup or a restore. */
export type Progress = (done: { readonly objects: number; readonly bytes: number; readonly of: number }) => void;

/** The objects of a backup that is being made. */
export interface Copying {
  readonly source: { readonly slug: string; readonly objects: Objects };
  readonly repository: Repository;
  readonly stamp: string;
  readonly signal: AbortSignal;
  readonly onProgress: Progress;
  /** Objects and bytes copied so far. */
  readonly total: { objects: number; bytes: number };
  readonly of: number;
  /**
   * SHA-256 of the list as it was written. Somebody may change the list in the repository meanwhile, and the manifest signs what
   * it becomes.
   */
  readonly list: string;
}

/** Keys of objects that cannot be copied. */
export interface Faults {
  readonly missing: Set<string>;
  readonly damaged: Set<string>;
}

type Outcome = 'copied' | 'there' | keyof Faults;

export const OBJECTS_AT_ONCE = 4;
export const MOST_FAULTS = 1_000;

/** Copies the objects whose checksum is known and that the repository does not have. */
export async function copyObjects(copying: Copying): Promise<Faults> {
  const { source, repository } = copying;
  const faults: Faults = { missing: new Set(), damaged: new Set() };
  const absent = absentAmong(listedIn(copying), keptObjects(repository, source.slug));
  await forEach(absent, OBJECTS_AT_ONCE, async (object) => {
    if (object.checksum !== null)
      record(copying, faults, object, await interruptible(copying, () => copyObject(copying, object)));
  });
  return faults;
}

/**
 * Reads the objects whose rows have no checksum (parts of unfinished uploads), and rewrites the list with what it found. So each
 * object of a backup can be verified. It ignores the repository's copies of them, which may have been changed there. Returns
 * undefined if no such objects exist.
 */
export async function readUnknown(copying: Copying): Promise<{ readonly sha256: string; readonly faults: Faults } | undefined> {
  const { source, repository, stamp } = copying;
  if (!(await hasUnknown(listedIn(copying)))) return undefined;
  const faults: Faults = { missing: new Set(), damaged: new Set() };
  const lines = async function* (): AsyncGenerator<Buffer> {
    for await (const object of listedIn(copying)) {
      const known = object.checksum === null ? await interruptible(copying, () => copyUnknown(copying, faults, object)) : object;
      yield Buffer.from(lineOf(known));
    }
  };
  const { sha256 }: Measures = await storePacked(repository, names(source.slug).list(stamp), lines());
  return { sha256, faults };
}

const listedIn = ({ source, repository, stamp, list }: Copying): AsyncIterable<ListedObject> =>
  listedObjects(repository, source.slug, stamp, list);

async function hasUnknown(objects: AsyncIterable<ListedObject>): Promise<boolean> {
  for await (const { checksum } of objects) if (checksum === null) return true;
  return false;
}

async function copyUnknown(copying: Copying, faults: Faults, object: ListedObject): Promise<ListedObject> {
  const { source, repository, signal } = copying;
  const read = await sourceOf(source.objects, object, signal);
  if (typeof read === 'string') {
    record(copying, faults, object, read);
    return object;
  }
  const known = { ...object, checksum: (await measure(read)).sha256 };
  const state = await storedState(repository, names(source.slug).object(object.key), known);
  const outcome = state === 'whole' ? 'there' : await copyObject(copying, known);
  record(copying, faults, object, outcome);
  return outcome === 'copied' || outcome === 'there' ? known : object;
}

function record({ total, onProgress, of }: Copying, faults: Faults, { key, size }: ListedObject, outcome: Outcome): void {
  if (outcome === 'there') return;
  if (outcome !== 'copied') {
    if (faults[outcome].size < MOST_FAULTS) faults[outcome].add(key);
    return;
  }
  total.objects += 1;
  total.bytes += size;
  onProgress({ ...total, of });
}

/** Throws the reason of the signal if that ended the work, whatever the work waited for. */
async function interruptible<T>({ signal }: Copying, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return work().catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}

/** Stores nothing of a damaged object, so that each backup reports it again. */
async function copyObject({ source, repository, signal }: Copying, object: ListedObject): Promise<Outcome> {
  const read = await sourceOf(source.objects, object, signal);
  if (typeof read === 'string') return read;
  const name = names(source.slug).object(object.key);
  const { stream, result } = measured(read);
  await repository.put(name, stream, object.size);
  const { sha256 } = result();
  if ((await measure((await repository.get(name)) as AsyncIterable<Buffer>)).sha256 !== sha256)
    throw new RepositoryError(`${name} reads back differently from what was written: ${repository.name} is not reliable`);
  if (object.checksum === sha256) return 'copied';
  await repository.delete([name]);
  return 'damaged';
}

async function sourceOf(
  objects: Objects,
  { key, size }: ListedObject,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer> | keyof Faults> {
  const found = await objects.get(key, { signal }).catch((error: unknown) => {
    if (error instanceof ObjectMissing) return undefined;
    throw error;
  });
  if (!found) return 'missing';
  // A store may send a byte a minute, so the end of the object is not a sufficient limit.
  if (found.length === size) return addAbortSignal(signal, found.body as Readable) as AsyncIterable<Buffer>;
  found.body.destroy();
  return 'damaged';
}

/** Returns the state of the repository's copy of an object. */
export async function storedState(
  repository: Repository,
  name: string,
  { size, checksum }: ListedObject,
): Promise<'whole' | 'missing' | 'damaged'> {
  const read = await repository.get(name).then(
    (body) => measure(body as AsyncIterable<Buffer>),
    (error: unknown) => {
      if (error instanceof RepositoryError) return undefined;
      throw error;
    },
  );
  if (!read) return 'missing';
  return read.bytes === size && (checksum === null || read.sha256 === checksum) ? 'whole' : 'damaged';
}
