import { z } from 'zod';
import { job } from '../../api/job.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { jobRows } from '../../store/postgres/job-store.ts';

/** Deletes objects whose rows are gone from the tenant's bucket. */
export const PURGE_OBJECTS = job({
  kind: 'objects.purge',
  payload: z.object({ keys: z.array(z.string().min(1).max(500)).min(1) }),
});

/** A payload of about 25 KB. */
const KEYS_PER_JOB = 500;

/**
 * Requests that objects are deleted: one statement for each 500. A key may come several times: versions of a file may share an
 * object.
 */
export async function requestPurge(jobs: JobRequests, tx: Tx, named: readonly string[]): Promise<void> {
  const keys = [...new Set(named)];
  for (let at = 0; at < keys.length; at += KEYS_PER_JOB)
    await jobs.request(tx, PURGE_OBJECTS, { keys: keys.slice(at, at + KEYS_PER_JOB) });
}

/** Returns part of a statement that deletes rows: it requests the deletion of the objects whose keys are the rows of `source`. */
export const purgeRows = (source: string): string =>
  jobRows(
    PURGE_OBJECTS,
    `SELECT jsonb_build_object('keys', jsonb_agg(k.key))
     FROM (SELECT s.key, (row_number() OVER () - 1) / ${KEYS_PER_JOB} AS job
       FROM (SELECT DISTINCT d.key FROM (${source}) AS d (key)) s) k GROUP BY k.job`,
  );

/** Compares the objects of a day (yyyymmdd) with the rows and deletes objects that no row names. */
export const SWEEP_OBJECTS = job({
  kind: 'objects.sweep',
  payload: z.object({ day: z.string().regex(/^\d{8}$/) }),
});
