/**
 * So many files one statement changes: with their events and ten indexes it takes 1 to 3 s, and the tenant's role allows a statement 8 s. A folder with
 * more takes further statements of the same transaction.
 */
const FILES_PER_STATEMENT = 20_000;

/**
 * The common table expression `batch` of a statement that changes the files of folders, in the order of their ids: the next ones after `after`.
 * What changes them compares `folder_id`, because a file may leave its folder while the statement waits for it.
 */
export const fileBatch = (of: { readonly folders: string; readonly where?: string; readonly after: string }): string => `
  batch AS MATERIALIZED (
    SELECT f.id, f.folder_id FROM files f WHERE f.folder_id IN (${of.folders}) AND f.id > ${of.after}${of.where === undefined ? '' : ` AND ${of.where}`}
    ORDER BY f.id LIMIT ${FILES_PER_STATEMENT}
  )`;

/** The id after which the next batch begins; null: this was the last. */
export const NEXT_BATCH = `(SELECT max(id) FROM batch HAVING count(*) = ${FILES_PER_STATEMENT}) AS next`;

export interface FileBatch {
  readonly next: number | null;
  /** Of the events; the caller notifies the workers where there are any. */
  readonly deliveries: number;
}

/** The batches after the first. Gives the deliveries of all. */
export async function furtherBatches(first: FileBatch, more: (after: number) => Promise<readonly FileBatch[]>): Promise<number> {
  let { next, deliveries } = first;
  while (next !== null) {
    const [batch] = await more(next);
    next = batch?.next ?? null;
    deliveries += batch?.deliveries ?? 0;
  }
  return deliveries;
}
