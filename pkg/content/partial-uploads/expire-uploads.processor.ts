import { processor } from '../../api/processor.ts';
import { insertJob } from '../../store/postgres/job-store.ts';
import { KEYS_PER_JOB, PURGE_OBJECTS } from '../objects/objects.jobs.ts';
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
    ({ clock }) =>
    async ({ transaction, signal }) => {
      for (let more = true; more;) {
        signal.throwIfAborted();
        more = await transaction(async (tx) => {
          const { uploads, keys } = await deleteExpired(tx, clock.now());
          for (let at = 0; at < keys.length; at += KEYS_PER_JOB) {
            const payload = { keys: keys.slice(at, at + KEYS_PER_JOB) };
            await insertJob(tx, { kind: PURGE_OBJECTS.kind, queue: PURGE_OBJECTS.queue, payload });
          }
          return uploads > 0;
        });
      }
    },
});
