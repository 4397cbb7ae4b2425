import type { JobRequests } from '../../../events/job-requests.ts';
import { type JobContext, processor } from '../../../events/processor.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { requestPurge } from '../../blobs/objects.jobs.ts';
import { EXPIRE_UPLOADS } from './partial-uploads.jobs.ts';
import { deleteExpired } from './partial-uploads.sql.ts';

/**
 * Deletes uploads that have expired, and has their objects deleted.
 *
 * Invariants:
 * - Rows and the purge of their objects are one transaction.
 * - A request that sends bytes of such an upload meanwhile finds no row, and deletes what it stored.
 */
export const expireUploads = processor({
  job: EXPIRE_UPLOADS,
  create: (services) => async (context) => void (await deleteAllExpired(services, context)),
});

/** Deletes all uploads that have expired; returns how many. */
export async function deleteAllExpired(
  { clock, jobs }: { readonly clock: Clock; readonly jobs: JobRequests },
  { transaction, signal }: Pick<JobContext, 'transaction' | 'signal'>,
): Promise<number> {
  for (let deleted = 0; ;) {
    signal.throwIfAborted();
    const some = await transaction(async (tx) => {
      const { uploads, keys } = await deleteExpired(tx, clock.now());
      await requestPurge(jobs, tx, keys);
      return uploads;
    });
    if (some === 0) return deleted;
    deleted += some;
  }
}
