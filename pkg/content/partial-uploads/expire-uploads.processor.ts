import { processor } from '../../events/processor.ts';
import { requestPurge } from '../objects/objects.jobs.ts';
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
  create:
    ({ clock, jobs }) =>
    async ({ transaction, signal }) => {
      for (let more = true; more;) {
        signal.throwIfAborted();
        more = await transaction(async (tx) => {
          const { uploads, keys } = await deleteExpired(tx, clock.now());
          await requestPurge(jobs, tx, keys);
          return uploads > 0;
        });
      }
    },
});
