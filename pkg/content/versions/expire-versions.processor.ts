import { type JobContext, processor } from '../../events/processor.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import { deleteExpiredVersions, lockFilesWithExpired } from './expired-versions.sql.ts';
import { EXPIRE_VERSIONS } from '../model/files/versions.jobs.ts';
import { DAY_MS } from '../../runtime/time.ts';

/**
 * Deletes old versions of the tenant's files, not of those in the trash.
 *
 * Invariants:
 * - The current version stays: it is decided under the file's lock.
 * - An object stays if a remaining version (a restored one) uses it too.
 * - An attempt that is interrupted has deleted versions with their quota; the next one continues.
 */
export const expireVersions = processor({
  job: EXPIRE_VERSIONS,
  create:
    ({ clock }) =>
    async (context, limits) =>
      void (await deleteOldVersions(context, limits, clock.now())),
});

/** Deletes versions beyond the limits; returns the number of files that had some. */
export async function deleteOldVersions(
  { transaction, cache, signal }: Pick<JobContext, 'transaction' | 'cache' | 'signal'>,
  { keep, days }: { readonly keep: number | null; readonly days: number | null },
  now: Date,
): Promise<number> {
  const limits = { keep, replacedBefore: days === null ? null : new Date(now.getTime() - days * DAY_MS) };
  let count = 0;
  for (let after: number | null = 0; after !== null;) {
    signal.throwIfAborted();
    const from: number = after;
    after = await transaction(async (tx) => {
      const { files, next } = await lockFilesWithExpired(tx, limits, from);
      if (files.length === 0) return null;
      await deleteExpiredVersions(tx, limits, files);
      // Used bytes are cached.
      cache.invalidate(tx, USERS_TAG);
      count += files.length;
      return next;
    });
  }
  return count;
}
