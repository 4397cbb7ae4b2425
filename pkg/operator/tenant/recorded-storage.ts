import type { Logger } from '../../runtime/log.ts';
import type { Registry } from '../../store/postgres/registry.ts';
import { bucketName } from '../../store/s3/admin.ts';
import type { ObjectsOptions } from '../../store/s3/objects.ts';
import { text } from './moved-storage.ts';
import { markShared } from './storage-location.ts';

interface Deps {
  readonly registry: Registry;
  /** A client's options for a sealed access. */
  readonly options: (sealed: string) => ObjectsOptions;
  readonly log: Logger;
}

/**
 * Records the locations of all tenants that have one, also of those that are refused or retained and whose own reconcile records nothing,
 * and marks those that several tenants share. A marker that cannot be written holds nobody up: the registry knows the location as shared, so
 * that no tenant writes its own marker there.
 */
export async function recordStorage({ registry, options, log }: Deps): Promise<void> {
  const { shared, unreadable } = await registry.recordStorage((sealed, slug) => {
    const { endpoint, bucket, prefix = '', accessKeyId } = options(sealed);
    if (!URL.canParse(endpoint)) return null;
    return { endpoint, bucket, prefix, isOwn: bucket === bucketName(slug) && accessKeyId === bucket };
  });
  if (unreadable > 0) log.warn({ unreadable }, 'storage locations that cannot be read are not protected against another tenant');
  await Promise.all(
    shared.map(async (sealed) => {
      const storage = options(sealed);
      await markShared(storage).catch((error: unknown) =>
        log.warn({ err: error, location: text(storage) }, 'a storage location that several tenants share is not marked as shared'),
      );
    }),
  );
}

/** Runs `record` once, before the first who waits for it goes on; a failure is tried again by the next one. */
export function once(record: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= record().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return running;
  };
}
