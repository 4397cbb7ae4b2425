import type { Tx } from '../../store/postgres/database.ts';
import { PATH_MAX_CHARACTERS } from '../names/names.policy.ts';

/** Both count characters as Postgres does, which are not JavaScript's. */
const NEW_PATH = `left($1 || substr(path, $2), ${PATH_MAX_CHARACTERS})`;

/**
 * Renames a live folder, and updates the paths of everything below it. Concurrent writes into these folders wait, so that nothing
 * keeps the old path. Throws UniqueViolation when a live sibling has the name. The caller invalidates the tag `folders` (files show their path).
 */
export async function renameFolder(tx: Tx, id: number, name: string): Promise<void> {
  await tx.query('SELECT FROM folders WHERE ancestry <@ (SELECT d.ancestry FROM folders d WHERE d.id = $1) ORDER BY id FOR UPDATE', [id]);
  const [folder] = await tx.query<{ path: string; length: number; ancestry: string }>(
    `SELECT left(path, -length(name)) || $2 AS path, length(path) AS length, ancestry::text AS ancestry FROM folders WHERE id = $1`,
    [id, name],
  );
  if (!folder) return;
  await tx.query('UPDATE folders SET name = $2 WHERE id = $1', [id, name]);
  const below = [folder.path, folder.length + 1, folder.ancestry];
  await tx.query(
    `UPDATE files SET path = ${NEW_PATH}, revision = revision + 1 WHERE folder_id IN (SELECT id FROM folders WHERE ancestry <@ $3::ltree)`,
    below,
  );
  await tx.query(`UPDATE folders SET path = ${NEW_PATH}, revision = revision + 1 WHERE ancestry <@ $3::ltree`, below);
}
