import { Problem } from '../../api/problem.ts';
import type { JobRequests } from '../../events/job-requests.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { Retry } from '../../tasks/task-kind.ts';
import { EXPIRE_UPLOADS } from '../uploads/partial/partial-uploads.jobs.ts';
import { archiveFileOf, beginStaging, retryEntries, STAGED_MS } from './imports.sql.ts';

/**
 * Prepares to read failed entries again, which requires an archive that is a file: one that came with a request is gone with
 * its job. Throws `conflict`.
 */
export async function prepareImportRetry(
  tx: Tx,
  { from, to }: Retry,
  { jobs, clock }: { readonly jobs: JobRequests; readonly clock: Clock },
): Promise<void> {
  if (from.state === 'failed')
    throw new Problem('conflict', 'The archive as a whole was not imported: request its import again.');
  if ((await archiveFileOf(tx, from.id)) === null)
    throw new Problem(
      'conflict',
      'The archive came with the request and is gone: import it again, with on_conflict=skip, or as a stored file.',
    );
  if ((await retryEntries(tx, from.id, to.id)) < to.total)
    throw new Problem('conflict', 'The failed entries are no longer known: import the archive again, with on_conflict=skip.');
  const until = new Date(clock.now().getTime() + STAGED_MS);
  await beginStaging(tx, to.uuid, until, null);
  await jobs.schedule(tx, EXPIRE_UPLOADS, {}, until);
}
