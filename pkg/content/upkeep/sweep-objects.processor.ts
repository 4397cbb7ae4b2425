import { Counter } from 'prom-client';
import { Problem } from '../../api/problem.ts';
import { type JobContext, processor, TryLater } from '../../events/processor.ts';
import { CONTENT_KEY_PREFIX, isContentKey } from '../../store/s3/content-key.ts';
import { lastWriteOf } from '../../store/s3/upload-day.ts';
import { markerOf } from '../../store/s3/owner-marker.ts';
import type { Objects } from '../../store/s3/objects.ts';
import type { TenantStorage } from '../../store/tenant-resources.ts';
import { namedAmong } from './integrity.sql.ts';
import { maintenanceProcessor } from './maintenance-processor.ts';
import { SWEEP_ALL_OBJECTS } from './maintenance-tasks.ts';
import { SWEEP_OBJECTS } from '../blobs/objects.jobs.ts';
import { HOUR_MS } from '../../runtime/time.ts';

const KEYS_PER_STATEMENT = 500;
/** The location may become the tenant's again. */
const REFUSED_RETRY_MS = 6 * HOUR_MS;

/**
 * Compares the objects of one day with the rows and deletes objects that no row names: a crash between the object and its commit
 * left them. Multipart uploads of that day that a crash left unfinished are aborted; that of an export that still runs is not.
 *
 * Invariants:
 * - Only objects whose keys Carrel generated are deleted; other objects in the same bucket stay.
 * - Nothing is deleted unless the marker object says that the objects are this tenant's (docs/operate/install.md).
 * - The job runs long after the day's end, so none of its uploads is still running. An object that was written later than an
 *   upload can be is not Carrel's and stays.
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
      const storage = await context.storage();
      const { objects, marker: wanted } = storage;
      const found = await markerOf(objects);
      if (!isMarked(storage, found)) {
        refused.inc();
        log.warn(
          { tenant: context.slug, bucket: objects.bucket, day, found, wanted },
          'sweep refused: the storage location is not marked as this tenant’s',
        );
        throw new TryLater('the marker of the storage location is not this tenant’s', REFUSED_RETRY_MS);
      }
      await objects.abandonUploads(`${day}/`, (keys) => context.transaction((tx) => namedAmong(tx, keys)));
      await deleteOrphans(context, objects, day);
    };
  },
});

/**
 * Does the same for all days whose uploads have ended, for a schedule. Fails with `conflict` if the location is not marked, which
 * only the operators of the platform can change.
 */
export const sweepAllObjects = maintenanceProcessor({
  kind: SWEEP_ALL_OBJECTS,
  create:
    ({ clock }) =>
    async ({ context, transaction }) => {
      const storage = await context.storage();
      const { objects } = storage;
      if (!isMarked(storage, await markerOf(objects)))
        throw new Problem(
          'conflict',
          'The storage location is not marked as this institution’s; whoever runs the platform can see why.',
        );
      let deleted = 0;
      for await (const day of daysOf(objects)) {
        if (clock.now() < lastWriteOf(day)) continue;
        await objects.abandonUploads(`${day}/`, (keys) => transaction((tx) => namedAmong(tx, keys)));
        deleted += await deleteOrphans({ transaction, signal: context.signal }, objects, day);
      }
      return { deleted };
    },
});

const isMarked = ({ marker }: Pick<TenantStorage, 'marker'>, found: string | null | undefined): boolean =>
  marker !== '' && found === marker;

/** Yields the days (yyyymmdd) that have objects of ours, in their order. */
async function* daysOf(objects: Objects): AsyncGenerator<string> {
  let last = '';
  for await (const { key } of objects.list({ prefix: CONTENT_KEY_PREFIX })) {
    const day = key.slice(0, 8);
    if (day === last || !isContentKey(key)) continue;
    last = day;
    yield day;
  }
}

/** Returns how many. */
async function deleteOrphans(
  { transaction, signal }: Pick<JobContext, 'transaction' | 'signal'>,
  objects: Objects,
  day: string,
): Promise<number> {
  const end = lastWriteOf(day).getTime();
  let batch: string[] = [];
  let deleted = 0;
  const check = async (): Promise<void> => {
    signal.throwIfAborted();
    const named = await transaction((tx) => namedAmong(tx, batch));
    const orphans = batch.filter((key) => !named.has(key));
    if (orphans.length > 0) await objects.delete(orphans);
    deleted += orphans.length;
    batch = [];
  };
  for await (const { key, lastModified } of objects.list({ prefix: `${day}/` })) {
    if (isContentKey(key) && lastModified.getTime() < end && batch.push(key) === KEYS_PER_STATEMENT) await check();
  }
  if (batch.length > 0) await check();
  return deleted;
}
