import { processor } from '../../events/processor.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import { deleteExpiredVersions, lockFilesWithExpired } from './expired-versions.sql.ts';
import { EXPIRE_VERSIONS } from './versions.jobs.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Deletes old versions of the tenant's files, not of those in the trash.
 *
 * Invariants:
 * - The current version stays: it is decided under the file's lock.
 * - Objects that a version that stays has too (a restored one) stay.
 * - An attempt that ends in the middle has deleted versions with their quota; the next one goes on.
 */
export const expireVersions = processor({
  job: EXPIRE_VERSIONS,
  create:
    ({ clock }) =>
    async ({ transaction, cache, signal }, { keep, days }) => {
      const limits = { keep, replacedBefore: days === null ? null : new Date(clock.now().getTime() - days * DAY_MS) };
      for (let after: number | null = 0; after !== null;) {
        signal.throwIfAborted();
        const from: number = after;
        after = await transaction(async (tx) => {
          const { files, next } = await lockFilesWithExpired(tx, limits, from);
          if (files.length === 0) return null;
          await deleteExpiredVersions(tx, limits, files);
          // Used bytes are cached.
          cache.invalidate(tx, USERS_TAG);
          return next;
        });
      }
    },
});
