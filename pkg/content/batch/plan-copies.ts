import type { Actor } from '../../api/actor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import type { Json } from '../../store/postgres/job-store.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { HeldTask } from '../../tasks/task-processor.ts';
import { PLANNED_COLUMNS, planTo } from '../../tasks/task-steps.sql.ts';
import { allows, levelOn } from '../model/access/inherited-access.policy.ts';
import { refusalOf } from '../model/files/files.service.ts';
import { copyOf } from '../folders/copy-folder.sql.ts';
import { requireOutside } from '../folders/folder-copies.service.ts';
import { findFolder, type FolderRecord } from '../model/folders/folders.sql.ts';
import { stateOf } from '../model/folders/tree-files.sql.ts';
import type { BatchArguments } from './batch-task.ts';

/** The number of folders that one step reads. */
const FOLDERS_AT_ONCE = 20;
const FILES_AT_ONCE = 10_000;

type Task = HeldTask<BatchArguments>;

/** The progress below the folders of a task. `file`: the last file read of the item's folder; null: that folder is finished. */
interface Below {
  readonly rank: number;
  readonly item: number;
  readonly file: number | null;
}

/** Before the first folder. */
export const BELOW_NONE: Below & Json = { rank: -1, item: 0, file: null };

export const isBelow = (cursor: Json): cursor is Below & Json => typeof cursor === 'object' && cursor !== null;

/** A folder that is an item itself, and not below another that is. */
interface Root {
  readonly id: number;
  readonly rank: number;
  readonly target: string;
}

/**
 * Adds everything below the next folders as items, each to be copied into the copy of its folder; existing items are not added
 * twice. The highest folders come first. Nothing below a folder that cannot be copied is added; the folder itself fails.
 */
export async function planBelow(tx: Tx, task: Task, actor: Actor, rankOfFiles: number): Promise<void> {
  let cursor = task.cursor as unknown as Below;
  const { folder_id: destination } = task.arguments.given as { folder_id: string | null };
  const into = destination === null ? null : await findFolder(tx, destination);
  for (let folders = 0; folders < FOLDERS_AT_ONCE; folders += 1) {
    const [root] = await tx.query<Root>(cursor.file === null ? NEXT_ROOT : THIS_ROOT, [
      task.id,
      task.uuid,
      cursor.rank,
      cursor.item,
    ]);
    if (!root) return void (await planTo(tx, task.id, null));
    const source = into === null && destination !== null ? null : await copyable(tx, actor, root.target, into);
    const of = { task, root, rankOfFiles };
    if (source && cursor.file === null) await planFolders(tx, of, source);
    const file = source && (await planFiles(tx, of, source, cursor.file ?? 0));
    cursor = { rank: root.rank, item: root.id, file };
    if (file !== null) break;
  }
  await planTo(tx, task.id, cursor as Below & Json);
}

/** Returns null if the folder does not exist, is not readable, or would be copied into itself. */
async function copyable(tx: Tx, actor: Actor, uuid: string, into: FolderRecord | null): Promise<FolderRecord | null> {
  const folder = await findFolder(tx, uuid);
  if (!folder || !allows(levelOn('folder', { actor, granted: await actor.permissionSet() }, folder), 'read')) return null;
  return refusalOf(() => requireOutside(folder, into)) === null ? folder : null;
}

/**
 * $1 the task, $2 its uuid, $3 and $4 rank and id of the folder before. Decides what the copy will be called by its descendants.
 */
const nextRoot = (which: string): string => `
  UPDATE task_items SET copy = ${copyOf('$2', 'target')} WHERE id = (
    SELECT i.id FROM task_items i WHERE i.task_id = $1 AND i.state = 'queued' AND i.target_type = 'folder'
      AND i.copy_in IS NULL AND ${which}
    ORDER BY i.rank, i.id LIMIT 1)
  RETURNING id, rank, target`;
const NEXT_ROOT = nextRoot('(i.rank, i.id) > ($3::int, $4::bigint)');
const THIS_ROOT = nextRoot('i.rank = $3::int AND i.id = $4::bigint');

const ADDED = `
  ON CONFLICT (task_id, target_type, target) DO UPDATE SET rank = excluded.rank, target_name = excluded.target_name,
    copy = excluded.copy, copy_in = excluded.copy_in
  RETURNING xmax = 0 AS is_new`;
const COUNTED = 'UPDATE tasks t SET total = t.total + (SELECT count(*) FROM item WHERE is_new) WHERE t.id = $1';

/** $1 the task, $2 its uuid, $3 rank, $4 id and $5 ancestry of the folder. */
const PLAN_FOLDERS = `
  WITH item AS (
    INSERT INTO task_items (${PLANNED_COLUMNS}, copy, copy_in)
    SELECT $1, $3 + nlevel(d.ancestry) - nlevel($5::ltree), 'folder', d.uuid, d.name, ${copyOf('$2', 'd.uuid')},
      ${copyOf('$2', 'p.uuid')}
    FROM folders d JOIN folders p ON p.id = d.parent_id WHERE d.ancestry <@ $5::ltree AND d.id <> $4 AND d.deleted_at IS NULL
    ORDER BY d.depth, d.id
    ${ADDED}
  )
  ${COUNTED}`;

/** $1 the task, $2 its uuid, $3 the ancestry of the folder, $4 the file after which it begins, $5 the rank of files. */
const PLAN_FILES = `
  WITH batch AS MATERIALIZED (
    SELECT f.id, f.uuid, f.name, d.uuid AS folder FROM folders d JOIN files f ON f.folder_id = d.id
    WHERE d.ancestry <@ $3::ltree AND d.deleted_at IS NULL AND f.id > $4 AND ${stateOf('f').live} ORDER BY f.id
    LIMIT ${FILES_AT_ONCE}
  ), item AS (
    INSERT INTO task_items (${PLANNED_COLUMNS}, copy, copy_in)
    SELECT $1, $5::int, 'file', b.uuid, b.name, ${copyOf('$2', 'b.uuid')}, ${copyOf('$2', 'b.folder')} FROM batch b ORDER BY b.id
    ${ADDED}
  ), counted AS (${COUNTED})
  SELECT b.id FROM batch b ORDER BY b.id OFFSET ${FILES_AT_ONCE - 1}`;

interface Planned {
  readonly task: Task;
  readonly root: Root;
  readonly rankOfFiles: number;
}

const planFolders = (tx: Sql, { task, root }: Planned, { id, ancestry }: FolderRecord): Promise<unknown> =>
  tx.query(PLAN_FOLDERS, [task.id, task.uuid, root.rank, id, ancestry]);

/** Returns the last of them; null: there are no more. */
async function planFiles(
  tx: Sql,
  { task, rankOfFiles }: Planned,
  { ancestry }: FolderRecord,
  after: number,
): Promise<number | null> {
  const [last] = await tx.query<{ id: number }>(PLAN_FILES, [task.id, task.uuid, ancestry, after, rankOfFiles]);
  return last?.id ?? null;
}
