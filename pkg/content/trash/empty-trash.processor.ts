import { type JobContext, processor } from '../../events/processor.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { FOLDERS_TAG } from '../model/content.tags.ts';
import { expiryOf, lockTree } from '../model/folders/folders.sql.ts';
import { purgeTrashedFiles, purgeTree } from './folder-trash.sql.ts';
import { EMPTY_TRASH } from './trash.jobs.ts';

const EXPIRED_FOLDER = `
  SELECT d.uuid FROM folders d
  WHERE d.deleted_at IS NOT NULL AND d.trashed_with IS NULL AND ${expiryOf('d')} <= $1 AND d.uuid <> ALL ($2::uuid[])
  ORDER BY d.deleted_at, d.id LIMIT 1`;

/**
 * Permanently deletes the items whose time in the trash is over: folders one by one, each with everything below it, then files.
 *
 * Invariants:
 * - Items that are restored meanwhile stay: each is decided under its lock.
 * - An attempt that is interrupted has deleted whole folders and files with their quota; the next one continues.
 */
export const emptyTrash = processor({
  job: EMPTY_TRASH,
  create:
    ({ clock }) =>
    (context) =>
      purgeAllExpired(context, clock.now()),
});

export async function purgeAllExpired(
  { transaction, cache, signal }: Pick<JobContext, 'transaction' | 'cache' | 'signal'>,
  now: Date,
): Promise<void> {
  const passed: string[] = [];
  for (let more = true; more;) {
    signal.throwIfAborted();
    const folder = await transaction(async (tx) => {
      const next = await nextFolder(tx, now, passed);
      // Used bytes and folders are cached.
      if (next !== undefined && (await purgeExpired(tx, next, now))) cache.invalidate(tx, USERS_TAG, FOLDERS_TAG);
      return next;
    });
    if (folder === undefined) more = false;
    else passed.push(folder);
  }
  for (let more = true; more;) {
    signal.throwIfAborted();
    more = await transaction(async (tx) => {
      const isMore = await purgeTrashedFiles(tx, now);
      cache.invalidate(tx, USERS_TAG, FOLDERS_TAG);
      return isMore;
    });
  }
}

const nextFolder = async (tx: Tx, now: Date, passed: readonly string[]): Promise<string | undefined> =>
  (await tx.query<{ uuid: string }>(EXPIRED_FOLDER, [now, passed]))[0]?.uuid;

/** Returns false if it was restored meanwhile. */
async function purgeExpired(tx: Tx, uuid: string, now: Date): Promise<boolean> {
  const folder = await lockTree(tx, { folder: uuid }, ({ folder }) =>
    folder?.expiresAt && folder.expiresAt <= now && folder.trashedWith === null ? folder : null,
  );
  if (folder === null) return false;
  await purgeTree(tx, folder, now);
  return true;
}
