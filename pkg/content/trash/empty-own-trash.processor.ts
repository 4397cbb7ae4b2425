import { USERS_TAG } from '../../accounts/users/users.tags.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { type HeldTask, requireRequester, taskProcessor } from '../../tasks/task-processor.ts';
import { planTo, type TaskItem } from '../../tasks/task-steps.sql.ts';
import { FOLDERS_TAG } from '../model/content.tags.ts';
import { lockTree } from '../model/folders/folders.sql.ts';
import { type OwnTrash, presentOf, purgeOwnFiles, purgeTree } from './folder-trash.sql.ts';
import { purgeAllExpired } from './empty-trash.processor.ts';
import { EMPTY_OWN_TRASH } from './trash-task.ts';
import { planOwnFiles, planOwnFolders } from './plan-own-trash.sql.ts';

/** A step's purge of files takes a second at most, with their versions; a folder's takes what is below it. */
const STEP = { files: 1_000, folders: 1 };

type Task = HeldTask<unknown>;

/**
 * Permanently deletes the items that a person owns and that were deleted by themselves before the request: files, then folders
 * with everything below them, the deepest first. For a schedule, it deletes the expired items of everybody's trash, as
 * empty-trash.processor.ts does.
 *
 * Invariants:
 * - Items that are restored meanwhile stay, and so do items that are deleted later: each is decided under its lock. Items that no
 *   longer exist count as done.
 * - One transaction covers an item, its quota, the purge of its objects and its state.
 */
export const emptyOwnTrash = taskProcessor({
  kind: EMPTY_OWN_TRASH,
  create:
    ({ clock }) =>
    async ({ step, yieldTurn, context: { cache, signal } }) => {
      const { before } = await step(async (_tx, task) => task.arguments);
      if (before === undefined) {
        await step((tx, task) => requireRequester(tx, task, 'write:schedules'));
        await purgeAllExpired({ transaction: (fn) => step((tx) => fn(tx)), cache, signal }, clock.now());
        return step((_tx, task) => task.succeed());
      }
      for (let more = true; more;) {
        yieldTurn();
        more = await step(async (tx, task) => {
          const { userId } = await requireRequester(tx, task, 'write:files');
          const trash = { userId, before: task.arguments.before ?? before };
          if (!task.isPlanned) await plan(tx, task, trash);
          else if (!(await purgeNext(tx, task, trash, clock.now()))) return false;
          // Used bytes and folders are cached.
          else cache.invalidate(tx, USERS_TAG, FOLDERS_TAG);
          return true;
        });
      }
    },
});

/** Finds the next items. */
async function plan(tx: Tx, task: Task, trash: OwnTrash): Promise<void> {
  const next = await planOwnFiles(tx, task, trash);
  if (next === null) await planOwnFolders(tx, task, trash);
  await planTo(tx, task.id, next);
}

/** Returns false if nothing was left; the task has then ended. */
async function purgeNext(tx: Tx, task: Task, trash: OwnTrash, now: Date): Promise<boolean> {
  const items = await task.next(STEP);
  const [first] = items;
  if (!first) {
    await task.succeed();
    return false;
  }
  if (first.targetType === 'file') await purgeFiles(tx, task, items, trash, now);
  else await purgeFolder(tx, task, first, trash, now);
  return true;
}

async function purgeFiles(tx: Tx, task: Task, items: readonly TaskItem[], trash: OwnTrash, now: Date): Promise<void> {
  const uuids = items.map(({ target }) => target);
  await purgeOwnFiles(tx, uuids, trash, now);
  const left = await presentOf(tx, 'files', uuids);
  await task.end(items.map(({ id, target }) => (left.has(target) ? { id, ...RESTORED } : { id, code: null })));
}

async function purgeFolder(tx: Tx, task: Task, { id, target }: TaskItem, { userId, before }: OwnTrash, now: Date): Promise<void> {
  const decided = await lockTree(tx, { folder: target }, ({ folder }) => {
    if (folder === null) return 'gone';
    const isOwnTrash =
      folder.ownerId === userId && folder.deletedAt !== null && folder.deletedAt <= before && folder.trashedWith === null;
    return isOwnTrash ? folder : 'restored';
  });
  if (typeof decided === 'object') await purgeTree(tx, decided, now);
  await task.end([decided === 'restored' ? { id, ...RESTORED } : { id, code: null }]);
}

const RESTORED = { code: 'not_found', message: 'It is not in the trash any more.' } as const;
