import { z } from 'zod';
import type { Processor } from '../processor.ts';
import { readPayload } from './payload.ts';

const Payload = z.object({ day: z.string().regex(/^\d{8}$/) });
const KEYS_AT_ONCE = 500;

/**
 * Compares the objects of one day with the rows and deletes what no row knows: a crash left it between the object and its commit.
 * Half uploads of that day, which a crash left earlier still, are given up.
 * The day is long over when this runs, so none of its uploads is still under way.
 */
export const sweepObjects: Processor = async ({ payload, objects, transaction, signal }) => {
  const { day } = readPayload(Payload, payload);
  const bucket = await objects();
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
  for await (const { key } of bucket.list({ prefix })) {
    if (batch.push(key) === KEYS_AT_ONCE) await check();
  }
  if (batch.length > 0) await check();
};
