import type { Tx } from '../../store/postgres/database.ts';
import { sqlState } from '../../store/postgres/errors.ts';
import { unlessRefused } from '../../store/postgres/savepoint.ts';
import { pathOf } from '../model/names/names.policy.ts';
import { parentOf } from './folder-moves.ts';
import { lockTree } from '../model/folders/folders.sql.ts';
import { type Moved, moveFolder } from './move.sql.ts';

export type RenamingSql = Pick<Tx, 'query' | 'prepared'>;

/** SQLSTATE unique_violation, string_data_right_truncation. */
const REFUSALS = ['23505', '22001'];

/**
 * Renames a folder to the first of `names` that is free among its live siblings and makes no path below too long. It emits the
 * events of a move. `isWanted` is called under the lock with the present name. Returns undefined if nothing was renamed. The
 * caller invalidates the tag `folders`.
 */
export async function renameFolder(
  sql: RenamingSql,
  uuid: string,
  { names, isWanted = () => true, now }: { names: readonly string[]; isWanted?: (name: string) => boolean; now: Date },
): Promise<Moved | undefined> {
  const folder = await lockTree(sql, { folder: uuid }, ({ folder: found }) => found);
  if (folder === null || !isWanted(folder.name)) return undefined;
  const parent = parentOf(folder);
  for (const name of names) {
    if (name === folder.name) return undefined;
    const to = { name, path: pathOf(parent?.path ?? null, name), parent };
    const isRefusal = (error: unknown): boolean => REFUSALS.includes(sqlState(error) ?? '');
    const moved = await unlessRefused(sql, isRefusal, () => moveFolder(sql, folder, to, now));
    if (moved !== undefined) return moved;
  }
  return undefined;
}
