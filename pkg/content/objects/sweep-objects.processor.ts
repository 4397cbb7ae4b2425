import { Counter } from 'prom-client';
import { type JobContext, processor, TryLater } from '../../events/processor.ts';
import { isContentKey } from '../../store/s3/content-key.ts';
import { lastWriteOf } from '../../store/s3/upload-day.ts';
import { markerOf } from '../../store/s3/owner-marker.ts';
import type { Objects } from '../../store/s3/objects.ts';
import { namedAmong } from '../integrity/integrity.sql.ts';
import { SWEEP_OBJECTS } from './objects.jobs.ts';

const KEYS_PER_STATEMENT = 500;
/** The location may become the tenant's again. */
const REFUSED_RETRY_MS = 6 * 3_600_000;

/**
 * Compares the objects of one day with the rows and deletes objects that no row names: a crash between the object and its commit left them.
 * Multipart uploads of that day that a crash left unfinished are aborted.
 *
 * Invariants:
 * - Only objects whose keys Carrel generated are deleted; other objects in the same bucket stay.
 * - Nothing is deleted unless the marker object says that the objects are this tenant's (docs/operate.md).
 * - The job runs long after the day's end, so none of its uploads is still running. An object that was written later than an upload can be is not
 *   Carrel's and stays.
 */
export const sweepObjects = processor({
  job: SWEEP_OBJECTS,
  create: ({ log, metrics }) => {
    const refused = new Counter({
      name: 'carrel_sweeps_refused_total',
      help: 'Sweeps that deleted nothing because the storage location is not marked as the tenant’s',
      registers: [metrics],
    });
    return async (context, { day }) => {
      const { objects, marker } = await context.storage();
      const found = await markerOf(objects);
      if (marker === '' || found !== marker) {
        refused.inc();
        log.warn(
          { tenant: context.slug, bucket: objects.bucket, day, found, wanted: marker },
          'sweep refused: the storage location is not marked as this tenant’s',
        );
        throw new TryLater('the marker of the storage location is not this tenant’s', REFUSED_RETRY_MS);
      }
      await objects.abandonUploads(`${day}/`);
      await deleteOrphans(context, objects, day);
    };
  },
});

async function deleteOrphans({ transaction, signal }: JobContext, objects: Objects, day: string): Promise<void> {
  const end = lastWriteOf(day).getTime();
  let batch: string[] = [];
  const check = async (): Promise<void> => {
    signal.throwIfAborted();
    const named = await transaction((tx) => namedAmong(tx, batch));
    const orphans = batch.filter((key) => !named.has(key));
    if (orphans.length > 0) await objects.delete(orphans);
    batch = [];
  };
  for await (const { key, lastModified } of objects.list({ prefix: `${day}/` })) {
    if (isContentKey(key) && lastModified.getTime() < end && batch.push(key) === KEYS_PER_STATEMENT) await check();
  }
  if (batch.length > 0) await check();
}
