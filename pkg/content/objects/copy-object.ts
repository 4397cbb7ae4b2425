import type { Objects } from '../../store/s3/objects.ts';

/** What S3 copies in one request (S3 API, CopyObject). */
const COPY_MAX_BYTES = 5 * 1024 ** 3;

/**
 * Stores the content of another object of the bucket, without the bytes coming here; what S3 does not copy at once is read and sent. Throws ObjectMissing.
 * `uploader`: whose share of memory such a transfer takes.
 */
export async function copyObject(
  objects: Objects,
  from: { readonly key: string; /** bytes */ readonly size: number },
  key: string,
  { signal, contentType, uploader }: { readonly signal: AbortSignal; readonly contentType: string; readonly uploader: string },
): Promise<{ readonly isEncrypted: boolean }> {
  if (from.size <= COPY_MAX_BYTES) return objects.copy(from.key, key);
  const { body } = await objects.get(from.key, { signal });
  return objects.put(key, body, { contentType, signal, owner: uploader, contentLength: from.size });
}
