import { isContentKey } from '../store/s3/content-key.ts';
import { type Repository, RepositoryError } from './repository/repository.ts';
import { names } from './manifest.ts';
import { measured } from './measured.ts';
import { linesOf, unpacked } from './packed.ts';

/** An object that rows name. */
export interface ListedObject {
  readonly key: string;
  /** bytes */
  readonly size: number;
  /** Hex SHA-256; null if its row has none, and its bytes were not read. */
  readonly checksum: string | null;
}

/** Lists a tenant's objects as COPY does, ordered by the bytes of their keys. Runs in the tenant's schema. */
export const OBJECT_LIST = `COPY (
  SELECT key, max(size), max(checksum) FROM (
    SELECT blob_name AS key, size, checksum::text FROM file_versions UNION ALL SELECT key, size, NULL FROM partial_upload_segments
    UNION ALL SELECT key, size, checksum::text FROM exports) o
  GROUP BY key ORDER BY key COLLATE "C") TO STDOUT`;

/** Bounds of a line: a key has 44 bytes, a size 15, a checksum 64. */
export const LIST_BOUND = { line: 256 };

/**
 * Returns the objects of a backup. Throws RepositoryError if the list is missing or damaged, and at its end if its SHA-256
 * differs.
 */
export async function* listedObjects(
  repository: Repository,
  slug: string,
  stamp: string,
  sha256?: string,
): AsyncGenerator<ListedObject> {
  const name = names(slug).list(stamp);
  const { stream } = measured(unpacked(repository, name, LIST_BOUND), (found) => {
    if (sha256 !== undefined && found !== sha256) throw new RepositoryError(`${name} was changed while it was read`);
  });
  for await (const line of linesOf(stream as AsyncIterable<Buffer>)) yield parsed(line, name);
}

function parsed(line: string, name: string): ListedObject {
  const [key = '', size = '', checksum = ''] = line.split('\t');
  if (!isContentKey(key) || !/^\d{1,15}$/.test(size) || !/^([0-9a-f]{64}|\\N)$/.test(checksum))
    throw new RepositoryError(`${name} is damaged: a line does not describe an object`);
  return { key, size: Number(size), checksum: checksum === '\\N' ? null : checksum };
}

/** Returns the line that COPY writes. */
export const lineOf = ({ key, size, checksum }: ListedObject): string => `${key}\t${size}\t${checksum ?? '\\N'}\n`;

/** Returns the items of `wanted` that `present` does not have in their size. Both are in the order of keys. */
export async function* absentAmong<Wanted extends { readonly key: string; readonly size: number }>(
  wanted: AsyncIterable<Wanted>,
  present: AsyncIterable<{ readonly key: string; readonly size: number }>,
): AsyncGenerator<Wanted> {
  const found = present[Symbol.asyncIterator]();
  try {
    let next = await found.next();
    for await (const object of wanted) {
      while (!next.done && isBefore(next.value.key, object.key)) next = await found.next();
      if (next.done || next.value.key !== object.key || next.value.size !== object.size) yield object;
    }
  } finally {
    await found.return?.();
  }
}

export const isBefore = (a: string, b: string): boolean => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;

/** Returns the objects that a repository has for a tenant, by their keys. */
export async function* keptObjects(repository: Repository, slug: string): AsyncGenerator<{ key: string; size: number }> {
  const { objects } = names(slug);
  for await (const { name, size } of repository.list(objects)) yield { key: name.slice(objects.length), size };
}
