import { processor } from '../../api/processor.ts';
import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import { insertJob } from '../../store/postgres/job-store.ts';
import type { Executor } from '../../store/postgres/database.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import { CLEAR_CACHES } from '../../store/redis/tagged-cache.ts';
import { FOLDERS_TAG } from '../content.tags.ts';
import { expiryOf, lockTree } from '../folders/folders.sql.ts';
import { purgeTrashedFiles, purgeTree } from '../folders/trash.sql.ts';
import { EMPTY_TRASH } from './trash.jobs.ts';

const EXPIRED_FOLDER = `
  SELECT d.uuid FROM folders d
  WHERE d.deleted_at IS NOT NULL AND d.trashed_with IS NULL AND ${expiryOf('d')} <= $1 AND d.uuid <> ALL ($2::uuid[])
  ORDER BY d.deleted_at, d.id LIMIT 1`;

/**
 * Deletes for ever what has been in the trash for its time: folders one by one, each with all below it, then files.
 *
 * Invariants:
 * - What is restored meanwhile stays: each is decided under its lock.
 * - An attempt that ends in the middle has deleted whole folders and files with their quota; the next one goes on.
 */
export const emptyTrash = processor({
  job: EMPTY_TRASH,
  create:
    ({ clock }) =>
    async ({ transaction, signal }) => {
      const now = clock.now();
      const passed: string[] = [];
      for (let more = true; more;) {
        signal.throwIfAborted();
        more = await transaction(async (tx) => {
          const folder = await nextFolder(tx, now, passed);
          if (folder === undefined) return false;
          passed.push(folder);
          await purgeExpired(tx, folder, now);
          return true;
        });
      }
      for (let more = true; more;) {
        signal.throwIfAborted();
        more = await transaction(async (tx) => {
          const isMore = await purgeTrashedFiles(tx, now);
          await clearCaches(tx);
          return isMore;
        });
      }
    },
});

const nextFolder = async (tx: Sql, now: Date, passed: readonly string[]): Promise<string | undefined> =>
  (await tx.query<{ uuid: string }>(EXPIRED_FOLDER, [now, passed]))[0]?.uuid;

async function purgeExpired(tx: Sql, uuid: string, now: Date): Promise<void> {
  const sql = withoutPreparing(tx);
  const folder = await lockTree(sql, { folder: uuid }, ({ folder }) =>
    folder?.expiresAt && folder.expiresAt <= now && folder.trashedWith === null ? folder : null,
  );
  if (folder === null) return;
  await purgeTree(sql, folder, now);
  await clearCaches(tx);
}

/** A worker's connections serve many tenants, so they prepare nothing. */
export const withoutPreparing = (tx: Sql): Pick<Executor, 'query' | 'prepared'> => ({
  query: tx.query.bind(tx),
  prepared: <T>(_name: string, text: string, params?: readonly unknown[]) => tx.query<T>(text, params),
});

/** Used bytes and folders are cached. */
export const clearCaches = (tx: Sql): Promise<void> =>
  insertJob(tx, { kind: CLEAR_CACHES, payload: { subjects: [USERS_TAG, FOLDERS_TAG] } });
