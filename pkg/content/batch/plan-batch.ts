import type { Actor } from '../../api/actor.ts';
import { PAGE_LIMIT_MAX } from '../../api/paging.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { Json } from '../../store/postgres/job-store.ts';
import type { HeldTask } from '../../tasks/task-processor.ts';
import { planTo } from '../../tasks/task-steps.sql.ts';
import { allows, levelOn, type Resource } from '../model/access/inherited-access.policy.ts';
import { listedFiles } from '../lists/file-list.sql.ts';
import { FOLDER_COLUMNS, FOLDER_JOINS, type FolderRecord } from '../model/folders/folders.sql.ts';
import type { BatchArguments } from './batch-task.ts';
import type { BatchFilter } from './batch.schema.ts';
import { addItems, namedItems, rankItems } from './batch.sql.ts';
import { filterPage } from './filter.ts';
import type { Operation } from './operations.ts';
import { BELOW_NONE } from './plan-copies.ts';

/** The number of named items that one step adds. */
const NAMED_AT_ONCE = 1_000;
const PAGES_AT_ONCE = 5;
/** Folders that are processed before files have lower ranks than files; folders that are processed after them, higher ones. */
export const RANK_OF_FILES = 10_000;

type Task = HeldTask<BatchArguments>;

/** The highest folders come first; if folders come after files, the lowest come first. */
const rankOf = ({ folders }: Operation, type: 'file' | 'folder', depth: number): number => {
  if (type === 'file') return RANK_OF_FILES;
  return folders === 'last' ? 2 * RANK_OF_FILES - depth : depth;
};

/** Returns the cursor of what is planned after the named or matching items; null: nothing more. */
const after = ({ copies = false }: Operation): Json => (copies ? BELOW_NONE : null);

/**
 * Gives the next named items their names, as far as the requester may know them, and their ranks. Takes one statement for
 * files, one for folders, and two more.
 */
export async function planNamed(tx: Tx, task: Task, operation: Operation, actor: Actor): Promise<void> {
  const items = await namedItems(tx, task.id, typeof task.cursor === 'number' ? task.cursor : 0, NAMED_AT_ONCE);
  const caller = { actor, granted: await actor.permissionSet() };
  const uuidsOf = (type: 'file' | 'folder') => items.filter(({ targetType }) => targetType === type).map(({ target }) => target);
  const nameOf = (kind: 'file' | 'folder', item: Resource & { readonly name: string; readonly deletedAt: unknown }): string =>
    allows(levelOn(kind, caller, item), item.deletedAt === null ? 'read' : 'write') ? item.name : '';
  const files = new Map(
    (await listedFiles(tx, uuidsOf('file'))).map((file) => [file.uuid, { name: nameOf('file', file), depth: 0 }]),
  );
  const folders = new Map(
    (await anyFolders(tx, uuidsOf('folder'))).map((folder) => [
      folder.uuid,
      { name: nameOf('folder', folder), depth: folder.depth },
    ]),
  );
  const planned = items.map(({ id, targetType, target }) => {
    const { name, depth } = (targetType === 'file' ? files : folders).get(target) ?? { name: '', depth: 0 };
    return { id, name, rank: rankOf(operation, targetType, depth) };
  });
  await rankItems(tx, task.id, planned);
  await planTo(tx, task.id, items.length < NAMED_AT_ONCE ? after(operation) : (items.at(-1)?.id ?? null));
}

/** Returns live folders and those in the trash. */
const anyFolders = async (tx: Tx, uuids: readonly string[]): Promise<FolderRecord[]> =>
  uuids.length === 0
    ? []
    : tx.query(`SELECT ${FOLDER_COLUMNS} FROM folders ${FOLDER_JOINS} WHERE d.uuid = ANY ($1::uuid[])`, [uuids]);

/** Adds the next matches of the filter as items, if the operation supports them. Throws `not_found` for its folder. */
export async function planMatches(
  tx: Tx,
  task: Task,
  operation: Operation,
  actor: Actor,
  lists: Parameters<typeof filterPage>[0],
): Promise<void> {
  const { filter } = task.arguments;
  let cursor = typeof task.cursor === 'string' ? task.cursor : null;
  for (let pages = 1, more = filter !== null; more; pages += 1) {
    const { matches, next } = await filterPage(lists, actor, filter as BatchFilter, {
      limit: PAGE_LIMIT_MAX,
      ...(cursor === null ? {} : { cursor }),
    });
    const items = matches.filter(({ type }) => type === 'file' || operation.folder !== undefined);
    const planned = items.map((item) => ({ ...item, rank: rankOf(operation, item.type, item.depth) }));
    await addItems(tx, task.id, planned);
    cursor = next;
    more = cursor !== null && pages < PAGES_AT_ONCE;
  }
  await planTo(tx, task.id, cursor ?? after(operation));
}
