import { Counter } from 'prom-client';
import { z } from 'zod';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { isContentKey } from '../../store/s3/content-key.ts';
import { lastWriteOf } from '../../store/s3/day.ts';
import { markerOf } from '../../store/s3/marker.ts';
import { type Processor, TryLater } from '../processor.ts';
import { readPayload } from './payload.ts';

const Payload = z.object({ day: z.string().regex(/^\d{8}$/) });
const KEYS_AT_ONCE = 500;
/** The location may become the tenant's again. */
const REFUSED_RETRY_MS = 6 * 3_600_000;

/**
 * Compares the objects of one day with the rows and deletes what no row knows: a crash left it between the object and its commit.
 * Half uploads of that day, which a crash left earlier still, are given up.
 *
 * Invariants:
 * - Only objects whose keys Carrel gave are deleted; a person's own in the same bucket stay.
 * - Nothing is deleted where the marker object does not say that the objects are this tenant's (docs/operate.md).
 * - The day is long over when this runs, so none of its uploads is still under way; what was written later than one may be was put there by a person.
 */
export function sweepObjects({ log, metrics }: { log: Logger; metrics: Metrics }): Processor {
  const refused = new Counter({
    name: 'carrel_sweeps_refused_total',
    help: 'Sweeps that deleted nothing since the storage location does not say that it is the tenant’s',
    registers: [metrics],
  });
  return async ({ slug, payload, storage, transaction, signal }) => {
    const { day } = readPayload(Payload, payload);
    const { objects: bucket, marker } = await storage();
    const found = await markerOf(bucket);
    if (marker === '' || found !== marker) {
      refused.inc();
      log.warn({ tenant: slug, bucket: bucket.bucket, day, found, wanted: marker }, 'swept nothing: the marker is not this tenant’s');
      throw new TryLater('the marker of the storage location is not this tenant’s', REFUSED_RETRY_MS);
    }
    const prefix = `${day}/`;
    await bucket.abandonUploads(prefix);
    let batch: string[] = [];
    const check = async (): Promise<void> => {
      signal.throwIfAborted();
      const known = await transaction((tx) =>
        tx.query<{ key: string }>('SELECT blob_name AS key FROM file_versions WHERE blob_name = ANY ($1)', [batch]),
      );
      const kept = new Set(known.map(({ key }) => key));
      const orphans = batch.filter((key) => !kept.has(key));
      if (orphans.length > 0) await bucket.delete(orphans);
      batch = [];
    };
    const end = lastWriteOf(day).getTime();
    for await (const { key, lastModified } of bucket.list({ prefix })) {
      if (isContentKey(key) && lastModified.getTime() < end && batch.push(key) === KEYS_AT_ONCE) await check();
    }
    if (batch.length > 0) await check();
  };
}
