import { fileEventRows } from '../../events/events.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { updatedFields } from '../model/files/files.events.ts';
import { characters } from '../model/names/names.policy.ts';
import type { FolderRecord } from '../model/folders/folders.sql.ts';
import {
  CHANGED_FILES,
  fileBatch,
  type FileBatch,
  FILES_AND_OWNERS,
  furtherBatches,
  NEXT_BATCH,
} from '../model/folders/tree-files.sql.ts';

/**
 * $1 the new path of the folder, $2 where the rest of a path below it begins, $3 the time. `folder` has the folders as they are
 * afterwards.
 */
const moveFiles = (after: string): string => `
  ${fileBatch(after)}, file AS (
    UPDATE files f SET path = $1 || substr(f.path, $2), revision = f.revision + 1
    FROM batch b WHERE f.id = b.id AND f.folder_id = b.folder_id RETURNING ${CHANGED_FILES}
  ), ${fileEventRows('file.updated', '$3', {
    source: `${FILES_AND_OWNERS} WHERE f.deleted_at IS NULL ORDER BY f.id`,
    fields: updatedFields('["path"]'),
  })}`;

/**
 * $4 the folder, $5 its ancestry, $6 its depth; $7 its new name, $8 its parent, $9 the ancestry of that, $10 by how many levels
 * it moves.
 */
const MOVE = `
  WITH folder AS (
    UPDATE folders d SET path = $1 || substr(d.path, $2), depth = d.depth + $10, ancestry = $9::ltree || subpath(d.ancestry, $6),
      name = CASE WHEN d.id = $4 THEN $7 ELSE d.name END, parent_id = CASE WHEN d.id = $4 THEN $8::bigint ELSE d.parent_id END,
      revision = d.revision + 1, updated_at = CASE WHEN d.id = $4 THEN now() ELSE d.updated_at END
    WHERE d.ancestry <@ $5::ltree RETURNING d.id, d.uuid, d.revision, d.updated_at
  ), ${moveFiles('0')}
  SELECT revision, updated_at AS "updatedAt", (SELECT count(*)::int FROM delivery) AS deliveries, ${NEXT_BATCH} FROM folder
  WHERE id = $4`;

const MOVE_MORE = `
  WITH folder AS MATERIALIZED (
    SELECT b.id, b.uuid FROM folders d JOIN folders b ON b.ancestry <@ d.ancestry WHERE d.id = $4
  ), ${moveFiles('$5')}
  SELECT (SELECT count(*)::int FROM delivery) AS deliveries, ${NEXT_BATCH}`;

export interface Moved {
  readonly revision: number;
  readonly updatedAt: Date;
  /** Deliveries of the events; the caller notifies the workers if there are any. */
  readonly deliveries: number;
}

/**
 * Gives a folder, whose tree is locked (`lockTree`), another name and parent, and updates the paths, depths and ancestries of
 * everything below; each live file there emits file.updated. One statement, and one more for each 20,000 files. Throws
 * UniqueViolation if the name is taken, CheckViolation (`folders_depth_check`) and DataException if something below would be too
 * deep, or its path too long.
 */
export async function moveFolder(
  tx: Pick<Tx, 'prepared'>,
  folder: FolderRecord,
  to: { name: string; path: string; parent: Pick<FolderRecord, 'id' | 'depth' | 'ancestry'> | null },
  now: Date,
): Promise<Moved> {
  const paths = [to.path, characters(folder.path) + 1, now.toISOString()];
  const levels = (to.parent === null ? 0 : to.parent.depth + 1) - folder.depth;
  const parent = [to.parent?.id ?? null, to.parent?.ancestry ?? ''];
  const [first] = await tx.prepared<Moved & FileBatch>('content-move', MOVE, [
    ...paths,
    folder.id,
    folder.ancestry,
    folder.depth,
    to.name,
    ...parent,
    levels,
  ]);
  if (!first) throw new Error('the folder that was to move is not there');
  const more = (after: number): Promise<FileBatch[]> => tx.prepared('content-move-more', MOVE_MORE, [...paths, folder.id, after]);
  return { ...first, deliveries: await furtherBatches(first, more) };
}
