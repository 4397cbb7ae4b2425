/**
 * So many files one statement changes: with their events and ten indexes it takes 1 to 3 s, and the tenant's role allows a
 * statement 8 s. A folder with more takes further statements of the same transaction.
 */
const FILES_PER_STATEMENT = 20_000;

/**
 * Returns the common table expression `batch` of a statement that changes the files of the folders in `folder` (id, uuid), in
 * the order of their ids: the next ones after `after`. What changes them compares `folder_id`, because a file may leave its
 * folder while the statement waits for it.
 *
 * No other condition belongs into it, nor a column by itself into the comparison of what changes them (`stateOf`): the planner
 * takes a few rows for what it has never seen, and then compares every file with every folder, or with every file of the batch.
 */
export const fileBatch = (after: string): string => `
  batch AS MATERIALIZED (
    SELECT f.id, f.folder_id, d.uuid AS folder_uuid FROM folder d JOIN files f ON f.folder_id = d.id
    WHERE f.id > ${after} ORDER BY f.id LIMIT ${FILES_PER_STATEMENT}
  )`;

/** Conditions on the state of a file or folder whose selectivity the planner cannot take from statistics. */
export const stateOf = (alias: 'f' | 'd') => ({
  live: `coalesce(${alias}.deleted_at, 'infinity') = 'infinity'`,
  trashedWith: (parameter: string): string => `coalesce(${alias}.trashed_with, 0) = ${parameter}`,
});

/** The columns that a statement returns of changed files, from `files f` and `batch b`, for events by `FILES_AND_OWNERS`. */
export const CHANGED_FILES =
  'f.id, f.uuid, f.name, f.size, f.path, f.version_number, f.owner_id, b.folder_uuid, f.created_at, f.updated_at, f.deleted_at';
export const FILES_AND_OWNERS = 'file f JOIN users o ON o.id = f.owner_id';

/** The id after which the next batch begins; null: this was the last. */
export const NEXT_BATCH = `(SELECT max(id) FROM batch HAVING count(*) = ${FILES_PER_STATEMENT}) AS next`;

export interface FileBatch {
  readonly next: number | null;
  /** Deliveries of the events; the caller notifies the workers if there are any. */
  readonly deliveries: number;
}

/** Runs the batches after the first one. Returns the deliveries of all. */
export async function furtherBatches(first: FileBatch, more: (after: number) => Promise<readonly FileBatch[]>): Promise<number> {
  let { next, deliveries } = first;
  while (next !== null) {
    const [batch] = await more(next);
    next = batch?.next ?? null;
    deliveries += batch?.deliveries ?? 0;
  }
  return deliveries;
}
