import type { Logger } from '../../../runtime/log.ts';
import type { Registry } from '../../../store/postgres/registry.ts';
import { bucketName, isBucketKey } from '../../../store/s3/admin.ts';
import type { ObjectsOptions } from '../../../store/s3/objects.ts';
import { locationText } from './storage-migration.ts';
import { markShared } from './storage-location.ts';

interface Deps {
  readonly registry: Registry;
  /** Returns a client's options for sealed credentials. */
  readonly options: (sealed: string) => ObjectsOptions;
  readonly log: Logger;
  /** The time limit for all markers together, in ms. */
  readonly markingMs?: number;
}

/**
 * Limits the wait for markers: the first change of a storage location after a change of leader waits no longer, however many
 * endpoints do not answer.
 */
const MARKING_MS = 10_000;

/**
 * Records the locations of all tenants that have one, also of those that are refused or retained and whose own reconcile records
 * nothing, and marks those that several tenants share. A marker that cannot be written in time is logged only: the registry knows
 * the location as shared, so no tenant writes its own marker there.
 */
export async function recordStorage({ registry, options, log, markingMs = MARKING_MS }: Deps): Promise<void> {
  const { shared, unreadable } = await registry.recordStorage((sealed, slug) => {
    const { endpoint, bucket, prefix = '', accessKeyId } = options(sealed);
    if (!URL.canParse(endpoint)) return null;
    return { endpoint, bucket, prefix, isOwn: bucket === bucketName(slug) && isBucketKey(accessKeyId, bucket) };
  });
  if (unreadable > 0) log.warn({ unreadable }, 'unreadable storage locations are not protected against other tenants');
  const late = AbortSignal.timeout(markingMs);
  await Promise.all(
    shared.map(async (sealed) => {
      const storage = options(sealed);
      await markShared(storage, late).catch((error: unknown) =>
        log.warn({ err: error, location: locationText(storage) }, 'could not mark a shared storage location'),
      );
    }),
  );
}
