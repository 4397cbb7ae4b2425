import { processor } from '../../events/processor.ts';
import { requestPurge } from '../blobs/objects.jobs.ts';
import { EXPIRE_EXPORTS } from './export-task.ts';
import { deleteExpired } from './exports.sql.ts';

/** Deletes the exports that have expired, and has their objects deleted, in one transaction. */
export const expireExports = processor({
  job: EXPIRE_EXPORTS,
  create:
    ({ clock, jobs }) =>
    ({ transaction }) =>
      transaction(async (tx) => requestPurge(jobs, tx, await deleteExpired(tx, clock.now()))),
});
