import { permissionSet } from '../../access/permission-sets.ts';
import type { Actor, Permission } from '../../api/actor.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { requireRequester } from '../../tasks/task-processor.ts';
import { grantsOf } from '../access/grants-of-user.sql.ts';

/**
 * Whoever requested a batch, as they are now, with what their roles and grants give them and their session could do then (`could`). Two statements. Throws
 * `forbidden` where they may no longer read files.
 */
export async function batchRequester(
  tx: Tx,
  task: { readonly userId: number | null },
  could: readonly Permission[],
  now: Date,
): Promise<Actor> {
  const requester = await requireRequester(tx, task, 'read:files');
  const permissions = new Set(could.filter((permission) => requester.permissions.has(permission)));
  const granted = permissionSet([...permissions, ...(await grantsOf(tx, requester.userId, now)).entries]);
  return { ...requester, permissions, permissionSet: () => Promise.resolve(granted) };
}
